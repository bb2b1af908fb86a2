/*
 * One step of the heads of a Neural Turing Machine, forward and backward, for turing_step.py, which has the formulas
 * in torch's operations. REAL is float or double, set by the compiler's command line.
 *
 * Each sequence of the batch is one piece of work. Its row of `told` holds, before the functions that keep them within
 * their bounds: keys [H][M], strengths [H], gates [H], offsets [H][K], powers [H], erasures [W][M], additions [W][M].
 * What the way back needs of each head is kept in [B][H][4][N]: cosines, content weights, moved weights, their logarithms.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "exponential.h"

#define ROOT(x) ((REAL)(sizeof(REAL) == sizeof(float) ? sqrtf((float)(x)) : sqrt((double)(x))))
#define LOG(x) ((REAL)(sizeof(REAL) == sizeof(float) ? logf((float)(x)) : log((double)(x))))
#define TANH(x) ((REAL)(sizeof(REAL) == sizeof(float) ? tanhf((float)(x)) : tanh((double)(x))))
#define EXP(x) ((REAL)(sizeof(REAL) == sizeof(float) ? exponential((float)(x)) : exp((double)(x)))) /* of x <= 0 */

/* As torch has it: no norm is below this, and no weight whose logarithm is taken. */
static const REAL TINY = (REAL)1e-12;

typedef struct {
    int64_t N, M, R, W, K, H, P;                            /* P: numbers of a row of told */
    int64_t strength, gate, offsets, power, erase, add;     /* where they begin in it */
} Sizes;

static Sizes sizes_of(int64_t N, int64_t M, int64_t R, int64_t W, int64_t K)
{
    Sizes z = {.N = N, .M = M, .R = R, .W = W, .K = K, .H = R + W};
    z.strength = z.H * M;
    z.gate = z.strength + z.H;
    z.offsets = z.gate + z.H;
    z.power = z.offsets + z.H * K;
    z.erase = z.power + z.H;
    z.add = z.erase + W * M;
    z.P = z.add + W * M;
    return z;
}

static inline REAL sigmoid(REAL x)
{
    const REAL power = EXP(x < 0 ? x : -x);
    return x < 0 ? power / (1 + power) : 1 / (1 + power);
}

static inline REAL softplus(REAL x)
{
    return (x > 0 ? x : 0) + LOG(1 + EXP(x < 0 ? x : -x));
}

static void softmax(REAL *restrict x, int64_t count)
{
    REAL highest = x[0], total = 0;
    for (int64_t i = 1; i < count; i++)
        highest = x[i] > highest ? x[i] : highest;
#pragma omp simd reduction(+ : total)
    for (int64_t i = 0; i < count; i++) {
        x[i] = EXP(x[i] - highest);
        total += x[i];
    }
    const REAL scale = 1 / total;
    for (int64_t i = 0; i < count; i++)
        x[i] *= scale;
}

/* out = the gradient before a softmax, from that after it and its result p. */
static void softmax_backward(const REAL *restrict p, const REAL *restrict gradient, REAL *restrict out, int64_t count)
{
    REAL mean = 0;
#pragma omp simd reduction(+ : mean)
    for (int64_t i = 0; i < count; i++)
        mean += p[i] * gradient[i];
    for (int64_t i = 0; i < count; i++)
        out[i] = p[i] * (gradient[i] - mean);
}

static inline REAL dot(const REAL *a, const REAL *b, int64_t count)
{
    REAL sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static inline void add_scaled(REAL *restrict to, const REAL *restrict from, REAL scale, int64_t count)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++)
        to[i] += scale * from[i];
}

/* to[i] += scale * from[i - by], around a ring; by may be any whole number. */
static void add_moved(REAL *restrict to, const REAL *restrict from, REAL scale, int64_t by, int64_t count)
{
    by = (by % count + count) % count;
    add_scaled(to + by, from, scale, count - by);
    add_scaled(to, from + count - by, scale, by);
}

/* Not longer than the limit, if there is one. */
static void cut(REAL *x, int64_t count, REAL limit)
{
    const REAL squares = limit > 0 ? dot(x, x, count) : 0;
    if (squares <= limit * limit)
        return;
    const REAL scale = limit / ROOT(squares);
    for (int64_t i = 0; i < count; i++)
        x[i] *= scale;
}

