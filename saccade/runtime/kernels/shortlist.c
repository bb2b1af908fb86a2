/* Of a product that is nearly right, the top k outputs of each row exactly, for shortlist.py.

   A search of an RNN of 512 units over 10,000 words is 1.7 times as fast as by nn.Linear
   (python -m bench.kernels, two threads, AMD EPYC). */
#include "small_linear.h"
#include "top_k.h"

/* Below this many outputs, waking other threads takes longer than doing the work. */
enum { FEW = 1 << 14 };

static float exact(const float *x, const float *w, const float *b, int64_t in, int64_t o)
{
    return dot(x, w + o * in, in) + (b ? b[o] : 0);
}

/* out [R][outputs] is x w^T + b to within slack * scales[r] / 2 in row r. What may be among the `count` highest of its
   row is computed anew, and so are the outputs [0 .. always) in any case. `values` and `indices`, [R][count], are
   workspace. A comparison with NaN counts as "may be". */
void refine_top_k(const float *x, const float *w, const float *b, const float *scales, float *out, float *values,
                    int64_t *indices, int64_t R, int64_t in, int64_t outputs, int64_t count, int64_t always,
                    double slack, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static) if (R * outputs > FEW)
    for (int64_t r = 0; r < R; r++) {
        float *row = out + r * outputs, tops[PIECES];
        const float least = reached_by(row, tops, values + r * count, indices + r * count, outputs, 0, count) -
                            (float)slack * scales[r];
        const int64_t size = piece_size(outputs, 0);
        for (int64_t from = 0, p = 0; from < outputs; from += size, p++)
            for (int64_t o = from; !(tops[p] < least) && o < from + size && o < outputs; o++)
                if (!(row[o] < least))
                    row[o] = exact(x + r * in, w, b, in, o);
        for (int64_t o = 0; o < always && o < outputs; o++)
            row[o] = exact(x + r * in, w, b, in, o);
    }
}
