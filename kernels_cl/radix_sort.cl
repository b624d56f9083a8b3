// One pass of a stable radix sort of `n` keys of 32 bits, each with a value of 32 bits: puts them in the order of the 4
// bits from `shift` on. Eight passes, with shifts 0, 4, .. 28, sort.
//
//   1. radix_count    how many keys of each tile have each digit: counts[digit * tiles + tile]
//   2. the host lets those counts be scanned (scan.cl, exclusive): where each tile's keys of each digit go
//   3. radix_scatter  moves them there
//
// The host defines BLOCK and EACH; a tile has BLOCK * EACH keys, at most 65535. Launch in blocks of exactly BLOCK, at
// least 16, one a tile; the last tile may reach past the end.
#define DIGITS 16
#define TILE (BLOCK * EACH)

uint digit_of(uint key, uint shift)
{
    return key >> shift & (DIGITS - 1);
}

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void radix_count(__global const uint *keys, __global uint *counts, uint n, uint shift)
{
    __local uint shared[DIGITS];

    const uint item = get_local_id(0), tile = get_group_id(0), tiles = get_num_groups(0);
    if (item < DIGITS)
        shared[item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (uint k = 0; k < EACH; k++) {
        const uint i = tile * TILE + k * BLOCK + item;
        if (i < n)
            atomic_inc(&shared[digit_of(keys[i], shift)]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < DIGITS)
        counts[item * tiles + tile] = shared[item];
}

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void radix_scatter(__global const uint *keys, __global const uint *values, __global uint *sorted_keys,
                   __global uint *sorted_values, __global const uint *offsets, uint n, uint shift)
{
    // How many keys each work item has of each digit, digit by digit; then how many stand in front of them.
    __local ushort ranks[DIGITS * BLOCK];
    __local uint sums[BLOCK];
    // What to add to a key's place in the sorted tile to have its place in the result.
    __local uint moves[DIGITS];
    __local uint staged[TILE];

    const uint item = get_local_id(0), tile = get_group_id(0), tiles = get_num_groups(0);
    const uint first = tile * TILE;
    const uint here = min(n - first, (uint)TILE);

    // Each work item takes neighbouring keys, so that keys of one digit keep their order.
    for (uint digit = 0; digit < DIGITS; digit++)
        ranks[digit * BLOCK + item] = 0;
    uint key[EACH], place[EACH];
    #pragma unroll
    for (uint k = 0; k < EACH; k++) {
        const uint i = item * EACH + k;
        key[k] = i < here ? keys[first + i] : 0;
        if (i < here)
            place[k] = ranks[digit_of(key[k], shift) * BLOCK + item]++;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // An exclusive scan over all of `ranks`: DIGITS neighbouring counts for each work item, then over the work items.
    uint sum = 0;
    for (uint k = 0; k < DIGITS; k++)
        sum += ranks[item * DIGITS + k];
    sums[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < BLOCK; step *= 2) {
        const uint left = item >= step ? sums[item - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[item] += left;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint before = item > 0 ? sums[item - 1] : 0;
    for (uint k = 0; k < DIGITS; k++) {
        const uint count = ranks[item * DIGITS + k];
        ranks[item * DIGITS + k] = before;
        before += count;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    if (item < DIGITS)
        moves[item] = offsets[item * tiles + tile] - ranks[item * BLOCK];

    // The tile is sorted in local memory first: then neighbouring work items write neighbouring elements.
    #pragma unroll
    for (uint k = 0; k < EACH; k++)
        if (item * EACH + k < here) {
            place[k] += ranks[digit_of(key[k], shift) * BLOCK + item];
            staged[place[k]] = key[k];
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint target[EACH];
    #pragma unroll
    for (uint k = 0; k < EACH; k++) {
        const uint i = k * BLOCK + item;
        if (i < here) {
            const uint moved = staged[i];
            target[k] = i + moves[digit_of(moved, shift)];
            sorted_keys[target[k]] = moved;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (uint k = 0; k < EACH; k++)
        if (item * EACH + k < here)
            staged[place[k]] = values[first + item * EACH + k];
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (uint k = 0; k < EACH; k++)
        if (k * BLOCK + item < here)
            sorted_values[target[k]] = staged[k * BLOCK + item];
}
