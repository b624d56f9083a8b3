// The convolution of a picture with a filter of odd width and height; beyond its edges the picture goes on with its
// outermost elements.
//
//   to(x, y) = sum over i, j of filter(i, j) * from(x + filter_width / 2 - i, y + filter_height / 2 - j)
//
// The filter is the same for all and small, so it comes in constant memory; what a block needs of the picture is
// loaded into local memory once. Launch in blocks of exactly BLOCK x BLOCK (the host defines BLOCK), with
// (BLOCK + filter_width - 1) * (BLOCK + filter_height - 1) floats of local memory; they may reach past the edges.
__kernel __attribute__((reqd_work_group_size(BLOCK, BLOCK, 1)))
void convolve(__global const float *from, __global float *to, int width, int height, __constant float *filter,
              int filter_width, int filter_height, __local float *tile)
{
    const int x = get_local_id(0), y = get_local_id(1);
    const int left = (int)get_group_id(0) * BLOCK, top = (int)get_group_id(1) * BLOCK;
    const int tile_width = BLOCK + filter_width - 1, tile_height = BLOCK + filter_height - 1;

    for (int j = y; j < tile_height; j += BLOCK) {
        const int near_y = clamp(top + j - filter_height / 2, 0, height - 1);
        for (int i = x; i < tile_width; i += BLOCK) {
            const int near_x = clamp(left + i - filter_width / 2, 0, width - 1);
            tile[j * tile_width + i] = from[near_y * width + near_x];
        }
    }
    // All of the block comes here, also what lies past the edges: a barrier has to be reached by every work item.
    barrier(CLK_LOCAL_MEM_FENCE);
    if (left + x >= width || top + y >= height)
        return;

    float sum = 0.0f;
    for (int j = 0; j < filter_height; j++)
        for (int i = 0; i < filter_width; i++)
            sum += filter[j * filter_width + i]
                * tile[(y + filter_height - 1 - j) * tile_width + x + filter_width - 1 - i];
    to[(top + y) * width + left + x] = sum;
}
