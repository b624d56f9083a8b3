// Fills memory with a repeated 4-byte word, 16 bytes a work item.
//
// `base + offset` may be any byte; `word` is what a 4-byte aligned address gets, so bytes before the first aligned
// address take its upper bytes and the pattern does not depend on where the range starts.
// Launch with at least max(bytes / 16, 32) work items.
__kernel void gridcl_fill(__global uchar *base, ulong offset, ulong bytes, uint word)
{
    const size_t item = get_global_id(0);
    __global uchar *const to = base + offset;

    // Bytes before the first 16-byte boundary, and after the last.
    const ulong misaligned = (ulong)to & 15;
    const ulong head = min(misaligned ? 16 - misaligned : 0, bytes);
    const ulong body = (bytes - head) / 16;
    const ulong tail = bytes - head - body * 16;

    if (item < body)
        ((__global uint4 *)(to + head))[item] = (uint4)(word);
    if (item < head)
        to[item] = (uchar)(word >> (((ulong)(to + item) & 3) * 8));
    else if (item >= 16 && item - 16 < tail) {
        __global uchar *const last = to + head + body * 16 + (item - 16);
        *last = (uchar)(word >> (((ulong)last & 3) * 8));
    }
}
