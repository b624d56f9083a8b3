// Copies between memory that one driver call cannot reach both ends of: a buffer object and shared virtual memory.
//
// 16 bytes a work item where both ends allow it, else one byte at a time in the same 16-byte pieces.
// Launch with at least (bytes + 15) / 16 work items.
__kernel void gridcl_copy(__global uchar *to, ulong to_offset, __global const uchar *from, ulong from_offset,
                          ulong bytes)
{
    const ulong at = (ulong)get_global_id(0) * 16;
    if (at >= bytes)
        return;
    __global uchar *const target = to + to_offset + at;
    __global const uchar *const source = from + from_offset + at;
    if (bytes - at >= 16 && ((ulong)target & 15) == 0 && ((ulong)source & 15) == 0) {
        *(__global uint4 *)target = *(__global const uint4 *)source;
    } else {
        const ulong count = min(bytes - at, (ulong)16);
        for (ulong i = 0; i < count; i++)
            target[i] = source[i];
    }
}
