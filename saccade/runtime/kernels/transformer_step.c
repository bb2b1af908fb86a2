/*
 * One step of a Transformer decoder for a few sequences, for transformer_steps.py, and its encoder for short inputs,
 * for fused_encoder.py, which explain what is computed and have the same in torch's operations. For so little work, calling
 * an operation costs more than the operation; here is one call for all layers.
 *
 * Letters as there: N sentences, K sequences of each, R = N K rows, S source items, C positions of the cache, D dim,
 * L layers, H heads, F the inner size of the feed-forward part.
 *
 * A search for one sentence at a time with beam 5 is 1.7 times as fast as by torch's operations
 * (python -m bench.kernels, two threads, AMD EPYC).
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "small_linear.h"

/* The tensors of a layer, in the order of LayerWeights; a matrix or a norm is its weight and its bias. */
enum { SELF_NORM, QKV = 2, SELF_OUTPUT = 4, CROSS_NORM = 6, CROSS_QUERY = 8, CROSS_OUTPUT = 10, FEED_FORWARD_NORM = 12,
       INNER = 14, OUTER = 16, TENSORS = 18 };

/* The same of an encoder's layer, in the order of EncoderWeights. */
enum { ENCODER_FEED_FORWARD_NORM = 6, ENCODER_INNER = 8, ENCODER_OUTER = 10, ENCODER_TENSORS = 12 };

/* out may be x. */
static void norm(const float *x, const float *restrict w, const float *restrict b, float *out, int64_t R, int64_t D,
                 float eps)
{
    for (int64_t r = 0; r < R; r++, x += D, out += D) {
        float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < D; i++)
            sum += x[i];
        const float mean = sum / (float)D;
#pragma omp simd reduction(+ : squares)
        for (int64_t i = 0; i < D; i++)
            squares += (x[i] - mean) * (x[i] - mean);
        const float scale = 1 / sqrtf(squares / (float)D + eps);
#pragma omp simd
        for (int64_t i = 0; i < D; i++)
            out[i] = (x[i] - mean) * scale * w[i] + b[i];
    }
}

/* One query of one head: out = softmax(scale q . keys + mask) values, zeros if it may look nowhere; the mask may be
   missing. */
static void attend(const float *restrict q, const float *restrict keys, const float *restrict values,
                   const float *restrict mask, float *restrict weights, float *restrict out, int64_t items,
                   int64_t size, float scale)
{
    float highest = -INFINITY, sum = 0;
    for (int64_t s = 0; s < items; s++) {
        weights[s] = mask ? mask[s] : 0;
        if (weights[s] != -INFINITY) {
            weights[s] += scale * dot(q, keys + s * size, size);
            highest = weights[s] > highest ? weights[s] : highest;
        }
    }
    for (int64_t i = 0; i < size; i++)
        out[i] = 0;
    for (int64_t s = 0; s < items; s++) {
        if (weights[s] == -INFINITY)
            continue;
        const float weight = expf(weights[s] - highest);
        sum += weight;
#pragma omp simd
        for (int64_t i = 0; i < size; i++)
            out[i] += weight * values[s * size + i];
    }
    for (int64_t i = 0; i < size && sum != 0; i++)
        out[i] /= sum;
}

/* What rows can look at: [N][H][capacity][D / H] each, of which the first `items` count. */
struct memory {
    const float *keys, *values, *mask; /* the mask [R / rows][stride], or none */
    int64_t items, capacity, rows, stride;
};

/* All heads of all rows, K to a sentence: q [R][width] -> out [R][D]. weights: workspace of R capacity floats. */
static void attend_all(const float *q, int64_t width, struct memory memory, float *weights, float *out, int64_t R,
                       int64_t K, int64_t H, int64_t D, float scale, int threads)
{
    const int64_t size = D / H;
#pragma omp parallel for num_threads(threads) schedule(static) if (R * D * memory.items > SMALL)
    for (int64_t r = 0; r < R; r++)
        for (int64_t h = 0; h < H; h++) {
            const int64_t head = (r / K * H + h) * memory.capacity * size;
            const float *mask = memory.mask ? memory.mask + r / memory.rows * memory.stride : 0;
            attend(q + r * width + h * size, memory.keys + head, memory.values + head, mask,
                   weights + r * memory.capacity, out + r * D + h * size, memory.items, size, scale);
        }
}

