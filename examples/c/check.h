/* What the programs share: the error macro of the MUSA guide for both dialects, and a check of results. gridcl's own
 * gridclLastErrorDetail adds to an error's text which call, which argument and why. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define MUSA_CHECK(call)                                                                                               \
    do {                                                                                                               \
        musaError_t err_ = (call);                                                                                     \
        if (err_ != musaSuccess) {                                                                                     \
            fprintf(stderr, "MUSA error at %s:%d: %s\n  %s\n", __FILE__, __LINE__, musaGetErrorString(err_),           \
                    gridclLastErrorDetail());                                                                          \
            exit(EXIT_FAILURE);                                                                                        \
        }                                                                                                              \
    } while (0)

#define TOPS_CHECK(call)                                                                                               \
    do {                                                                                                               \
        topsError_t err_ = (call);                                                                                     \
        if (err_ != topsSuccess) {                                                                                     \
            fprintf(stderr, "TOPS error at %s:%d: %s\n  %s\n", __FILE__, __LINE__, topsGetErrorString(err_),           \
                    gridclLastErrorDetail());                                                                          \
            exit(EXIT_FAILURE);                                                                                        \
        }                                                                                                              \
    } while (0)

/* Ends the program when something is not as it has to be. */
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            exit(EXIT_FAILURE);                                                                                        \
        }                                                                                                              \
    } while (0)

#endif