/* What a row of told says, within its bounds; and one over the norm of each key and each location. */
static void within_bounds(const Sizes *z, const REAL *restrict told, const REAL *restrict memory, REAL *restrict bound,
                          REAL *restrict key_scale, REAL *restrict location_scale)
{
    for (int64_t i = 0; i < z->strength; i++)
        bound[i] = TANH(told[i]);
    for (int64_t i = z->strength; i < z->gate; i++)
        bound[i] = softplus(told[i]);
    for (int64_t i = z->gate; i < z->offsets; i++)
        bound[i] = sigmoid(told[i]);
    for (int64_t i = z->offsets; i < z->power; i++)
        bound[i] = told[i];
    for (int64_t h = 0; h < z->H; h++)
        softmax(bound + z->offsets + h * z->K, z->K);
    for (int64_t i = z->power; i < z->erase; i++)
        bound[i] = 1 + softplus(told[i]);
    for (int64_t i = z->erase; i < z->add; i++)
        bound[i] = sigmoid(told[i]);
    for (int64_t i = z->add; i < z->P; i++)
        bound[i] = TANH(told[i]);
    for (int64_t h = 0; h < z->H; h++) {
        const REAL norm = ROOT(dot(bound + h * z->M, bound + h * z->M, z->M));
        key_scale[h] = 1 / (norm > TINY ? norm : TINY);
    }
    for (int64_t i = 0; i < z->N; i++) {
        const REAL norm = ROOT(dot(memory + i * z->M, memory + i * z->M, z->M));
        location_scale[i] = 1 / (norm > TINY ? norm : TINY);
    }
}

void turing_forward(const REAL *restrict all_memory, const REAL *restrict all_last, const REAL *restrict all_told,
                    REAL *restrict all_weights, REAL *restrict all_reads, REAL *restrict all_next,
                    REAL *restrict all_kept, int64_t B, int64_t N, int64_t M, int64_t R, int64_t W, int64_t K,
                    int threads)
{
    const Sizes z = sizes_of(N, M, R, W, K);
#pragma omp parallel for num_threads(threads) schedule(static) if (B > 1)
    for (int64_t b = 0; b < B; b++) {
        const REAL *memory = all_memory + b * N * M;
        REAL *bound = malloc(sizeof(REAL) * (size_t)(z.P + z.H + N));
        REAL *key_scale = bound + z.P, *location_scale = key_scale + z.H;
        within_bounds(&z, all_told + b * z.P, memory, bound, key_scale, location_scale);
        REAL *next = all_next + b * N * M;
        memcpy(next, memory, sizeof(REAL) * (size_t)(N * M));
        for (int64_t h = 0; h < z.H; h++) {
            const REAL *last = all_last + (b * z.H + h) * N, *key = bound + h * M;
            REAL *cosine = all_kept + (b * z.H + h) * 4 * N, *content = cosine + N, *moved = content + N;
            REAL *logarithm = moved + N, *weights = all_weights + (b * z.H + h) * N;
            const REAL strength = bound[z.strength + h], gate = bound[z.gate + h], power = bound[z.power + h];
            for (int64_t i = 0; i < N; i++) {
                cosine[i] = dot(key, memory + i * M, M) * key_scale[h] * location_scale[i];
                content[i] = strength * cosine[i];
                moved[i] = 0;
            }
            softmax(content, N);
            for (int64_t i = 0; i < N; i++)
                weights[i] = gate * content[i] + (1 - gate) * last[i]; /* only for a while */
            for (int64_t k = 0; k < K; k++)
                add_moved(moved, weights, bound[z.offsets + h * K + k], k - K / 2, N);
            for (int64_t i = 0; i < N; i++) {
                logarithm[i] = LOG(moved[i] < TINY ? TINY : moved[i]); /* NaN stays NaN */
                weights[i] = power * logarithm[i];
            }
            softmax(weights, N);
            if (h < R) {
                REAL *read = all_reads + (b * R + h) * M;
                for (int64_t m = 0; m < M; m++)
                    read[m] = 0;
                for (int64_t i = 0; i < N; i++)
                    add_scaled(read, memory + i * M, weights[i], M);
                continue;
            }
            const REAL *erase = bound + z.erase + (h - R) * M;
            for (int64_t i = 0; i < N; i++)
#pragma omp simd
                for (int64_t m = 0; m < M; m++)
                    next[i * M + m] *= 1 - weights[i] * erase[m];
        }
        /* additions come after all erasures, so that no head erases what another adds */
        for (int64_t h = R; h < z.H; h++)
            for (int64_t i = 0; i < N; i++)
                add_scaled(next + i * M, bound + z.add + (h - R) * M, all_weights[(b * z.H + h) * N + i], M);
        free(bound);
    }
}

