// y = a * x + y, one element for each work item; the last block may reach past the end.
//
// Indices are put together from 32-bit parts: `get_global_id` is 64 bits wide, which GPUs calculate in two steps.
__kernel void saxpy(uint n, float a, __global const float *x, __global float *y)
{
    const uint i = (uint)get_group_id(0) * (uint)get_local_size(0) + (uint)get_local_id(0);
    if (i < n)
        y[i] = a * x[i] + y[i];
}
