// Images in the shapes of Rodinia's and SHOC's: reads by a sampler of the text's own and by one that is passed, images
// between buffers, symbols and local memory in one list of parameters, volumes, and images that helpers are handed.
#define RADIUS 2

// Where nothing is, samplers repeat the edge.
__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
__constant__ uchar element[2 * RADIUS + 1][2 * RADIUS + 1] = {
    {0, 0, 1, 0, 0}, {0, 1, 1, 1, 0}, {1, 1, 1, 1, 1}, {0, 1, 1, 1, 0}, {0, 0, 1, 0, 0}};
__device__ int brightest;

float at(read_only image2d_t image, int x, int y)
{
    return read_imagef(image, nearest, (int2)(x, y)).x;
}

// The brightest pixel under the structuring element, and the brightest of all in a symbol.
__kernel void dilate(read_only image2d_t from, __global float *to, int width, int height, __local float *greatest)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int item = get_local_id(1) * get_local_size(0) + get_local_id(0);
    float most = 0.0f;
    for (int dy = -RADIUS; dy <= RADIUS; dy++)
        for (int dx = -RADIUS; dx <= RADIUS; dx++)
            if (element[dy + RADIUS][dx + RADIUS])
                most = fmax(most, at(from, x + dx, y + dy));
    const bool inside = x < width && y < height;
    if (inside)
        to[y * width + x] = most;
    greatest[item] = inside ? most : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        for (int i = 1; i < get_local_size(0) * get_local_size(1); i++)
            greatest[0] = fmax(greatest[0], greatest[i]);
        atomic_max(&brightest, (int)greatest[0]);
    }
}

// Slopes to a picture of bytes, through a sampler that the host chooses; coordinates from 0 to 1.
__kernel void slopes(read_only image2d_t from, sampler_t by, write_only image2d_t to, float scale)
{
    const int2 size = get_image_dim(to);
    const int2 place = (int2)(get_global_id(0), get_global_id(1));
    if (place.x >= size.x || place.y >= size.y)
        return;
    const float2 step = 1.0f / convert_float2(size);
    const float2 middle = (convert_float2(place) + 0.5f) * step;
    const float right = read_imagef(from, by, middle + (float2)(step.x, 0)).x;
    const float left = read_imagef(from, by, middle - (float2)(step.x, 0)).x;
    const float below = read_imagef(from, by, middle + (float2)(0, step.y)).x;
    const float above = read_imagef(from, by, middle - (float2)(0, step.y)).x;
    const uint x = (uint)(scale * fabs(right - left)), y = (uint)(scale * fabs(below - above));
    write_imageui(to, place, (uint4)(x, y, x + y, 255));
}

// The highest value along each ray through a volume, and how deep it lies.
__kernel void project(read_only image3d_t volume, __global int2 *highest, int depth)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= get_image_width(volume) || y >= get_image_height(volume))
        return;
    int2 best = (int2)(INT_MIN, -1);
    for (int z = 0; z < depth; z++) {
        const int value = read_imagei(volume, nearest, (int4)(x, y, z, 0)).x;
        if (value > best.x)
            best = (int2)(value, z);
    }
    highest[y * get_image_width(volume) + x] = best;
}
