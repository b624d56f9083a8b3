// Turns the rows of a matrix into columns.
//
// Neighbouring work items have to read and to write neighbouring elements, which a direct transposition does on one
// side only. So a block reads a tile by rows into local memory and writes it from there by rows of the result. The
// tile's rows are one element longer than needed: else a column would lie in a single bank of the local memory.
// Launch in blocks of TILE x STEP (the host defines both; STEP divides TILE), one block a tile; tiles may reach past
// the edges.
__kernel __attribute__((reqd_work_group_size(TILE, STEP, 1)))
void transpose(__global const float *from, __global float *to, uint rows, uint columns)
{
    __local float tile[TILE][TILE + 1];

    const uint x = get_local_id(0), y = get_local_id(1);
    const uint left = (uint)get_group_id(0) * TILE, top = (uint)get_group_id(1) * TILE;

    #pragma unroll
    for (uint j = 0; j < TILE; j += STEP)
        if (top + y + j < rows && left + x < columns)
            tile[y + j][x] = from[(top + y + j) * columns + left + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (uint j = 0; j < TILE; j += STEP)
        if (left + y + j < columns && top + x < rows)
            to[(left + y + j) * rows + top + x] = tile[x][y + j];
}
