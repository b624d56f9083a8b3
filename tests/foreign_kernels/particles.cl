// Particles in the shapes of SHOC and Rodinia: neighbour lists, boxes of particles, a struct of nested structs by
// value, vectors of three and four components, and a cell model with more parameters than anyone can remember.

// Forces by a list of neighbours: the list is stored neighbour by neighbour, so that reads of a block lie side by side.
__kernel void neighbour_forces(__global float4 *force, __global const float4 *position, const int neighbours,
                               __global const int *list, const float cutoff2, const float lj1, const float lj2,
                               const int n)
{
    uint at = get_global_id(0);
    if (at >= n)
        return;
    float4 own = position[at];
    float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
    int j = 0;
    while (j < neighbours) {
        int index = list[j * n + at];
        j++;
        if (index < 0)
            continue;
        float4 away = own - position[index];
        float r2 = away.x * away.x + away.y * away.y + away.z * away.z;
        if (r2 < cutoff2) {
            float inverse = 1.0f / r2;
            float sixth = inverse * inverse * inverse;
            sum.xyz += away.xyz * (inverse * sixth * (lj1 * sixth - lj2));
        }
    }
    force[at] = sum;
}

// Particles in boxes: each block has a box and goes over that box's neighbours. What all share comes by value in one
// struct of structs.
typedef struct {
    int x, y, z, number;
} box_at;

typedef struct {
    box_at home;
    int neighbours;
    box_at neighbour[26];
} box;

typedef struct {
    float alpha;
    struct {
        int boxes;
        int each;
    } count;
    char unused;
    float3 shift;
    short scale[3];
} parameters;

__kernel void box_forces(parameters by, __global const box *boxes, __global const float4 *places,
                         __global const float *charges, __global float4 *forces)
{
    __local float4 here[64], there[64];
    __local float charge[64];

    const int b = get_group_id(0), item = get_local_id(0);
    if (b >= by.count.boxes)
        return;
    const int first = boxes[b].home.number * by.count.each;
    for (int i = item; i < by.count.each; i += get_local_size(0))
        here[i] = places[first + i] + (float4)(by.shift, 0.0f);
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int k = 0; k < 1 + boxes[b].neighbours; k++) {
        const int other = k == 0 ? b : boxes[b].neighbour[k - 1].number;
        for (int i = item; i < by.count.each; i += get_local_size(0)) {
            there[i] = places[other * by.count.each + i] + (float4)(by.shift, 0.0f);
            charge[i] = charges[other * by.count.each + i];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = item; i < by.count.each; i += get_local_size(0))
            for (int j = 0; j < by.count.each; j++) {
                const float3 away = here[i].xyz - there[j].xyz;
                const float strength = charge[j] * exp(-by.alpha * dot(away, away));
                forces[first + i].w += strength;
                forces[first + i].xyz += strength * away * (float3)(by.scale[0], by.scale[1], by.scale[2]);
            }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// Bodies whose components are tight: three floats each, read and written as vectors of three.
float3 turned(float3 v, float3 axis)
{
    return cross(axis, v) + axis * dot(axis, v);
}

__kernel void turn_bodies(__global const float *places, __global float *turned_places, float3 axis, int3 order, uint n)
{
    const uint at = get_global_id(0);
    if (at >= n)
        return;
    const float3 result = turned(vload3(at, places), normalize(axis));
    const float component[3] = {result.x, result.y, result.z};
    vstore3((float3)(component[order.x], component[order.y], component[order.z]), at, turned_places);
}

// A model of a cell: state and rates by many single arguments, as solvers of such models pass them.
__kernel void cell_model(__global const float *state, __global float *change, int variables, int cells, float a0,
                         float a1, float a2, float a3, float a4, float a5, float a6, float a7, float a8, float a9,
                         char b0, uchar b1, short b2, ushort b3, int b4, uint b5, long b6, ulong b7,
                         __global const float *stimulus, __constant float *weights, __global int *calls, float2 c0,
                         float4 c1, float8 c2, float16 c3, uchar d0, long d1, uchar d2, int d3)
{
    const int cell = get_global_id(0);
    if (cell >= cells)
        return;
    const float rates[10] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9};
    const float whole = (float)b0 + b1 + b2 + b3 + b4 + b5 + b6 + b7 + d0 + d1 + d2 + d3;
    const float vectors = c0.y + c1.w + c2.s7 + c3.sf;
    for (int v = 0; v < variables; v++) {
        const float now = state[v * cells + cell];
        change[v * cells + cell] = rates[v % 10] * (whole - now) + weights[v] * stimulus[cell] + vectors;
    }
    atomic_add(calls, 1);
}
