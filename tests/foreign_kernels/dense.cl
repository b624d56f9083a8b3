// Dense algebra and grids in the shapes of PolyBench, and Gaussian elimination in that of Rodinia. `REAL` is float or
// double. Matrices are `n` wide and lie row by row; launches may reach past their edges.
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

// c = alpha a b + beta c, a work item for each element.
__kernel void gemm(__global const REAL *a, __global const REAL *b, __global REAL *c, REAL alpha, REAL beta,
                   int rows, int columns, int inner)
{
    int column = get_global_id(0);
    int row = get_global_id(1);
    if (row < rows && column < columns) {
        c[row * columns + column] *= beta;
        for (int k = 0; k < inner; k++)
            c[row * columns + column] += alpha * a[row * inner + k] * b[k * columns + column];
    }
}

// The lower triangle of c = alpha a a^T + beta c; work items above the diagonal leave at once.
__kernel void syrk(REAL alpha, REAL beta, __global REAL *a, __global REAL *c, int m, int n)
{
    int j = get_global_id(0), i = get_global_id(1);
    if (i >= n || j >= n || j > i)
        return;
    REAL sum = c[i * n + j] * beta;
    for (int k = 0; k < m; k++)
        sum += alpha * a[i * m + k] * a[j * m + k];
    c[i * n + j] = sum;
}

// y = a^T (a x), by two kernels.
__kernel void atax_rows(__global REAL *a, __global REAL *x, __global REAL *between, int rows, int columns)
{
    int i = get_global_id(0);
    if (i < rows) {
        between[i] = 0;
        for (int j = 0; j < columns; j++)
            between[i] += a[i * columns + j] * x[j];
    }
}

__kernel void atax_columns(__global REAL *a, __global REAL *y, __global REAL *between, int rows, int columns)
{
    int j = get_global_id(0);
    if (j < columns) {
        y[j] = 0;
        for (int i = 0; i < rows; i++)
            y[j] += a[i * columns + j] * between[i];
    }
}

// Waves on a grid: two fields by differences of the third, the third by theirs.
__kernel void waves_ey(__global const REAL *pulse, __global REAL *ex, __global REAL *ey, __global REAL *hz, int t,
                       int nx, int ny)
{
    int j = get_global_id(0), i = get_global_id(1);
    if (i < nx && j < ny) {
        if (i == 0)
            ey[i * ny + j] = pulse[t];
        else
            ey[i * ny + j] -= (REAL)0.5 * (hz[i * ny + j] - hz[(i - 1) * ny + j]);
    }
}

__kernel void waves_ex(__global REAL *ex, __global REAL *ey, __global REAL *hz, int nx, int ny)
{
    int j = get_global_id(0), i = get_global_id(1);
    if (i < nx && j < ny && j > 0)
        ex[i * ny + j] -= (REAL)0.5 * (hz[i * ny + j] - hz[i * ny + j - 1]);
}

__kernel void waves_hz(__global REAL *ex, __global REAL *ey, __global REAL *hz, int nx, int ny)
{
    int j = get_global_id(0), i = get_global_id(1);
    if (i < nx - 1 && j < ny - 1)
        hz[i * ny + j] -= (REAL)0.7 * (ex[i * ny + j + 1] - ex[i * ny + j] + ey[(i + 1) * ny + j] - ey[i * ny + j]);
}

// Covariances of the columns of `points` observations; the loop over pairs starts at the work item's own column.
__kernel void mean_of_columns(__global REAL *mean, __global const REAL *data, REAL points, int n, int m)
{
    int j = get_global_id(0);
    if (j >= m)
        return;
    REAL sum = 0;
    for (int i = 0; i < n; i++)
        sum += data[i * m + j];
    mean[j] = sum / points;
}

__kernel void centre_columns(__global const REAL *mean, __global REAL *data, int n, int m)
{
    int j = get_global_id(0), i = get_global_id(1);
    if (i < n && j < m)
        data[i * m + j] -= mean[j];
}

__kernel void covariance(__global REAL *symmetric, __global const REAL *data, int n, int m)
{
    int first = get_global_id(0);
    if (first < m)
        for (int second = first; second < m; second++) {
            REAL sum = 0;
            for (int i = 0; i < n; i++)
                sum += data[i * m + first] * data[i * m + second];
            symmetric[first * m + second] = sum / (n - 1);
            symmetric[second * m + first] = symmetric[first * m + second];
        }
}

// Gaussian elimination without pivots: the factors of column t, then the rest of the matrix and the right side.
__kernel void eliminate_factors(__global REAL *factors, __global const REAL *a, int size, int t)
{
    int i = get_global_id(0);
    if (i < size - 1 - t)
        factors[size * (i + t + 1) + t] = a[size * (i + t + 1) + t] / a[size * t + t];
}

__kernel void eliminate_rows(__global const REAL *factors, __global REAL *a, __global REAL *right, int size, int t)
{
    int i = get_global_id(0), j = get_global_id(1);
    if (i >= size - 1 - t || j >= size - t)
        return;
    a[size * (i + 1 + t) + j + t] -= factors[size * (i + 1 + t) + t] * a[size * t + j + t];
    if (j == 0)
        right[i + 1 + t] -= factors[size * (i + 1 + t) + t] * right[t];
}
