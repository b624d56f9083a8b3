// Edges after Sobel: how steeply the brightness rises at each pixel.
//
// Every pixel looks at its eight neighbours, so the pixels of a block look at nearly the same ones. The block loads
// them into local memory (CUDA's shared memory) once, with a border one pixel wide, and reads them from there.
// Launch in blocks of exactly BLOCK x BLOCK, which the host defines; they may reach past the edges.
#define TILE (BLOCK + 2)

float brightness(float4 pixel)
{
    return 0.299f * pixel.x + 0.587f * pixel.y + 0.114f * pixel.z;
}

__kernel __attribute__((reqd_work_group_size(BLOCK, BLOCK, 1)))
void sobel(__global const float4 *from, __global float *to, int2 size)
{
    __local float tile[TILE][TILE];

    // There are more cells than work items, so some load two.
    const int2 corner = (int2)(get_group_id(0), get_group_id(1)) * BLOCK - 1;
    const int item = get_local_id(1) * BLOCK + get_local_id(0);
    for (int cell = item; cell < TILE * TILE; cell += BLOCK * BLOCK) {
        const int2 near = clamp(corner + (int2)(cell % TILE, cell / TILE), (int2)(0), size - 1);
        tile[cell / TILE][cell % TILE] = brightness(from[near.y * size.x + near.x]);
    }
    // All of the block comes here, also what lies past the edges: a barrier has to be reached by every work item.
    barrier(CLK_LOCAL_MEM_FENCE);

    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    if (at.x >= size.x || at.y >= size.y)
        return;

    const int x = get_local_id(0) + 1, y = get_local_id(1) + 1;
    const float right = tile[y - 1][x + 1] + 2.0f * tile[y][x + 1] + tile[y + 1][x + 1];
    const float left = tile[y - 1][x - 1] + 2.0f * tile[y][x - 1] + tile[y + 1][x - 1];
    const float below = tile[y + 1][x - 1] + 2.0f * tile[y + 1][x] + tile[y + 1][x + 1];
    const float above = tile[y - 1][x - 1] + 2.0f * tile[y - 1][x] + tile[y - 1][x + 1];
    to[at.y * size.x + at.x] = sqrt((right - left) * (right - left) + (below - above) * (below - above));
}
