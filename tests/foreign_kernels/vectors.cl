// Types and built-in functions that programs use beside plain floats: half in memory and in arithmetic, vectors of all
// widths, shuffles and conversions, unions and enums, copies between global and local memory by the whole block, and
// private arrays as large as a random generator's state.

// Half precision in memory is part of OpenCL C; only arithmetic with it is an extension.
__kernel void scale_halves(__global const half *from, __global half *to, float by, uint n)
{
    const uint at = get_global_id(0);
    if (4 * at + 3 < n)
        vstore_half4(vload_half4(at, from) * by, at, to);
    else
        for (uint i = 4 * at; i < n; i++)
            vstore_half(vload_half(i, from) * by, i, to);
}

#ifdef HALF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void mix_halves(__global const half *a, __global const half4 *b, __global half *c, half by, half4 shift,
                         uint n)
{
    const uint at = get_global_id(0);
    if (at >= n)
        return;
    const half4 sum = (half4)(a[at]) * by + b[at] + shift;
    c[at] = sum.x + sum.y * sum.z - sum.w;
}
#endif

// Bytes of a picture, three a pixel, to brightness, and wide vectors along the way.
__kernel void brightness(__global const uchar *pixels, __global uchar *grey, uchar3 weights, uint n)
{
    const uint at = get_global_id(0);
    if (at < n) {
        const ushort3 part = convert_ushort3(vload3(at, pixels)) * convert_ushort3(weights);
        grey[at] = convert_uchar_sat((part.x + part.y + part.z) >> 8);
    }
}

__kernel void reverse_sixteens(__global const short16 *from, __global short16 *to, short8 low, long2 high)
{
    const uint at = get_global_id(0);
    const short16 v = from[at].sfedcba9876543210;
    to[at] = (short16)(v.lo + low, v.hi - (short8)((short)high.x, (short)high.y, 0, 0, 0, 0, 0, 0));
    to[at].even = select(to[at].even, (short8)(-1), from[at].odd > (short8)(0));
}

// One word, read as its parts; what to do with it is an enum, by value in a struct with a packed one.
typedef enum { SWAP = 1, NEGATE = 2, COUNT = 4 } action;

typedef union {
    uint word;
    ushort parts[2];
    uchar bytes[4];
    float number;
} cell;

typedef struct __attribute__((packed)) {
    uchar flag;
    uint add;
    ushort scale;
} tight;

typedef struct {
    action what;
    tight by;
    cell start;
} order;

__kernel void act(__global cell *cells, order given, uint n)
{
    const uint at = get_global_id(0);
    if (at >= n)
        return;
    cell own = cells[at];
    if (given.what & SWAP) {
        const ushort first = own.parts[0];
        own.parts[0] = own.parts[1];
        own.parts[1] = first;
    }
    if (given.what & NEGATE)
        own.word = ~own.word;
    if (given.what & COUNT)
        own.word = popcount(own.word) + clz(own.word | 1);
    own.word = own.word * given.by.scale + given.by.add + given.by.flag + given.start.bytes[1];
    cells[at] = own;
}

// A block's part of an array comes and goes by the built-in copies, and is turned around in local memory.
__kernel void turn_blocks(__global const float2 *from, __global float2 *to, __local float2 *a, __local float2 *b)
{
    const size_t size = get_local_size(0), base = get_group_id(0) * size;
    event_t arrival = async_work_group_copy(a, from + base, size, 0);
    wait_group_events(1, &arrival);
    b[size - 1 - get_local_id(0)] = a[get_local_id(0)].yx;
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t departure = async_work_group_copy(to + base, b, size, 0);
    wait_group_events(1, &departure);
}

// Pi by darts: a generator with its state in a private array, in a loop that ends when the darts say so.
#define STATE 16
uint draw(uint *state, uint *at)
{
    const uint first = state[*at];
    *at = (*at + 1) & (STATE - 1);
    uint mixed = state[*at];
    mixed ^= mixed << 13;
    mixed ^= mixed >> 17;
    mixed ^= mixed << 5;
    state[*at] = mixed + first;
    return state[*at];
}

__kernel void throw_darts(__global uint *thrown, uint seed, uint wanted)
{
    uint state[STATE], at = 0;
    for (uint i = 0; i < STATE; i++)
        state[i] = (seed + (uint)get_global_id(0)) * 2654435761u + i * 40503u + 1;
    uint hits = 0, darts = 0;
    do {
        const uint x = draw(state, &at) >> 17, y = draw(state, &at) >> 17;
        darts++;
        if (x * x + y * y >= 1u << 30)
            continue;
        hits++;
    } while (hits < wanted);
    thrown[get_global_id(0)] = darts;
}
