// Symbols of every make and in every place: text, aligned, volatile and pointer symbols, vectors of three, sizes from
// other symbols and from enums; uses behind macros with parameters of the same names, designators, overloads.
enum { ROWS = 2, COLUMNS = 3 };
typedef float3 direction;
typedef struct { int total; direction towards[2]; uchar kind; } beam;

__constant__ char text[] = "gridcl; \"quoted\" // no comment";
__constant__ direction axis = (float3)(1.0f, 2.0f, 3.0f);
__constant__ float3 axes[ROWS] = {(float3)(1, 0, 0), (float3)(0, 1, 2)};
__device__ volatile int total;
__device__ int aligned_one __attribute__((aligned(64))) = 5;
__device__ __global float *behind;
__constant__ struct { beam first; beam rest[ROWS]; } beams = {
    {1, {(float3)(1), (float3)(2)}, 'a'},
    {{.total = 2, .kind = 'b'}, {.total = 3, .kind = 'c'}},
};
__device__ int table[ROWS][COLUMNS + 1] = {[1] = {[2] = 9}};
__device__ uchar copy_of[sizeof(table) / sizeof(table[0][0])];
__constant__ uint squares[] = {
#define SQ(x) (x) * (x),
    SQ(1) SQ(2) SQ(3)
#undef SQ
};

#define TWICE(total) ((total) * 2)
#define ELEMENT(row, column) table[row][column]
#define BUMP(by) total += (by)
#define PICK(name) name##_one

float __attribute__((overloadable)) size_of(float x) { return x; }
float __attribute__((overloadable)) size_of(float3 x) { return dot(x, axis); }

float sum_of(__constant float3 *list, int n)
{
    float sum = 0;
    for (int total = 0; total < n; total++)
        sum += list[total].x + list[total].y + list[total].z;
    return sum;
}

__kernel void various(__global float *y, direction by, __constant beam *more, __local float (*rows)[COLUMNS])
{
    y[0] = text[0] + sizeof(text);
    y[1] = size_of(by) + size_of(2.0f);
    y[2] = sum_of(axes, ROWS);
    y[3] = TWICE(aligned_one) + ((ulong)&aligned_one % 64 == 0);
    y[4] = beams.first.total + beams.rest[1].total * 10 + beams.rest[0].kind + beams.first.towards[1].z;
    y[5] = ELEMENT(1, 2)++;
    y[5] += table[1][2];
    y[6] = squares[2] + sizeof squares;
    BUMP(3), BUMP(4);
    y[7] = total;
    beam own = {.total = 6, .kind = 1};
    y[8] = own.total + more[1].total + more->kind;
    rows[get_local_id(0)][1] = 4;
    y[9] = rows[get_local_id(0)][1];
    copy_of[3] = 200;
    y[10] = (behind == 0 ? -1 : 1) + sizeof(copy_of);
    goto total;
total:
    switch (aligned_one) {
    case COLUMNS + 2: y[11] = axis.s2; break;
    default: y[11] = 0;
    }
    y[12] = axis.x > 0 ? axes[total > 5].z : 0;
    y[13] = sizeof(beams);
}
#if 0
__device__ int never; it's not even "text
#endif
