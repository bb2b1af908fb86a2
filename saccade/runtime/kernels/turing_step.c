/*
 * One step of the heads of a Neural Turing Machine, forward and backward, for turing_step.py, which has the formulas
 * in torch's operations. REAL is float or double, set by the compiler's command line.
 *
 * Each sequence of the batch is one piece of work. Its row of `raw` holds the head parameters before their activations:
 * keys [H][M], betas [H], gates [H], offsets [H][K], gammas [H], erasures [W][M], additions [W][M].
 * What the backward pass needs of each head is saved in [B][H][4][N]: cosines, content weights, shifted weights, their
 * logarithms.
 *
 * Whole trainings of a Neural Turing Machine are 2.7 times as fast as by torch's operations
 * (python -m bench.kernels, two threads, AMD EPYC).
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "exp.h"

#define ROOT(x) ((REAL)(sizeof(REAL) == sizeof(float) ? sqrtf((float)(x)) : sqrt((double)(x))))
#define LOG(x) ((REAL)(sizeof(REAL) == sizeof(float) ? logf((float)(x)) : log((double)(x))))
#define TANH(x) ((REAL)(sizeof(REAL) == sizeof(float) ? tanhf((float)(x)) : tanh((double)(x))))
#define EXP(x) ((REAL)(sizeof(REAL) == sizeof(float) ? exp_nonpositive((float)(x)) : exp((double)(x)))) /* of x <= 0 */

/* As torch has it: no norm is below this, and no weight whose logarithm is taken. */
static const REAL TINY = (REAL)1e-12;

typedef struct {
    int64_t N, M, R, W, K, H, P;                    /* P: numbers of a row of raw head parameters */
    int64_t beta, gate, offsets, gamma, erase, add; /* where they begin in it */
} Sizes;

static Sizes sizes_of(int64_t N, int64_t M, int64_t R, int64_t W, int64_t K)
{
    Sizes z = {.N = N, .M = M, .R = R, .W = W, .K = K, .H = R + W};
    z.beta = z.H * M;
    z.gate = z.beta + z.H;
    z.offsets = z.gate + z.H;
    z.gamma = z.offsets + z.H * K;
    z.erase = z.gamma + z.H;
    z.add = z.erase + W * M;
    z.P = z.add + W * M;
    return z;
}