/*
 * The gradients of memory, last weights and told, from those of weights, reads and the next memory, any of which may be
 * missing (NULL). The chain rule, from the last line of turing_forward to its first. With a limit above 0, what goes to
 * the step before is cut to it: the gradient of a sequence's weights, and that of its memory.
 */
void turing_backward(const REAL *restrict all_memory, const REAL *restrict all_last, const REAL *restrict all_told,
                     const REAL *restrict all_weights, const REAL *restrict all_kept, const REAL *restrict from_weights,
                     const REAL *restrict from_reads, const REAL *restrict from_next, REAL *restrict to_memory,
                     REAL *restrict to_last, REAL *restrict to_told, int64_t B, int64_t N, int64_t M, int64_t R,
                     int64_t W, int64_t K, double limit, int threads)
{
    const Sizes z = sizes_of(N, M, R, W, K);
#pragma omp parallel for num_threads(threads) schedule(static) if (B > 1)
    for (int64_t b = 0; b < B; b++) {
        const REAL *memory = all_memory + b * N * M, *told = all_told + b * z.P, *of_next = NULL;
        REAL *bound = malloc(sizeof(REAL) * (size_t)(2 * z.P + z.H + 4 * N + M));
        REAL *key_scale = bound + z.P, *location_scale = key_scale + z.H, *slope = location_scale + N, *slope_too = slope + N;
        REAL *mixed = slope_too + N, *rest = mixed + N, *to_bound = rest + M;
        REAL *g_memory = to_memory + b * N * M;
        within_bounds(&z, told, memory, bound, key_scale, location_scale);
        for (int64_t p = 0; p < z.P; p++)
            to_bound[p] = 0;
        for (int64_t i = 0; i < N * M; i++)
            g_memory[i] = 0;
        if (from_next != NULL) {
            of_next = from_next + b * N * M;
            for (int64_t i = 0; i < N; i++) {
                for (int64_t m = 0; m < M; m++)
                    rest[m] = of_next[i * M + m];
                for (int64_t h = R; h < z.H; h++) {
                    const REAL weight = all_weights[(b * z.H + h) * N + i], *erase = bound + z.erase + (h - R) * M;
                    for (int64_t m = 0; m < M; m++)
                        rest[m] *= 1 - weight * erase[m];
                }
                add_scaled(g_memory + i * M, rest, 1, M);
            }
        }
        for (int64_t h = 0; h < z.H; h++) {
            const int64_t row = (b * z.H + h) * N;
            const REAL *weights = all_weights + row, *last = all_last + row, *key = bound + h * M;
            const REAL *cosine = all_kept + row * 4, *content = cosine + N, *moved = content + N, *logarithm = moved + N;
            const REAL strength = bound[z.strength + h], gate = bound[z.gate + h], power = bound[z.power + h];
            for (int64_t i = 0; i < N; i++)
                slope[i] = from_weights == NULL ? 0 : from_weights[row + i];

            /* through what was done with the weights */
            if (h < R && from_reads != NULL) {
                const REAL *of_read = from_reads + (b * R + h) * M;
                for (int64_t i = 0; i < N; i++) {
                    slope[i] += dot(of_read, memory + i * M, M);
                    add_scaled(g_memory + i * M, of_read, weights[i], M);
                }
            }
            if (h >= R && of_next != NULL) {
                const REAL *erase = bound + z.erase + (h - R) * M, *add = bound + z.add + (h - R) * M;
                REAL *to_erase = to_bound + z.erase + (h - R) * M, *to_add = to_bound + z.add + (h - R) * M;
                for (int64_t i = 0; i < N; i++) {
                    for (int64_t m = 0; m < M; m++) /* what the other heads left of the memory, times its gradient */
                        rest[m] = of_next[i * M + m] * memory[i * M + m];
                    for (int64_t other = R; other < z.H; other++)
                        if (other != h) {
                            const REAL weight = all_weights[(b * z.H + other) * N + i];
                            for (int64_t m = 0; m < M; m++)
                                rest[m] *= 1 - weight * bound[z.erase + (other - R) * M + m];
                        }
                    slope[i] += dot(of_next + i * M, add, M) - dot(rest, erase, M);
                    add_scaled(to_add, of_next + i * M, weights[i], M);
                    add_scaled(to_erase, rest, -weights[i], M);
                }
            }

            /* sharpening, shift, interpolation */
            softmax_backward(weights, slope, slope_too, N);
            to_bound[z.power + h] = dot(slope_too, logarithm, N);
            for (int64_t i = 0; i < N; i++) {
                slope_too[i] = moved[i] >= TINY ? power * slope_too[i] / moved[i] : 0;
                mixed[i] = gate * content[i] + (1 - gate) * last[i];
                slope[i] = 0;
            }
            for (int64_t k = 0; k < K; k++) {
                const int64_t by = ((k - K / 2) % N + N) % N;
                to_bound[z.offsets + h * K + k] =
                    dot(slope_too + by, mixed, N - by) + dot(slope_too, mixed + N - by, by);
                add_moved(slope, slope_too, bound[z.offsets + h * K + k], -by, N);
            }
            REAL to_gate = 0;
            for (int64_t i = 0; i < N; i++) {
                to_gate += slope[i] * (content[i] - last[i]);
                to_last[row + i] = (1 - gate) * slope[i];
                slope[i] *= gate;
            }
            to_bound[z.gate + h] = to_gate;

            /* the content */
            softmax_backward(content, slope, slope_too, N);
            to_bound[z.strength + h] = dot(slope_too, cosine, N);
            REAL along_key = 0;
            for (int64_t i = 0; i < N; i++) {
                const REAL of_cosine = strength * slope_too[i], scale = of_cosine * key_scale[h] * location_scale[i];
                add_scaled(to_bound + h * M, memory + i * M, scale, M);
                add_scaled(g_memory + i * M, key, scale, M);
                /* a norm that was too small to divide by stood still */
                if (location_scale[i] * TINY < 1)
                    add_scaled(g_memory + i * M, memory + i * M, -of_cosine * cosine[i] * location_scale[i] * location_scale[i], M);
                along_key += of_cosine * cosine[i];
            }
            if (key_scale[h] * TINY < 1)
                add_scaled(to_bound + h * M, key, -along_key * key_scale[h] * key_scale[h], M);
        }

        cut(g_memory, N * M, (REAL)limit);
        cut(to_last + b * z.H * N, z.H * N, (REAL)limit);

        /* through the bounds */
        REAL *out = to_told + b * z.P;
        for (int64_t i = 0; i < z.strength; i++)
            out[i] = to_bound[i] * (1 - bound[i] * bound[i]);
        for (int64_t i = z.strength; i < z.gate; i++)
            out[i] = to_bound[i] * sigmoid(told[i]);
        for (int64_t i = z.gate; i < z.offsets; i++)
            out[i] = to_bound[i] * bound[i] * (1 - bound[i]);
        for (int64_t h = 0; h < z.H; h++)
            softmax_backward(bound + z.offsets + h * K, to_bound + z.offsets + h * K, out + z.offsets + h * K, K);
        for (int64_t i = z.power; i < z.erase; i++)
            out[i] = to_bound[i] * sigmoid(told[i]);
        for (int64_t i = z.erase; i < z.add; i++)
            out[i] = to_bound[i] * bound[i] * (1 - bound[i]);
        for (int64_t i = z.add; i < z.P; i++)
            out[i] = to_bound[i] * (1 - bound[i] * bound[i]);
        free(bound);
    }
}
