/**
 * gridcl's own calls for C and C++ programs, and what the headers of both dialects share.
 *
 * Printed from gridcl's own tables (GRIDCL_BLESS=1 cargo test --test documents): do not edit, it will be printed again.
 */
#ifndef GRIDCL_H
#define GRIDCL_H

#include <stddef.h>
#include <stdint.h>

/* A default argument in C++, nothing in C. */
#ifdef __cplusplus
#define GRIDCL_DEFAULT(value) = value
#else
#define GRIDCL_DEFAULT(value)
#endif

/** Extents of a grid in blocks, or of a block in threads; what is not given is 1. In C give all three. */
typedef struct dim3 {
    unsigned int x; /**< Along the axis that varies fastest. */
    unsigned int y; /**< Along the second axis. */
    unsigned int z; /**< Along the third axis. */
#ifdef __cplusplus
    constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
#endif
} dim3;

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Told of each failure of a call, on the thread that made the call and before it returns: the text of
 * gridclLastErrorDetail, and what the program passed along. It must not unwind.
 */
typedef void (*gridclErrorSink_t)(const char* detail, void* userData);

/**
 * Lets a host address, usually a function's of the program, stand for the kernel `name` of a loaded module
 * wherever a call takes a function. `module` is a handle of either dialect. The latest registration of an address
 * counts; unloading the module ends it.
 *
 * Errors: 1 for null or an empty name, 400 for a dead module, 500 for a name that the module has no kernel of.
 */
int gridclRegisterFunction(void* module, const void* hostAddress, const char* name);

/**
 * Lets a host address, usually a variable's of the program, stand for the symbol `name` of a loaded module
 * wherever a call takes a symbol. The variable's own memory is never touched. `module` is a handle of either
 * dialect. The latest registration of an address counts; unloading the module ends it.
 *
 * Errors: 1 for null or an empty name, 400 for a dead module, 500 for a name that the module has no symbol of.
 */
int gridclRegisterSymbol(void* module, const void* hostAddress, const char* name);

/**
 * The calling thread's last failure in words, of whichever dialect: call, argument, value, cause and what to do.
 * Empty before the first failure, never null. The text stays until the thread calls this again after another
 * failure.
 */
const char* gridclLastErrorDetail(void);

/**
 * Tells `callback` of every later failure, on any thread; null ends it, but for what other threads are telling it
 * just then. The callback may call gridclLastErrorDetail; failures of what it calls are not reported.
 */
void gridclSetErrorSink(gridclErrorSink_t callback, void* userData);

#ifdef __cplusplus
} /* extern "C" */

/** The same for a function of the program. */
template <class Result, class... Parameters>
inline int gridclRegisterFunction(void* module, Result (*function)(Parameters...), const char* name) {
    return gridclRegisterFunction(module, reinterpret_cast<const void*>(function), name);
}
#endif

#endif /* GRIDCL_H */
