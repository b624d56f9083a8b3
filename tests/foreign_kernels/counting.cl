// Counting in the shapes of Parboil and SHOC: saturating bins by compare and exchange, pairs by binary search, queues
// behind counters in symbols, sums in 64 bits where the device has such atomics.
#ifdef WIDE
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#endif

// Bins that stop at LIMIT: four of them share a word, and a word changes by compare and exchange.
#define LIMIT 255u
void count_up(volatile __global uint *bins, uint bin)
{
    volatile __global uint *word = bins + bin / 4;
    const uint shift = bin % 4 * 8;
    uint old = *word;
    for (;;) {
        if ((old >> shift & 0xffu) == LIMIT)
            return;
        const uint seen = atomic_cmpxchg(word, old, old + (1u << shift));
        if (seen == old)
            return;
        old = seen;
    }
}

__kernel void saturating_bins(__global const ushort *data, volatile __global uint *bins, uint n, uint mask)
{
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        count_up(bins, data[i] & mask);
}

// Angles between all pairs of points of a sphere, sorted into bins by a binary search in constant memory; the loop
// starts behind the work item's own point, and each block has a table of its own in local memory.
#define BINS 20
__constant__ float borders[BINS + 1];

__kernel void pair_angles(__global const float *x, __global const float *y, __global const float *z, int n,
                          __global uint *totals)
{
    __local uint counts[BINS + 2];
    const int item = get_local_id(0);
    for (int bin = item; bin < BINS + 2; bin += get_local_size(0))
        counts[bin] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    const int i = get_global_id(0);
    if (i < n) {
        const float3 own = (float3)(x[i], y[i], z[i]);
        for (int j = i + 1; j < n; j++) {
            const float cosine = own.x * x[j] + own.y * y[j] + own.z * z[j];
            int low = 0, high = BINS;
            while (high > low + 1) {
                const int middle = (low + high) / 2;
                if (cosine >= borders[middle])
                    high = middle;
                else
                    low = middle;
            }
            int bin;
            if (cosine >= borders[low])
                bin = low;
            else if (cosine < borders[high])
                bin = high + 1;
            else
                bin = high;
            atomic_inc(&counts[bin]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int bin = item; bin < BINS + 2; bin += get_local_size(0))
        if (counts[bin])
            atomic_add(totals + bin, counts[bin]);
}

// Numbers that pass a test go into a queue: the end of the queue, and what did not fit, are device symbols. The block
// collects in local memory first.
__device__ uint queue_end;
__device__ int rejected[2] = {0, -1000};
__constant__ struct { uint divisor, remainder; } sieve = {3, 1};

bool passes(uint x)
{
    return x % sieve.divisor == sieve.remainder;
}

void reject(int reason)
{
    atomic_inc(&rejected[reason]);
}

__kernel void enqueue_passing(__global const uint *numbers, __global uint *queue, uint n, uint room,
                              __local uint *mine, __local uint *places)
{
    if (get_local_id(0) == 0)
        places[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint i = get_global_id(0);
    if (i < n) {
        if (passes(numbers[i]))
            mine[atomic_inc(places)] = numbers[i];
        else
            reject(0);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        places[1] = atomic_add(&queue_end, places[0]);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint to = places[1] + get_local_id(0);
    if (get_local_id(0) < places[0]) {
        if (to < room)
            queue[to] = mine[get_local_id(0)];
        else
            reject(1);
    }
}

#ifdef WIDE
// Sums, extremes and a tally of bits in 64 bits, by all work items at once.
__device__ ulong wide_sum;

__kernel void wide_totals(__global const ulong *data, volatile __global ulong *totals, volatile __global long *ends,
                          uint n)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    atom_add(totals, data[i]);
    atom_sub(totals + 1, data[i]);
    if (data[i] & 1)
        atom_inc(totals + 2);
    atom_min(ends, (long)data[i]);
    atom_max(ends + 1, (long)data[i]);
    atom_xor(totals + 3, data[i]);
    atom_add(&wide_sum, data[i] >> 32);
}
#endif
