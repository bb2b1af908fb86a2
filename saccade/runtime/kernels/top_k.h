/* The top k of many numbers, for the C loops of several rooms. */
#include <math.h>
#include <stdint.h>

/* Rows are looked through in so many pieces: what is highest in each says which of them need a closer look. */
enum { PIECES = 256 };

static float max_of(const float *restrict x, int64_t n)
{
    float highest = x[0];
#pragma omp simd reduction(max : highest)
    for (int64_t i = 0; i < n; i++)
        highest = x[i] > highest ? x[i] : highest;
    return highest;
}

/* Put number v among the best, if it belongs there: the best first; of equals, the earlier first. */
static void insert(float x, int64_t v, float *values, int64_t *indices, int64_t count)
{
    if (!(x > values[count - 1]))
        return;
    int64_t i = count - 1;
    for (; i > 0 && x > values[i - 1]; i--)
        values[i] = values[i - 1], indices[i] = indices[i - 1];
    values[i] = x, indices[i] = v;
}

static void clear(float *values, int64_t *indices, int64_t first, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = -INFINITY, indices[i] = first;
}

static int64_t piece_size(int64_t V, int64_t first)
{
    return (V - first + PIECES - 1) / PIECES;
}

/* The highest of each piece of x[first .. V); gives a number that `count` of them reach, and so the `count` highest of
   all. `values` and `indices` have room for `count`. */
static float reached_by(const float *x, float *tops, float *values, int64_t *indices, int64_t V, int64_t first,
                        int64_t count)
{
    const int64_t size = piece_size(V, first);
    clear(values, indices, first, count);
    for (int64_t from = first, p = 0; from < V; from += size, p++) {
        tops[p] = max_of(x + from, V - from < size ? V - from : size);
        insert(tops[p], p, values, indices, count);
    }
    return values[count - 1];
}

/* The `count` highest of x[first .. V), in their order, and where they are. */
static void top_k(const float *x, float *values, int64_t *indices, int64_t V, int64_t first, int64_t count)
{
    float tops[PIECES];
    const int64_t size = piece_size(V, first);
    const float least = reached_by(x, tops, values, indices, V, first, count);
    clear(values, indices, first, count);
    for (int64_t from = first, p = 0; from < V; from += size, p++)
        for (int64_t v = from; tops[p] >= least && v < from + size && v < V; v++)
            insert(x[v], v, values, indices, count);
}
