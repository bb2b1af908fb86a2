/*
 * The likeliest tokens of each row of logits, for best.py: log-softmax and top-k in one call, with nothing in between.
 * For logits that lie row by row, [R][V], and for those that lie token by token, [V][R].
 *
 * A Transformer's search for 64 sentences at a time with beam 5 is 1.2 times as fast as by topk and logsumexp, for one
 * sentence at a time, and of an RNN's, 1.0 to 1.1 times (python -m bench.kernels, two threads, AMD EPYC).
 */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "exp.h"
#include "top_k.h"

/* Below this many logits, waking other threads takes longer than doing the work. */
enum { SMALL = 1 << 14 };

static float sum_of_powers(const float *restrict x, int64_t n, float highest)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += exp_nonpositive(x[i] - highest);
    return sum;
}

/* The same for a row in which something is no number, or too few are finite: one by one, in the order of torch, NaN
   first. The numbers of the row lie `apart` from each other. Gives what to subtract from them: of an infinite row, the
   normaliser could not be computed in passing. */
static float best_of_odd_row(const float *x, int64_t apart, float normaliser, float *values, int64_t *tokens, int64_t V,
                             int64_t first, int64_t count)
{
    float highest = -INFINITY;
    int64_t found = 0, missing = 0;
    for (int64_t v = 0; v < V; v++) {
        const float now = x[v * apart];
        missing += isnan(now) != 0;
        highest = now > highest ? now : highest;
        if (v < first || (found == count && !(isnan(now) || now > values[count - 1])) ||
            (found == count && isnan(values[count - 1])))
            continue;
        int64_t i = found < count ? found++ : count - 1;
        for (; i > 0 && !isnan(values[i - 1]) && (isnan(now) || now > values[i - 1]); i--)
            values[i] = values[i - 1], tokens[i] = tokens[i - 1];
        values[i] = now, tokens[i] = v;
    }
    return missing ? NAN : isinf(highest) ? highest : normaliser;
}

static int is_odd(float normaliser, const float *values, int64_t count)
{
    return !isfinite(normaliser) || !isfinite(values[count - 1]);
}

/* The `count` best of x[first .. V). */
static void best_of_row(const float *x, float *values, int64_t *tokens, int64_t V, int64_t first, int64_t count)
{
    top_k(x, values, tokens, V, first, count);
    const float highest = max_of(x, V);
    float normaliser = highest + logf(sum_of_powers(x, V, highest));
    if (is_odd(normaliser, values, count))
        normaliser = best_of_odd_row(x, 1, normaliser, values, tokens, V, first, count);
    for (int64_t i = 0; i < count; i++)
        values[i] -= normaliser;
}

/* logits [R][V] -> log probabilities and tokens [R][count]. */
void best_tokens(const float *logits, float *values, int64_t *tokens, int64_t R, int64_t V, int64_t first,
                 int64_t count, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static) if (R * V > SMALL)
    for (int64_t row = 0; row < R; row++)
        best_of_row(logits + row * V, values + row * count, tokens + row * count, V, first, count);
}

/* So many rows go side by side through logits that lie token by token, and so many tokens at a time. */
enum { LANES = 16, TOKENS = 32 };

/* The best of n <= LANES neighbouring rows; x points to the first of them at token 0. The softmax is an online one. */
static void best_of_lanes(const float *x, float *values, int64_t *tokens, int64_t n, int64_t R, int64_t V,
                          int64_t first, int64_t count)
{
    float part[TOKENS][LANES] = {0}, highest[LANES], sum[LANES];
    for (int64_t l = 0; l < LANES; l++)
        highest[l] = -FLT_MAX, sum[l] = 0;
    for (int64_t l = 0; l < n; l++)
        clear(values + l * count, tokens + l * count, first, count);

    for (int64_t from = 0; from < V; from += TOKENS) {
        const int64_t here = V - from < TOKENS ? V - from : TOKENS;
        float top[LANES], fall[LANES];
        for (int64_t t = 0; t < here; t++)
            memcpy(part[t], x + (from + t) * R, n * sizeof(float));
        memcpy(top, part[0], sizeof top);
        for (int64_t t = 1; t < here; t++)
#pragma omp simd
            for (int64_t l = 0; l < LANES; l++)
                top[l] = part[t][l] > top[l] ? part[t][l] : top[l];
        for (int64_t l = 0; l < n; l++)
            if (top[l] > values[l * count + count - 1])
                for (int64_t t = from < first ? first - from : 0; t < here; t++)
                    insert(part[t][l], from + t, values + l * count, tokens + l * count, count);
#pragma omp simd
        for (int64_t l = 0; l < LANES; l++) {
            top[l] = top[l] > highest[l] ? top[l] : highest[l];
            fall[l] = highest[l] - top[l];
        }
#pragma omp simd
        for (int64_t l = 0; l < LANES; l++) {
            sum[l] *= exp_nonpositive(fall[l]);
            highest[l] = top[l];
        }
        float more[LANES] = {0}; /* not straight into the sum, which would lose digits */
        for (int64_t t = 0; t < here; t++)
#pragma omp simd
            for (int64_t l = 0; l < LANES; l++)
                more[l] += exp_nonpositive(part[t][l] - highest[l]);
        for (int64_t l = 0; l < LANES; l++)
            sum[l] += more[l];
    }
    for (int64_t l = 0; l < n; l++) {
        float normaliser = highest[l] + logf(sum[l]), *of_row = values + l * count;
        if (is_odd(normaliser, of_row, count))
            normaliser = best_of_odd_row(x + l, R, normaliser, of_row, tokens + l * count, V, first, count);
        for (int64_t i = 0; i < count; i++)
            of_row[i] -= normaliser;
    }
}

/* logits [V][R] -> log probabilities and tokens [R][count]. */
void best_tokens_by_token(const float *logits, float *values, int64_t *tokens, int64_t R, int64_t V, int64_t first,
                          int64_t count, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static) if (R * V > SMALL)
    for (int64_t row = 0; row < R; row += LANES)
        best_of_lanes(logits + row, values + row * count, tokens + row * count, R - row < LANES ? R - row : LANES, R, V,
                      first, count);
}