/* Of qkv [R][3 D], keys and values go to [N][H][C][D / H], those of a sentence's K rows one after the other from `first`. */
static void append_to_cache(const float *qkv, float *keys, float *values, int64_t R, int64_t K, int64_t H, int64_t D,
                            int64_t C, int64_t first)
{
    const int64_t size = D / H;
    for (int64_t r = 0; r < R; r++)
        for (int64_t h = 0; h < H; h++) {
            const int64_t to = ((r / K * H + h) * C + first + r % K) * size;
            const float *from = qkv + r * 3 * D + D + h * size;
            memcpy(keys + to, from, size * sizeof(float));
            memcpy(values + to, from + D, size * sizeof(float));
        }
}

/*
 * Self-attention of one layer: qkv [R][3 D] -> out [R][D]. Keys and values [N][H][C][D / H] get the new ones, as the last
 * K of the first `filled`, which are then read. The mask [R][C] may be missing. weights: workspace of R C floats.
 */
void self_attention(const float *qkv, float *keys, float *values, const float *mask, float *weights, float *out,
                    int64_t R, int64_t K, int64_t H, int64_t D, int64_t C, int64_t filled, double scale, int threads)
{
    append_to_cache(qkv, keys, values, R, K, H, D, C, filled - K);
    const struct memory memory = {keys, values, mask, filled, C, 1, C};
    attend_all(qkv, 3 * D, memory, weights, out, R, K, H, D, (float)scale, threads);
}

/* Attention of one layer to the source: q [R][D] -> out [R][D]; keys and values [N][H][S][D / H], mask [N][S] or none. */
void cross_attention(const float *q, const float *keys, const float *values, const float *mask, float *weights,
                     float *out, int64_t R, int64_t K, int64_t H, int64_t D, int64_t S, double scale, int threads)
{
    const struct memory memory = {keys, values, mask, S, S, K, S};
    attend_all(q, D, memory, weights, out, R, K, H, D, (float)scale, threads);
}

static void add(float *restrict x, const float *restrict y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] += y[i];
}

/* relu, or gelu: x P(a normal number is below x). NaN stays NaN. */
static void activate(float *x, int64_t n, int64_t gelu)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = gelu ? 0.5f * x[i] * (1 + erff(x[i] * 0.70710678f)) : x[i] < 0 ? 0 : x[i];
}

/* Before a part: the norm, if it stands there. After it: the residual sum, then the norm, if it stands there. */
#define NORMALIZE_INPUT(NORM, NUMBER)                                                                                  \
    if (pre_norm)                                                                                                      \
        norm(x, tensors[NORM], tensors[NORM + 1], y, R, D, (float)eps[NUMBER]);
#define ADD_RESIDUAL(NORM, NUMBER, CHANGE)                                                                             \
    add(x, CHANGE, R *D);                                                                                              \
    if (!pre_norm)                                                                                                     \
        norm(x, tensors[NORM], tensors[NORM + 1], x, R, D, (float)eps[NUMBER]);
#define LINEAR(X, MATRIX, OUT, IN, OUTPUTS)                                                                            \
    linear(X, tensors[MATRIX], tensors[MATRIX + 1], OUT, R, IN, OUTPUTS, threads)
#define FEED_FORWARD(NORM, NUMBER, INNER, OUTER, GELU)                                                                 \
    NORMALIZE_INPUT(NORM, NUMBER)                                                                                      \
    LINEAR(input, INNER, wide, D, F);                                                                                  \
    activate(wide, R *F, GELU);                                                                                        \
    LINEAR(wide, OUTER, y, F, D);                                                                                      \
    ADD_RESIDUAL(NORM, NUMBER, y)

