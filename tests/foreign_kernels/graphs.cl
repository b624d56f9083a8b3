// Graphs, trees and paths in the shapes of Rodinia: arrays of structs, flags of one byte, loops as long as the data
// says, pointers that lie in memory, and a walk in local memory with barriers in its loop.

typedef struct {
    int first;
    int count;
} vertex;

// A step of a breadth-first search: the vertices of the frontier reach their neighbours.
__kernel void frontier_visit(__global const vertex *vertices, __global const int *edges, __global uchar *frontier,
                             __global uchar *reached, __global const uchar *visited, __global int *cost, int n)
{
    int at = get_global_id(0);
    if (at >= n || !frontier[at])
        return;
    frontier[at] = 0;
    const vertex own = vertices[at];
    for (int i = own.first; i < own.first + own.count; i++) {
        int to = edges[i];
        if (!visited[to]) {
            cost[to] = cost[at] + 1;
            reached[to] = 1;
        }
    }
}

// What was reached is the next frontier; says whether there is any.
__kernel void frontier_advance(__global uchar *frontier, __global uchar *reached, __global uchar *visited,
                               __global int *more, int n)
{
    int at = get_global_id(0);
    if (at >= n || !reached[at])
        return;
    frontier[at] = 1;
    visited[at] = 1;
    reached[at] = 0;
    *more = 1;
}

// The cheapest way down a wall of numbers, `steps` rows in one launch. Blocks overlap by a border that goes bad by one
// cell a row from either side; every work item reaches every barrier.
#define IN_RANGE(x, low, high) ((x) >= (low) && (x) <= (high))
__kernel void cheapest_path(int steps, __global const int *wall, __global const int *from, __global int *to,
                            int columns, int start, int border, __local int *previous, __local int *next)
{
    const int block = get_local_size(0);
    const int item = get_local_id(0);
    const int useful = block - 2 * border;
    const int x = (int)get_group_id(0) * useful - border + item;
    const bool inside = IN_RANGE(x, 0, columns - 1);

    if (inside)
        previous[item] = from[x];
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int step = 0; step < steps; step++) {
        if (inside) {
            int best = previous[item];
            if (item > 0 && x > 0)
                best = min(best, previous[item - 1]);
            if (item < block - 1 && x < columns - 1)
                best = min(best, previous[item + 1]);
            next[item] = best + wall[(start + step) * columns + x];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (inside)
            previous[item] = next[item];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (inside && IN_RANGE(item, border, block - border - 1))
        to[x] = previous[item];
}

// Nearest places to one that comes by value, a struct in a struct.
typedef struct {
    float latitude;
    float longitude;
} place;

typedef struct {
    place centre;
    float scale;
    uchar squared;
} query;

__kernel void distances(__global const place *places, __global float *distance, int n, query to)
{
    const int at = (int)(get_global_size(0) * get_global_id(1) + get_global_id(0));
    if (at >= n)
        return;
    __global const place *own = &places[at];
    const float dx = own->latitude - to.centre.latitude;
    const float dy = own->longitude - to.centre.longitude;
    const float sum = dx * dx + dy * dy;
    distance[at] = to.scale * (to.squared ? sum : sqrt(sum));
}

// A search tree whose nodes point at each other.
typedef struct node {
    int key;
    int value;
    __global struct node *less;
    __global struct node *more;
} node;

__kernel void look_up(__global node *root, __global const int *keys, __global int *values, int n)
{
    const int at = get_global_id(0);
    if (at >= n)
        return;
    int value = -1;
    for (__global node *now = root; now != 0;) {
        if (keys[at] == now->key) {
            value = now->value;
            break;
        }
        now = keys[at] < now->key ? now->less : now->more;
    }
    values[at] = value;
}

// Rows of different lengths behind a table of tables: structs in structs, with pointers and lengths.
typedef struct {
    __global const float *data;
    uint length;
    uint step;
} strided;

typedef struct {
    strided left;
    strided right;
    __global float *result;
} job;

__kernel void dot_jobs(__global const job *jobs, uint count)
{
    const uint at = get_global_id(0);
    if (at >= count)
        return;
    __global const job *own = jobs + at;
    float sum = 0;
    for (uint i = 0; i < min(own->left.length, own->right.length); i++)
        sum += own->left.data[i * own->left.step] * own->right.data[i * own->right.step];
    *own->result = sum;
}
