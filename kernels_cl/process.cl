// The kernel of the MUSA guide's program for several streams: each works on an array of its own, in place.
__kernel void processKernel(__global float *data, int n)
{
    const int idx = get_global_id(0);
    if (idx < n)
        data[idx] = data[idx] * 2.0f + 1.0f;
}
