// Sparse matrices in the shapes of SHOC and Parboil: rows of different lengths as loops, as sums of a whole block, in
// columns, and in rows that were sorted by length.

__kernel void rows_by_items(__global const float *restrict values, __global const float *restrict x,
                            __global const int *restrict columns, __global const int *restrict starts, const int n,
                            __global float *restrict y)
{
    int row = get_global_id(0);
    if (row < n) {
        float sum = 0.0f;
        int end = starts[row + 1];
        for (int j = starts[row]; j < end; j++)
            sum += values[j] * x[columns[j]];
        y[row] = sum;
    }
}

// LANES work items share a row and add up in local memory.
#define LANES 32
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void rows_by_lanes(__global const float *restrict values, __global const float *restrict x,
                   __global const int *restrict columns, __global const int *restrict starts, const int n,
                   __global float *restrict y)
{
    __local volatile float partial[128];
    int item = get_local_id(0);
    int lane = item & (LANES - 1);
    int row = get_group_id(0) * (128 / LANES) + item / LANES;
    float mine = 0;
    if (row < n)
        for (int j = starts[row] + lane; j < starts[row + 1]; j += LANES)
            mine += values[j] * x[columns[j]];
    partial[item] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int width = LANES / 2; width > 0; width >>= 1) {
        if (lane < width)
            partial[item] += partial[item + width];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0 && row < n)
        y[row] = partial[item];
}

// Every row has room for the longest; entry k of all rows lies side by side.
__kernel void rows_with_room(__global const float *values, __global const float *x, __global const int *columns,
                             __global const int *lengths, int n, __global float *y)
{
    uint row = get_global_id(0);
    if (row >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < lengths[row]; k++) {
        int at = k * n + row;
        sum += values[at] * x[columns[at]];
    }
    y[row] = sum;
}

// Rows in order of their lengths: how long the k-th entries of all rows are is in a symbol of constant memory, and the
// rows' own places in a permutation.
typedef struct {
    int first;
    int rows;
} level;

__constant__ level levels[64];
__constant__ int level_count;

__kernel void rows_by_length(__global const float *values, __global const float *x, __global const int *columns,
                             __global const int *places, __global float *y, const int n)
{
    const int row = get_global_id(0);
    if (row >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < level_count && row < levels[k].rows; k++)
        sum += values[levels[k].first + row] * x[columns[levels[k].first + row]];
    y[places[row]] = sum;
}
