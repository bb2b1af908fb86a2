/*
 * Softmax cross-entropy of rows of logits, in place, for cross_entropy.py, which explains the formula.
 *
 * Each row of logits [rows][V] becomes the gradient of its own loss: softmax - smoothing / V, less 1 - smoothing at the
 * target. A row is read three times and stays in the cache meanwhile.
 */
#include <math.h>
#include <stdint.h>

#include "exponential.h"

/* The loss of one row, which becomes its gradient. */
static float one_row(float *restrict x, int64_t target, int64_t V, float toward, float away)
{
    float highest = x[0], total = 0, powers = 0;
#pragma omp simd reduction(max : highest) reduction(+ : total)
    for (int64_t v = 0; v < V; v++) {
        highest = x[v] > highest ? x[v] : highest;
        total += x[v];
    }
    const float wanted = x[target];
#pragma omp simd reduction(+ : powers)
    for (int64_t v = 0; v < V; v++) {
        const float power = exponential(x[v] - highest);
        x[v] = power;
        powers += power;
    }
    const float scale = 1 / powers;
#pragma omp simd
    for (int64_t v = 0; v < V; v++)
        x[v] = x[v] * scale - away;
    x[target] -= toward;
    return highest + logf(powers) - toward * wanted - away * total;
}

void cross_entropy(float *logits, const int64_t *targets, float *losses, int64_t rows, int64_t V, double smoothing,
                   int threads)
{
    const float toward = (float)(1 - smoothing), away = (float)(smoothing / (double)V);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t row = 0; row < rows; row++)
        losses[row] = one_row(logits + row * V, targets[row], V, toward, away);
}
