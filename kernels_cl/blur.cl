// One pass of a separable blur: a weighted mean along a line through each pixel.
//
// A blur of (2 * radius + 1) x (2 * radius + 1) pixels by one kernel reads that many pixels for each; two passes, along
// the rows with a step of (1, 0) and along the columns of the result with (0, 1), read 2 * (2 * radius + 1). Beyond its
// edge the picture goes on with its outermost pixels. One work item for each pixel; blocks may reach past the edges.
__kernel void blur(__global const float4 *from, __global float4 *to, int2 size, int2 step,
                   __constant float *weights, int radius)
{
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    if (at.x >= size.x || at.y >= size.y)
        return;

    float4 sum = (float4)(0.0f);
    for (int i = -radius; i <= radius; i++) {
        const int2 near = clamp(at + i * step, (int2)(0), size - 1);
        sum += weights[i + radius] * from[near.y * size.x + near.x];
    }
    to[at.y * size.x + at.x] = sum;
}
