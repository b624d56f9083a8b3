// Fills memory with a repeated 16-byte word, 16 bytes a work item.
//
// `base + offset` may be any byte; `word` is what an address that is a multiple of 16 gets, so bytes before the first
// such address take its upper bytes and the pattern is the same wherever the range starts.
// Launch with at least max(bytes / 16, 32) work items.
uchar gridcl_byte_of(uint4 word, ulong address)
{
    const uint2 half_word = address & 8 ? word.hi : word.lo;
    return (uchar)((address & 4 ? half_word.y : half_word.x) >> ((address & 3) * 8));
}

__kernel void gridcl_fill(__global uchar *base, ulong offset, ulong bytes, uint4 word)
{
    const size_t item = get_global_id(0);
    __global uchar *const to = base + offset;

    // Bytes before the first 16-byte boundary, and after the last.
    const ulong misaligned = (ulong)to & 15;
    const ulong head = min(misaligned ? 16 - misaligned : 0, bytes);
    const ulong body = (bytes - head) / 16;
    const ulong tail = bytes - head - body * 16;

    if (item < body)
        ((__global uint4 *)(to + head))[item] = word;
    if (item < head)
        to[item] = gridcl_byte_of(word, (ulong)(to + item));
    else if (item >= 16 && item - 16 < tail) {
        __global uchar *const last = to + head + body * 16 + (item - 16);
        *last = gridcl_byte_of(word, (ulong)last);
    }
}