static inline REAL sigmoid(REAL x)
{
    const REAL e = EXP(x < 0 ? x : -x);
    return x < 0 ? e / (1 + e) : 1 / (1 + e);
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

/* A row of head parameters after their activations; and one over the norm of each key and each location. */
static void activate(const Sizes *z, const REAL *restrict raw, const REAL *restrict memory, REAL *restrict parameters,
                          REAL *restrict key_scale, REAL *restrict location_scale)
{
    for (int64_t i = 0; i < z->beta; i++)
        parameters[i] = TANH(raw[i]);
    for (int64_t i = z->beta; i < z->gate; i++)
        parameters[i] = softplus(raw[i]);
    for (int64_t i = z->gate; i < z->offsets; i++)
        parameters[i] = sigmoid(raw[i]);
    for (int64_t i = z->offsets; i < z->gamma; i++)
        parameters[i] = raw[i];
    for (int64_t h = 0; h < z->H; h++)
        softmax(parameters + z->offsets + h * z->K, z->K);
    for (int64_t i = z->gamma; i < z->erase; i++)
        parameters[i] = 1 + softplus(raw[i]);
    for (int64_t i = z->erase; i < z->add; i++)
        parameters[i] = sigmoid(raw[i]);
    for (int64_t i = z->add; i < z->P; i++)
        parameters[i] = TANH(raw[i]);
    for (int64_t h = 0; h < z->H; h++) {
        const REAL norm = ROOT(dot(parameters + h * z->M, parameters + h * z->M, z->M));
        key_scale[h] = 1 / (norm > TINY ? norm : TINY);
    }
    for (int64_t i = 0; i < z->N; i++) {
        const REAL norm = ROOT(dot(memory + i * z->M, memory + i * z->M, z->M));
        location_scale[i] = 1 / (norm > TINY ? norm : TINY);
    }
}

void turing_forward(const REAL *restrict all_memory, const REAL *restrict all_last, const REAL *restrict all_raw,
                    REAL *restrict all_weights, REAL *restrict all_reads, REAL *restrict all_next,
                    REAL *restrict all_saved, int64_t B, int64_t N, int64_t M, int64_t R, int64_t W, int64_t K,
                    int threads)
{
    const Sizes z = sizes_of(N, M, R, W, K);
#pragma omp parallel for num_threads(threads) schedule(static) if (B > 1)
    for (int64_t b = 0; b < B; b++) {
        const REAL *memory = all_memory + b * N * M;
        REAL *parameters = malloc(sizeof(REAL) * (size_t)(z.P + z.H + N));
        REAL *key_scale = parameters + z.P, *location_scale = key_scale + z.H;
        activate(&z, all_raw + b * z.P, memory, parameters, key_scale, location_scale);
        REAL *next = all_next + b * N * M;
        memcpy(next, memory, sizeof(REAL) * (size_t)(N * M));
        for (int64_t h = 0; h < z.H; h++) {
            const REAL *last = all_last + (b * z.H + h) * N, *key = parameters + h * M;
            REAL *cosine = all_saved + (b * z.H + h) * 4 * N, *content = cosine + N, *shifted = content + N;
            REAL *logarithm = shifted + N, *weights = all_weights + (b * z.H + h) * N;
            const REAL beta = parameters[z.beta + h], gate = parameters[z.gate + h], gamma = parameters[z.gamma + h];
            for (int64_t i = 0; i < N; i++) {
                cosine[i] = dot(key, memory + i * M, M) * key_scale[h] * location_scale[i];
                content[i] = beta * cosine[i];
                shifted[i] = 0;
            }
            softmax(content, N);
            for (int64_t i = 0; i < N; i++)
                weights[i] = gate * content[i] + (1 - gate) * last[i]; /* only for a while */
            for (int64_t k = 0; k < K; k++)
                add_moved(shifted, weights, parameters[z.offsets + h * K + k], k - K / 2, N);
            for (int64_t i = 0; i < N; i++) {
                logarithm[i] = LOG(shifted[i] < TINY ? TINY : shifted[i]); /* NaN stays NaN */
                weights[i] = gamma * logarithm[i];
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
            const REAL *erase = parameters + z.erase + (h - R) * M;
            for (int64_t i = 0; i < N; i++)
#pragma omp simd
                for (int64_t m = 0; m < M; m++)
                    next[i * M + m] *= 1 - weights[i] * erase[m];
        }
        /* additions come after all erasures, so that no head erases what another adds */
        for (int64_t h = R; h < z.H; h++)
            for (int64_t i = 0; i < N; i++)
                add_scaled(next + i * M, parameters + z.add + (h - R) * M, all_weights[(b * z.H + h) * N + i], M);
        free(parameters);
    }
}

/*
 * The gradients of memory, last weights and raw head parameters, from those of weights, reads and the next memory, any
 * of which may be missing (NULL). The chain rule, from the last line of turing_forward to its first. With a limit above
 * 0, what goes to the step before is cut to it: the gradient of a sequence's weights, and that of its memory.
 */
void turing_backward(const REAL *restrict all_memory, const REAL *restrict all_last, const REAL *restrict all_raw,
                     const REAL *restrict all_weights, const REAL *restrict all_saved,
                     const REAL *restrict grad_weights, const REAL *restrict grad_reads,
                     const REAL *restrict grad_next, REAL *restrict grad_memory, REAL *restrict grad_last,
                     REAL *restrict grad_raw, int64_t B, int64_t N, int64_t M, int64_t R, int64_t W, int64_t K,
                     double limit, int threads)
{
    const Sizes z = sizes_of(N, M, R, W, K);
#pragma omp parallel for num_threads(threads) schedule(static) if (B > 1)
    for (int64_t b = 0; b < B; b++) {
        const REAL *memory = all_memory + b * N * M, *raw = all_raw + b * z.P, *g_next = NULL;
        REAL *parameters = malloc(sizeof(REAL) * (size_t)(2 * z.P + z.H + 4 * N + M));
        REAL *key_scale = parameters + z.P, *location_scale = key_scale + z.H, *slope = location_scale + N;
        REAL *slope_before = slope + N, *mixed = slope_before + N, *rest = mixed + N, *grad_parameters = rest + M;
        REAL *g_memory = grad_memory + b * N * M;
        activate(&z, raw, memory, parameters, key_scale, location_scale);
        for (int64_t p = 0; p < z.P; p++)
            grad_parameters[p] = 0;
        for (int64_t i = 0; i < N * M; i++)
            g_memory[i] = 0;
        if (grad_next != NULL) {
            g_next = grad_next + b * N * M;
            for (int64_t i = 0; i < N; i++) {
                for (int64_t m = 0; m < M; m++)
                    rest[m] = g_next[i * M + m];
                for (int64_t h = R; h < z.H; h++) {
                    const REAL weight = all_weights[(b * z.H + h) * N + i], *erase = parameters + z.erase + (h - R) * M;
                    for (int64_t m = 0; m < M; m++)
                        rest[m] *= 1 - weight * erase[m];
                }
                add_scaled(g_memory + i * M, rest, 1, M);
            }
        }
        for (int64_t h = 0; h < z.H; h++) {
            const int64_t row = (b * z.H + h) * N;
            const REAL *weights = all_weights + row, *last = all_last + row, *key = parameters + h * M;
            const REAL *cosine = all_saved + row * 4, *content = cosine + N, *shifted = content + N;
            const REAL *logarithm = shifted + N;
            const REAL beta = parameters[z.beta + h], gate = parameters[z.gate + h], gamma = parameters[z.gamma + h];
            for (int64_t i = 0; i < N; i++)
                slope[i] = grad_weights == NULL ? 0 : grad_weights[row + i];

            /* through what was done with the weights */
            if (h < R && grad_reads != NULL) {
                const REAL *g_read = grad_reads + (b * R + h) * M;
                for (int64_t i = 0; i < N; i++) {
                    slope[i] += dot(g_read, memory + i * M, M);
                    add_scaled(g_memory + i * M, g_read, weights[i], M);
                }
            }
            if (h >= R && g_next != NULL) {
                const REAL *erase = parameters + z.erase + (h - R) * M, *add = parameters + z.add + (h - R) * M;
                REAL *grad_erase = grad_parameters + z.erase + (h - R) * M;
                REAL *grad_add = grad_parameters + z.add + (h - R) * M;
                for (int64_t i = 0; i < N; i++) {
                    for (int64_t m = 0; m < M; m++) /* what the other heads left of the memory, times its gradient */
                        rest[m] = g_next[i * M + m] * memory[i * M + m];
                    for (int64_t other = R; other < z.H; other++)
                        if (other != h) {
                            const REAL weight = all_weights[(b * z.H + other) * N + i];
                            for (int64_t m = 0; m < M; m++)
                                rest[m] *= 1 - weight * parameters[z.erase + (other - R) * M + m];
                        }
                    slope[i] += dot(g_next + i * M, add, M) - dot(rest, erase, M);
                    add_scaled(grad_add, g_next + i * M, weights[i], M);
                    add_scaled(grad_erase, rest, -weights[i], M);
                }
            }

            /* sharpening, shift, interpolation */
            softmax_backward(weights, slope, slope_before, N);
            grad_parameters[z.gamma + h] = dot(slope_before, logarithm, N);
            for (int64_t i = 0; i < N; i++) {
                slope_before[i] = shifted[i] >= TINY ? gamma * slope_before[i] / shifted[i] : 0;
                mixed[i] = gate * content[i] + (1 - gate) * last[i];
                slope[i] = 0;
            }
            for (int64_t k = 0; k < K; k++) {
                const int64_t by = ((k - K / 2) % N + N) % N;
                grad_parameters[z.offsets + h * K + k] =
                    dot(slope_before + by, mixed, N - by) + dot(slope_before, mixed + N - by, by);
                add_moved(slope, slope_before, parameters[z.offsets + h * K + k], -by, N);
            }
            REAL grad_gate = 0;
            for (int64_t i = 0; i < N; i++) {
                grad_gate += slope[i] * (content[i] - last[i]);
                grad_last[row + i] = (1 - gate) * slope[i];
                slope[i] *= gate;
            }
            grad_parameters[z.gate + h] = grad_gate;

            /* the content */
            softmax_backward(content, slope, slope_before, N);
            grad_parameters[z.beta + h] = dot(slope_before, cosine, N);
            REAL along_key = 0;
            for (int64_t i = 0; i < N; i++) {
                const REAL g_cosine = beta * slope_before[i], scale = g_cosine * key_scale[h] * location_scale[i];
                add_scaled(grad_parameters + h * M, memory + i * M, scale, M);
                add_scaled(g_memory + i * M, key, scale, M);
                /* a norm that was too small to divide by stood still */
                if (location_scale[i] * TINY < 1)
                    add_scaled(g_memory + i * M, memory + i * M,
                               -g_cosine * cosine[i] * location_scale[i] * location_scale[i], M);
                along_key += g_cosine * cosine[i];
            }
            if (key_scale[h] * TINY < 1)
                add_scaled(grad_parameters + h * M, key, -along_key * key_scale[h] * key_scale[h], M);
        }

        cut(g_memory, N * M, (REAL)limit);
        cut(grad_last + b * z.H * N, z.H * N, (REAL)limit);

        /* through the activations */
        REAL *out = grad_raw + b * z.P;
        for (int64_t i = 0; i < z.beta; i++)
            out[i] = grad_parameters[i] * (1 - parameters[i] * parameters[i]);
        for (int64_t i = z.beta; i < z.gate; i++)
            out[i] = grad_parameters[i] * sigmoid(raw[i]);
        for (int64_t i = z.gate; i < z.offsets; i++)
            out[i] = grad_parameters[i] * parameters[i] * (1 - parameters[i]);
        for (int64_t h = 0; h < z.H; h++)
            softmax_backward(parameters + z.offsets + h * K, grad_parameters + z.offsets + h * K,
                             out + z.offsets + h * K, K);
        for (int64_t i = z.gamma; i < z.erase; i++)
            out[i] = grad_parameters[i] * sigmoid(raw[i]);
        for (int64_t i = z.erase; i < z.add; i++)
            out[i] = grad_parameters[i] * parameters[i] * (1 - parameters[i]);
        for (int64_t i = z.add; i < z.P; i++)
            out[i] = grad_parameters[i] * (1 - parameters[i] * parameters[i]);
        free(parameters);
    }
}
