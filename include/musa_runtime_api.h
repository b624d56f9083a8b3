/** The other name of musa_runtime.h. Printed from gridcl's own tables (GRIDCL_BLESS=1 cargo test --test documents): do not edit, it will be printed again. */
#ifndef GRIDCL_MUSA_RUNTIME_API_H
#define GRIDCL_MUSA_RUNTIME_API_H
#include "musa_runtime.h"
#endif
