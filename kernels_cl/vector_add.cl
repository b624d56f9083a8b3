// c = a + b, one element for each work item: the first kernel of the MUSA guide.
//
//   the guide's dialect                          OpenCL C
//   __global__ void                              __kernel void
//   float* of device memory                      __global float *
//   blockIdx.x * blockDim.x + threadIdx.x        get_global_id(0)
//
// The last block may reach past the end, so the kernel checks.
__kernel void vectorAdd(__global const float *a, __global const float *b, __global float *c, int n)
{
    const int idx = get_global_id(0);
    if (idx < n)
        c[idx] = a[idx] + b[idx];
}
