// Running sums of `n` elements: inclusive (up to and with each element) or exclusive (up to, without it).
//
// A block scans a tile of BLOCK * EACH elements by itself (scan_tiles) and writes the tile's sum. The host scans the
// sums by the same kernel, in as many levels as it takes, and adds to each tile what stands before it (scan_add).
// The host defines T, BLOCK and EACH. Launch both in blocks of exactly BLOCK, one a tile; the last tile may reach past
// the end. `from` and `to` may be the same: a work item reads its elements before it writes them, and no others.
#define TILE (BLOCK * EACH)

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void scan_tiles(__global const T *from, __global T *to, __global T *sums, uint n, uint exclusive)
{
    __local T shared[BLOCK];

    const uint item = get_local_id(0);
    const uint start = (uint)get_group_id(0) * TILE + item * EACH;

    T mine[EACH], sum = 0;
    #pragma unroll
    for (uint k = 0; k < EACH; k++) {
        mine[k] = start + k < n ? from[start + k] : (T)0;
        sum += mine[k];
    }

    // The sums of the work items, each added to the one `step` further on, with steps of 1, 2, 4 and so on.
    shared[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < BLOCK; step *= 2) {
        const T left = item >= step ? shared[item - step] : (T)0;
        barrier(CLK_LOCAL_MEM_FENCE);
        shared[item] += left;
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    T before = item > 0 ? shared[item - 1] : (T)0;
    #pragma unroll
    for (uint k = 0; k < EACH; k++) {
        const T after = before + mine[k];
        if (start + k < n)
            to[start + k] = exclusive ? before : after;
        before = after;
    }
    if (item == BLOCK - 1)
        sums[get_group_id(0)] = shared[item];
}

// `before` has for each tile the sum of all tiles in front of it.
__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void scan_add(__global T *to, __global const T *before, uint n)
{
    const uint tile = get_group_id(0);
    const uint start = tile * TILE + (uint)get_local_id(0);
    const T more = before[tile];
    #pragma unroll
    for (uint k = 0; k < EACH; k++)
        if (start + k * BLOCK < n)
            to[start + k * BLOCK] += more;
}
