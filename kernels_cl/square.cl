// Stands for the `myKernel` that the TOPS document launches and does not show: squares `size` elements.
//
// The document launches it as <<<100, 512>>> whatever the size is, so each work item takes every 51,200th element
// (a "grid-stride loop"), and any shape of grid is right for any size.
__kernel void myKernel(__global float *output, __global const float *input, int size)
{
    for (int i = get_global_id(0); i < size; i += get_global_size(0))
        output[i] = input[i] * input[i];
}
