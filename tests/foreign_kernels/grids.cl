// Grids in the shapes of Rodinia and Parboil: long argument lists, a program's own types, three-dimensional launches,
// sums of differences, potentials of atoms in constant memory.

// Temperatures of a chip: thirteen arguments, a tile with a border, several steps a launch.
#define BLOCK 16
__kernel void chip_steps(int steps, __global const float *power, __global const float *from, __global float *to,
                         int columns, int rows, int border_columns, int border_rows, float capacity, float rx,
                         float ry, float rz, float step)
{
    __local float old[BLOCK][BLOCK], heat[BLOCK][BLOCK], new[BLOCK][BLOCK];

    const float ambient = 80.0f;
    const float by_capacity = step / capacity, by_x = 1 / rx, by_y = 1 / ry, by_z = 1 / rz;
    const int tx = get_local_id(0), ty = get_local_id(1);
    const int block_y = (BLOCK - 2 * border_rows) * (int)get_group_id(1) - border_rows;
    const int block_x = (BLOCK - 2 * border_columns) * (int)get_group_id(0) - border_columns;
    const int y = block_y + ty, x = block_x + tx;
    const bool inside = y >= 0 && y < rows && x >= 0 && x < columns;
    if (inside) {
        old[ty][tx] = from[columns * y + x];
        heat[ty][tx] = power[columns * y + x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // The part of the tile that lies on the chip.
    const int first_x = max(-block_x, 0), last_x = min(BLOCK - 1, columns - 1 - block_x);
    const int first_y = max(-block_y, 0), last_y = min(BLOCK - 1, rows - 1 - block_y);
    const int north = max(ty - 1, first_y), south = min(ty + 1, last_y);
    const int west = max(tx - 1, first_x), east = min(tx + 1, last_x);

    bool computed = false;
    for (int i = 0; i < steps; i++) {
        computed = false;
        if (tx >= i + 1 && tx <= BLOCK - i - 2 && ty >= i + 1 && ty <= BLOCK - i - 2 && inside) {
            computed = true;
            new[ty][tx] = old[ty][tx]
                + by_capacity * (heat[ty][tx] + (old[south][tx] + old[north][tx] - 2.0f * old[ty][tx]) * by_y
                                 + (old[ty][east] + old[ty][west] - 2.0f * old[ty][tx]) * by_x
                                 + (ambient - old[ty][tx]) * by_z);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i == steps - 1)
            break;
        if (computed)
            old[ty][tx] = new[ty][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (computed)
        to[columns * y + x] = new[ty][tx];
}

// Sums of absolute differences of 4 x 4 blocks of two frames, for all offsets of a window: a three-dimensional launch
// of the blocks of the picture and the offsets, rows of four pixels as vectors.
__kernel void block_differences(__global const uchar *frame, __global const uchar *reference, __global ushort *sums,
                                int width, int height, int range)
{
    const int block_x = get_global_id(0), block_y = get_global_id(1), offset = get_global_id(2);
    const int blocks_x = width / 4, side = 2 * range + 1;
    if (block_x >= blocks_x || block_y >= height / 4 || offset >= side * side)
        return;
    const int dx = offset % side - range, dy = offset / side - range;
    ushort4 sum = (ushort4)(0);
    for (int row = 0; row < 4; row++) {
        const int y = block_y * 4 + row;
        const int near_y = clamp(y + dy, 0, height - 1);
        const uchar4 own = vload4(block_x, frame + y * width);
        uchar4 other;
        int near_x = block_x * 4 + dx;
        other.x = reference[near_y * width + clamp(near_x, 0, width - 1)];
        other.y = reference[near_y * width + clamp(near_x + 1, 0, width - 1)];
        other.z = reference[near_y * width + clamp(near_x + 2, 0, width - 1)];
        other.w = reference[near_y * width + clamp(near_x + 3, 0, width - 1)];
        sum += convert_ushort4(abs_diff(own, other));
    }
    sums[(offset * (height / 4) + block_y) * blocks_x + block_x] = sum.x + sum.y + sum.z + sum.w;
}

// The potential of atoms on a lattice: the atoms come in pieces through constant memory, which a helper function reads.
#define ATOMS 64
typedef struct {
    float x, y, z, charge;
} atom;

__constant__ atom atoms[ATOMS];
__constant__ int atom_count;
__device__ uint lattice_points;

float potential_of(int i, float x, float y, float z, float cutoff2)
{
    const float dx = atoms[i].x - x, dy = atoms[i].y - y, dz = atoms[i].z - z;
    const float r2 = dx * dx + dy * dy + dz * dz;
    if (r2 >= cutoff2)
        return 0.0f;
    const float s = 1.0f - r2 / cutoff2;
    return atoms[i].charge * rsqrt(r2) * s * s;
}

__kernel void add_potential(__global float *lattice, int3 size, float spacing, float cutoff2)
{
    const int3 at = (int3)(get_global_id(0), get_global_id(1), get_global_id(2));
    if (any(at >= size))
        return;
    float sum = 0.0f;
    for (int i = 0; i < atom_count; i++)
        sum += potential_of(i, at.x * spacing, at.y * spacing, at.z * spacing, cutoff2);
    lattice[(at.z * size.y + at.y) * size.x + at.x] += sum;
    atomic_inc(&lattice_points);
}

// A flow on a lattice with seven directions, in two arrays of structures of arrays: macros make the addresses, and the
// cells of the next slices are reached across the box's ends.
#define CELL(direction, x, y, z)                                                                                       \
    ((direction)*box.s0 * box.s1 * box.s2 + (((z) + box.s2) % box.s2 * box.s1 + ((y) + box.s1) % box.s1) * box.s0      \
     + ((x) + box.s0) % box.s0)
enum { REST, EAST, WEST, NORTH, SOUTH, UP, DOWN, DIRECTIONS };

__kernel void flow_step(__global const float *from, __global float *to, __global const uchar *wall, int4 box,
                        float omega)
{
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x >= box.x || y >= box.y || z >= box.z)
        return;
    float f[DIRECTIONS], density = 0.0f;
    for (int d = 0; d < DIRECTIONS; d++) {
        f[d] = from[CELL(d, x, y, z)];
        density += f[d];
    }
    if (wall[CELL(0, x, y, z)]) {
        // Walls send everything back.
        for (int d = EAST; d < DIRECTIONS; d += 2) {
            const float swap = f[d];
            f[d] = f[d + 1];
            f[d + 1] = swap;
        }
    } else {
        const float3 flow = (float3)(f[EAST] - f[WEST], f[NORTH] - f[SOUTH], f[UP] - f[DOWN]);
        const float along[DIRECTIONS] = {0.0f, flow.x, -flow.x, flow.y, -flow.y, flow.z, -flow.z};
        for (int d = 0; d < DIRECTIONS; d++) {
            const float rest = d == REST ? 0.25f * density : 0.125f * density + 0.5f * along[d];
            f[d] += omega * (rest - f[d]);
        }
    }
    to[CELL(REST, x, y, z)] = f[REST];
    to[CELL(EAST, x + 1, y, z)] = f[EAST];
    to[CELL(WEST, x - 1, y, z)] = f[WEST];
    to[CELL(NORTH, x, y + 1, z)] = f[NORTH];
    to[CELL(SOUTH, x, y - 1, z)] = f[SOUTH];
    to[CELL(UP, x, y, z + 1)] = f[UP];
    to[CELL(DOWN, x, y, z - 1)] = f[DOWN];
}