/*
 * x [R][D] goes through all layers in place. tensors [L][TENSORS], eps of their norms [L][3]; source
 * [L][2][N][H][S][D / H] and its mask [N][S], or none of either; cache [L][2][N][H][C][D / H], whose first `filled` are read, the
 * last K of them written before, and its mask [R][C] or none. workspace: R (D + max(F, 3 D) + max(S, C)) floats.
 */
void transformer_step(float *x, const float *const *tensors, const double *eps, const float *source,
                      const float *source_mask, float *cache, const float *self_mask, float *workspace, int64_t N,
                      int64_t K, int64_t S, int64_t C, int64_t filled, int64_t D, int64_t H, int64_t F, int64_t L,
                      int64_t pre_norm, int64_t gelu, double scale, int threads)
{
    const int64_t R = N * K, size = D / H;
    float *y = workspace, *wide = y + R * D, *weights = wide + R * (F > 3 * D ? F : 3 * D);
    const float *input = pre_norm ? y : x; /* what a part gets of x: its norm, or itself */

    for (int64_t l = 0; l < L; l++, tensors += TENSORS, eps += 3) {
        float *keys = cache + 2 * l * N * H * C * size, *values = keys + N * H * C * size;

        NORMALIZE_INPUT(SELF_NORM, 0)
        LINEAR(input, QKV, wide, D, 3 * D);
        self_attention(wide, keys, values, self_mask, weights, y, R, K, H, D, C, filled, scale, threads);
        LINEAR(y, SELF_OUTPUT, wide, D, D);
        ADD_RESIDUAL(SELF_NORM, 0, wide)

        if (source) {
            const float *source_keys = source + 2 * l * N * H * S * size;
            const float *source_values = source_keys + N * H * S * size;
            NORMALIZE_INPUT(CROSS_NORM, 1)
            LINEAR(input, CROSS_QUERY, wide, D, D);
            cross_attention(wide, source_keys, source_values, source_mask, weights, y, R, K, H, D, S, scale, threads);
            LINEAR(y, CROSS_OUTPUT, wide, D, D);
            ADD_RESIDUAL(CROSS_NORM, 1, wide)
        }

        FEED_FORWARD(FEED_FORWARD_NORM, 2, INNER, OUTER, gelu)
    }
}

/*
 * An encoder: x [R][D], R = N S tokens, goes through all layers in place. tensors [L][ENCODER_TENSORS], eps [L][2]; the
 * mask [N][S] may be missing. workspace: R (3 D + max(F, 3 D) + S) floats.
 */
void transformer_encode(float *x, const float *const *tensors, const double *eps, const float *mask, float *workspace,
                        int64_t N, int64_t S, int64_t D, int64_t H, int64_t F, int64_t L, int64_t pre_norm,
                        double scale, int threads)
{
    const int64_t R = N * S;
    float *y = workspace, *keys = y + R * D, *values = keys + R * D, *wide = values + R * D;
    float *weights = wide + R * (F > 3 * D ? F : 3 * D);
    const float *input = pre_norm ? y : x;

    for (int64_t l = 0; l < L; l++, tensors += ENCODER_TENSORS, eps += 2) {
        NORMALIZE_INPUT(SELF_NORM, 0)
        LINEAR(input, QKV, wide, D, 3 * D);
        append_to_cache(wide, keys, values, R, S, H, D, S, 0);
        const struct memory memory = {keys, values, mask, S, S, S, S};
        attend_all(wide, 3 * D, memory, weights, y, R, S, H, D, (float)scale, threads);
        LINEAR(y, SELF_OUTPUT, wide, D, D);
        ADD_RESIDUAL(SELF_NORM, 0, wide)
        FEED_FORWARD(ENCODER_FEED_FORWARD_NORM, 1, ENCODER_INNER, ENCODER_OUTER, 0)
    }
}
