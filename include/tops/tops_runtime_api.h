/** The other name of tops_runtime.h. Printed from gridcl's own tables (GRIDCL_BLESS=1 cargo test --test documents): do not edit, it will be printed again. */
#ifndef GRIDCL_TOPS_TOPS_RUNTIME_API_H
#define GRIDCL_TOPS_TOPS_RUNTIME_API_H
#include "tops_runtime.h"
#endif
