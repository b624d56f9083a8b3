// Copies a box of bytes within a device: `rows` rows of `width` bytes to a slice, `slices` slices, with pitches of
// its own at either end.
//
// Rows are moved in units of 16, 8, 4, 2 or 1 bytes, the largest of which all addresses, pitches and the width are
// multiples, so that neighbouring work items always move neighbouring bytes.
// Launch with any global size: work items stride over the units of a row along x, and over all rows along y.
#define GRIDCL_MOVE(type)                                                                                              \
    for (ulong x = get_global_id(0); x < width / sizeof(type); x += get_global_size(0))                                \
        ((__global type *)target)[x] = ((__global const type *)source)[x];                                             \
    break

__kernel void gridcl_copy(__global uchar *to, ulong to_offset, ulong to_row, ulong to_slice,
                          __global const uchar *from, ulong from_offset, ulong from_row, ulong from_slice, ulong width,
                          ulong rows, ulong slices, uint unit)
{
    for (ulong line = get_global_id(1); line < rows * slices; line += get_global_size(1)) {
        const ulong z = line / rows;
        const ulong y = line - z * rows;
        __global uchar *const target = to + to_offset + z * to_slice + y * to_row;
        __global const uchar *const source = from + from_offset + z * from_slice + y * from_row;
        switch (unit) {
        case 16:
            GRIDCL_MOVE(uint4);
        case 8:
            GRIDCL_MOVE(uint2);
        case 4:
            GRIDCL_MOVE(uint);
        case 2:
            GRIDCL_MOVE(ushort);
        default:
            GRIDCL_MOVE(uchar);
        }
    }
}
