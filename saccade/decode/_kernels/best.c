/*
 * The likeliest tokens of each row of logits, for best.py: log-softmax and top-k in one call, with nothing in between.
 */
#include <math.h>
#include <stdint.h>

#include "exponential.h"

/* So many neighbours are passed over at once, if none of them is among the best. */
enum { BLOCK = 64 };

static float highest_of(const float *restrict x, int64_t n)
{
    float highest = x[0];
#pragma omp simd reduction(max : highest)
    for (int64_t i = 0; i < n; i++)
        highest = x[i] > highest ? x[i] : highest;
    return highest;
}

static float sum_of_powers(const float *restrict x, int64_t n, float highest)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += exponential(x[i] - highest);
    return sum;
}

/* The `count` best of x[first .. V), the best first; of equals, the earlier first. */
static void best_of_row(const float *x, float *values, int64_t *tokens, int64_t V, int64_t first, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = -INFINITY, tokens[i] = first;
    for (int64_t from = first; from < V; from += BLOCK) {
        const int64_t to = from + BLOCK < V ? from + BLOCK : V;
        if (!(highest_of(x + from, to - from) > values[count - 1]))
            continue;
        for (int64_t v = from; v < to; v++) {
            if (!(x[v] > values[count - 1]))
                continue;
            int64_t place = count - 1;
            for (; place > 0 && x[v] > values[place - 1]; place--)
                values[place] = values[place - 1], tokens[place] = tokens[place - 1];
            values[place] = x[v], tokens[place] = v;
        }
    }
    const float highest = highest_of(x, V);
    const float normaliser = highest + logf(sum_of_powers(x, V, highest));
    for (int64_t i = 0; i < count; i++)
        values[i] -= normaliser;
}

/* logits [R][V] -> log probabilities and tokens [R][count]. */
void best_tokens(const float *logits, float *values, int64_t *tokens, int64_t R, int64_t V, int64_t first,
                 int64_t count, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t row = 0; row < R; row++)
        best_of_row(logits + row * V, values + row * count, tokens + row * count, V, first, count);
}
