// Sequences in the shapes of Rodinia and SHOC: alignment by diagonals, a hash over a table in constant memory, a
// Fourier transform in local memory, clusters around centres that the host renews.

// Alignment of two sequences by a table, one anti-diagonal of tiles a launch. Both tiles are local parameters; inside
// of a tile the work items walk along its anti-diagonals.
#define TILE 16
#define SCORE(y, x) score[(y) * (TILE + 1) + (x)]

__kernel void align_tiles(__global const int *match, __global int *table, __local int *score, __local int *own,
                          int columns, int penalty, int diagonal, int tiles)
{
    const int item = get_local_id(0);
    const int first = max(0, diagonal - tiles + 1);
    const int tile_x = first + (int)get_group_id(0), tile_y = diagonal - tile_x;
    const int left = tile_x * TILE, top = tile_y * TILE;

    for (int y = 0; y < TILE; y++)
        own[y * TILE + item] = match[(top + y + 1) * columns + left + item + 1];
    if (item == 0)
        SCORE(0, 0) = table[top * columns + left];
    SCORE(item + 1, 0) = table[(top + item + 1) * columns + left];
    SCORE(0, item + 1) = table[top * columns + left + item + 1];
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int d = 0; d < 2 * TILE - 1; d++) {
        const int x = item + 1, y = d - item + 1;
        if (y >= 1 && y <= TILE) {
            const int both = SCORE(y - 1, x - 1) + own[(y - 1) * TILE + x - 1];
            SCORE(y, x) = max(both, max(SCORE(y, x - 1), SCORE(y - 1, x)) - penalty);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int y = 0; y < TILE; y++)
        table[(top + y + 1) * columns + left + item + 1] = SCORE(y + 1, item + 1);
}

// A digest of blocks of 16 words by rounds over constants at program scope, which OpenCL C has by itself.
__constant uint CONSTANTS[8] = {0x9e3779b9u, 0x7f4a7c15u, 0xbf58476du, 0x1ce4e5b9u,
                                0x94d049bbu, 0x133111ebu, 0xd6e8feb8u, 0x6659fd93u};
__constant const uchar TURNS[4] = {7, 12, 17, 22};

#define CHOOSE(x, y, z) (((x) & (y)) | (~(x) & (z)))
#define PARITY(x, y, z) ((x) ^ (y) ^ (z))
#define ROUND(function, i)                                                                                             \
    do {                                                                                                               \
        const uint mixed = a + function(b, c, d) + words[(i) * 5 % 16] + CONSTANTS[(i) % 8];                           \
        a = d, d = c, c = b;                                                                                           \
        b += rotate(mixed, (uint)TURNS[(i) % 4]);                                                                      \
    } while (0)

__kernel void digests(__global const uint *data, __global uint4 *digest, const uint n)
{
    const uint at = get_global_id(0);
    if (at >= n)
        return;
    uint words[16];
    for (uint i = 0; i < 16; i++)
        words[i] = data[at * 16 + i];
    uint a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
    for (uint i = 0; i < 32; i++)
        switch (i / 16) {
        case 0:
            ROUND(CHOOSE, i);
            break;
        default:
            ROUND(PARITY, i);
        }
    digest[at] = (uint4)(a, b, c, d);
}

// Fourier transforms of 64 complex numbers, one a block of 32: stages with a barrier each, helpers with local pointers.
typedef float2 complex;

complex times(complex a, complex b)
{
    return (complex)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

void butterfly(__local complex *low, __local complex *high, complex factor)
{
    const complex a = *low, b = times(*high, factor);
    *low = a + b;
    *high = a - b;
}

uint reversed(uint x, uint bits)
{
    uint back = 0;
    while (bits-- > 0) {
        back = back << 1 | (x & 1);
        x >>= 1;
    }
    return back;
}

__kernel void transforms(__global const complex *from, __global complex *to, float sign)
{
    __local complex shared[64];
    const uint item = get_local_id(0), base = get_group_id(0) * 64;
    for (uint i = item; i < 64; i += 32)
        shared[reversed(i, 6)] = from[base + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint width = 1; width < 64; width <<= 1) {
        const uint k = item & (width - 1);
        const uint low = 2 * (item - k) + k;
        float cosine;
        const float sine = sincos(sign * M_PI_F * k / width, &cosine);
        butterfly(shared + low, shared + low + width, (complex)(cosine, sine));
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint i = item; i < 64; i += 32)
        to[base + i] = shared[i];
}

// Clusters: each point joins the nearest of the centres, a symbol; how many changed is another.
#define FEATURES 5
#define MOST 8
typedef struct {
    int count;
    float at[MOST][FEATURES];
} centres;

__constant__ centres current;
__device__ int changed = 0;

float squared_distance(__global const float *features, int point, int points, int centre)
{
    float sum = 0.0f;
    for (int f = 0; f < FEATURES; f++) {
        const float away = features[f * points + point] - current.at[centre][f];
        sum += away * away;
    }
    return sum;
}

__kernel void join_clusters(__global const float *features, __global int *membership, int points)
{
    const int point = get_global_id(0);
    if (point >= points)
        return;
    int nearest = 0;
    float least = MAXFLOAT;
    for (int c = 0; c < current.count; c++) {
        const float distance = squared_distance(features, point, points, c);
        if (distance < least) {
            least = distance;
            nearest = c;
        }
    }
    if (membership[point] != nearest) {
        membership[point] = nearest;
        atomic_inc(&changed);
    }
}
