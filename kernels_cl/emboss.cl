// Emboss: each channel of a pixel as grey plus how much it differs from its neighbours along the diagonal, as if light
// came from the upper left. The outermost pixels have not all neighbours and stay as they are.
//
// Rows begin a pitch of bytes apart, not a width of pixels: a row's address is reckoned in bytes.
__kernel void emboss(__global const uchar *from, ulong from_pitch, __global uchar *to, ulong to_pitch, int2 size)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= size.x - 1 || y >= size.y - 1)
        return;

    __global const uchar4 *above = (__global const uchar4 *)(from + (y - 1) * from_pitch);
    __global const uchar4 *below = (__global const uchar4 *)(from + (y + 1) * from_pitch);
    const int4 difference = convert_int4(below[x + 1]) - convert_int4(above[x - 1]);
    uchar4 pixel = convert_uchar4_sat(difference + 128);
    pixel.w = 255;
    ((__global uchar4 *)(to + y * to_pitch))[x] = pixel;
}
