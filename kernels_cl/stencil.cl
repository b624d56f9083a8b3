// One step of heat that spreads through a box: each cell moves by `rate` towards its six neighbours.
//
//   to = from + rate * (sum of the six neighbours - 6 * from)
//
// `rate` is dt * conductivity / spacing^2, at most 1/6 for a stable result. Cells on the box's surface keep their
// value. x varies fastest. One work item for each cell, in blocks of any shape that may reach past the edges.
__kernel void heat_step(__global const float *from, __global float *to, uint width, uint height, uint depth, float rate)
{
    const uint x = (uint)get_group_id(0) * (uint)get_local_size(0) + (uint)get_local_id(0);
    const uint y = (uint)get_group_id(1) * (uint)get_local_size(1) + (uint)get_local_id(1);
    const uint z = (uint)get_group_id(2) * (uint)get_local_size(2) + (uint)get_local_id(2);
    if (x >= width || y >= height || z >= depth)
        return;

    const uint row = width, slice = width * height;
    const uint at = z * slice + y * row + x;
    const float here = from[at];
    if (x == 0 || y == 0 || z == 0 || x == width - 1 || y == height - 1 || z == depth - 1) {
        to[at] = here;
        return;
    }
    const float around =
        from[at - 1] + from[at + 1] + from[at - row] + from[at + row] + from[at - slice] + from[at + slice];
    to[at] = here + rate * (around - 6.0f * here);
}
