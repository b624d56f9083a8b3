// Fills a box of bytes with a repeated 4-byte word: `rows` rows of `width` bytes to a slice, `slices` slices. What lies
// between the rows stays as it is.
//
// `word` is what a 4-byte aligned address gets. Each row has bytes before the first 16-byte boundary and after the last,
// and 16-byte stores between, so that neighbouring work items write neighbouring bytes.
// Launch with any global size: work items stride over a row along x, and over all rows along y.
__kernel void gridcl_fill_box(__global uchar *base, ulong offset, ulong row, ulong slice, ulong width, ulong rows,
                              ulong slices, uint word)
{
    const ulong item = get_global_id(0);
    const ulong items = get_global_size(0);
    for (ulong line = get_global_id(1); line < rows * slices; line += get_global_size(1)) {
        const ulong z = line / rows;
        const ulong y = line - z * rows;
        __global uchar *const to = base + offset + z * slice + y * row;
        const ulong head = min((16 - ((ulong)to & 15)) & 15, width);
        const ulong body = (width - head) / 16;
        const ulong tail = head + body * 16;

        for (ulong x = item; x < body; x += items)
            ((__global uint4 *)(to + head))[x] = (uint4)(word);
        for (ulong x = item; x < head; x += items)
            to[x] = (uchar)(word >> (((ulong)(to + x) & 3) * 8));
        for (ulong x = tail + item; x < width; x += items)
            to[x] = (uchar)(word >> (((ulong)(to + x) & 3) * 8));
    }
}
