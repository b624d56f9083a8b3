/* Spellings that kernels come in: keywords without underscores, macros in place of keywords, attributes, conditions and
 * comments within parameter lists, arrays as parameters, names that hide symbols, and symbols in places where a change
 * of the text is not easy. Each kernel is small; that it is read right is the point. */

#ifndef WITH_OFFSET
#define WITH_OFFSET 1
#endif
#define GLOBAL_PTR(type) __global type *restrict
#define KERNEL __kernel __attribute__((vec_type_hint(float4)))
#define AT get_global_id(0)
#define SQUARE(x) ((x) * (x))
#define SCALED(x) (SQUARE(x) * scales[1])

__constant__ float scales[4] = {1.0f, 2.0f, SQUARE(3.0f), 16.0f};
__device__ int tally[3], total = 7;
__device__ float2 grid[2][3];
static __constant__ const uint mask = (1u << 4) - 1; // the last four bits

typedef struct { float value[2]; } pair_t;
typedef float number;
enum { FIRST, SECOND };

/* A helper whose prototype stands in front of what it uses, and one that is called through it. */
float helped(int i, float by);
static inline float scale_of(int i) { return scales[i & mask]; }
float helped(int i, float by)
{
    return by * scale_of(i) + SCALED(by);
}

// Keywords without underscores, and a parameter list with conditions and comments.
kernel void plain_words(global const float *x, /* in, out */ global float *y // y = f(x)
#if WITH_OFFSET
                        ,
                        float offset
#endif
                        , local float *shared, uint n)
{
    const uint at = AT, item = get_local_id(0);
    shared[item] = at < n ? x[at] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (at >= n) return;
#if WITH_OFFSET
    y[at] = shared[item] + offset + scales[FIRST];
#else
    y[at] = shared[item];
#endif
}

// The keyword and the qualifiers by macros; several lines of a macro with a symbol in it.
#define ADD_UP(to, from)      \
    do {                      \
        to += (from);         \
        atomic_add(&total, 1); \
    } while (0)
KERNEL void by_macros(GLOBAL_PTR(float) y, GLOBAL_PTR(const int) x, const unsigned int n)
{
    float sum = 0;
    for (unsigned i = 0; i < n; ++i)
        ADD_UP(sum, helped(x[i], 0.5f));
    y[0] = sum;
}

// Attributes at every place, arrays and pointers to arrays as parameters.
__attribute__((reqd_work_group_size(4, 2, 1))) __kernel void
arrays(__global float rows[][4], __constant float weights[4], __global const float (*columns)[2],
       __attribute__((unused)) __global int *nothing)
{
    const int x = get_global_id(0), y = get_global_id(1);
    rows[y][x] = weights[x] * columns[x][y] + (nothing == 0);
}

// Parameters, locals and members that are called as symbols are.
struct hiding { int total; float scales; };
__kernel void hidden_names(__global int *tally, struct hiding given)
{
    int total = given.total;
    {
        float scales = given.scales;
        total += (int)scales;
    }
    for (int mask = 0; mask < 3; mask++)
        tally[mask] = total + mask * (int)scales[SECOND] + sizeof(grid) / sizeof(grid[0][0]);
}

// Symbols behind pointers, in conditions, as arguments, in several declarators and dimensions.
int largest(__global int *from, int n)
{
    int most = from[0];
    for (int i = 1; i < n; i++)
        most = max(most, from[i]);
    return most;
}
__device__ void note(int where, int what) { atomic_max(tally + where, what); }
__kernel void by_address(__global int *y, int rounds)
{
    __global int *first = tally, *last = &tally[2];
    __global float2 (*row)[3] = &grid[1];
    for (int i = 0; i < rounds; i++)
        note(i % 3, i), (*row)[i % 3].y += (i & mask) ? 1.0f : 0.5f;
    y[0] = last - first;
    y[1] = largest(tally, sizeof(tally) / sizeof(*tally));
    y[2] = (int)((*row)[0].y + grid[1][1].y + grid[1][2].y + 10 * grid[0][0].x);
}

// A kernel that calls a kernel, both with symbols.
__kernel void inner_kernel(__global int *y, int i) { y[i] = tally[i] + (int)scales[3]; }
__kernel void outer_kernel(__global int *y)
{
    for (int i = 0; i < 3; i++)
        inner_kernel(y, i);
}

// Types of more than one word, qualifiers behind types, and structs that come by name.
__kernel void long_types(unsigned char const a, signed short b, unsigned int const volatile c, long int d,
                         unsigned long e, struct hiding const f, const pair_t g, float const __global *const h,
                         __global number *y)
{
    y[0] = a; y[1] = b; y[2] = c; y[3] = d; y[4] = e; y[5] = f.total; y[6] = f.scales; y[7] = g.value[SECOND];
    y[8] = h[0];
}
