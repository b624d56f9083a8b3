// Sum, least and greatest of `n` elements: reduce_sum, reduce_min, reduce_max. `n` is at least 1.
//
// Each block walks over the elements in steps of the whole grid, then halves what its work items hold until one value
// is left, which it writes to `to[block]`. A second launch of one block over those values ends it.
// The host defines T (the element's type), FLOATING (1 for float and double) and BLOCK. Launch in blocks of exactly
// BLOCK, a power of two; any grid is right. `n` plus the grid's work items have to stay below 2^32.
//
// Least and greatest start from the first element, which does no harm twice, so no type needs a neutral element. As in
// `fmin`, a NaN counts only where all are NaN.
#define ADD(a, b) ((a) + (b))
#if FLOATING
#define LEAST(a, b) fmin(a, b)
#define GREATEST(a, b) fmax(a, b)
#else
#define LEAST(a, b) min(a, b)
#define GREATEST(a, b) max(a, b)
#endif

#define REDUCTION(name, first, combine)                                                                                \
    __kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))                                                        \
    void name(__global const T *from, __global T *to, uint n)                                                          \
    {                                                                                                                  \
        __local T shared[BLOCK];                                                                                       \
        const uint item = get_local_id(0);                                                                             \
        const uint stride = (uint)get_num_groups(0) * BLOCK;                                                           \
        T mine = first;                                                                                                \
        for (uint i = (uint)get_group_id(0) * BLOCK + item; i < n; i += stride)                                        \
            mine = combine(mine, from[i]);                                                                             \
        shared[item] = mine;                                                                                           \
        for (uint width = BLOCK / 2; width > 0; width /= 2) {                                                          \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                              \
            if (item < width)                                                                                          \
                shared[item] = combine(shared[item], shared[item + width]);                                            \
        }                                                                                                              \
        if (item == 0)                                                                                                 \
            to[get_group_id(0)] = shared[0];                                                                           \
    }

REDUCTION(reduce_sum, 0, ADD)
REDUCTION(reduce_min, from[0], LEAST)
REDUCTION(reduce_max, from[0], GREATEST)
