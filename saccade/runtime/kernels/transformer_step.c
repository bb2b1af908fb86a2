/*
 * One step of a Transformer decoder for a few sequences, for transformer_steps.py, and its encoder for a few tokens, for
 * few_tokens.py, which explain what is computed and have the same in torch's operations. For so little work, calling an
 * operation costs more than the operation; here is one call for all layers.
 *
 * Letters as there: N sentences, K sequences of each, R = N K rows, S source items, C places of the cache, D dim,
 * L layers, H heads, F the inner size of the feed-forward part.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "few_rows.h"

/* The tensors of a layer, in the order of LayerWeights; a matrix or a norm is its weight and its bias. */
enum { OWN_NORM, OWN = 2, OWN_OUTPUT = 4, SOURCE_NORM = 6, SOURCE_QUERY = 8, SOURCE_OUTPUT = 10, LAST_NORM = 12,
       INNER = 14, OUTER = 16, TENSORS = 18 };

/* The same of an encoder's layer, in the order of EncoderWeights. */
enum { ENCODER_LAST_NORM = 6, ENCODER_INNER = 8, ENCODER_OUTER = 10, ENCODER_TENSORS = 12 };

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

/* What rows can look at: [N][H][places][D / H] each, of which the first `items` count. */
struct memory {
    const float *keys, *values, *mask; /* the mask [R / rows][stride], or none */
    int64_t items, places, rows, stride;
};

/* All heads of all rows, K to a sentence: q [R][width] -> out [R][D]. weights: room for R places floats. */
static void attend_all(const float *q, int64_t width, struct memory memory, float *weights, float *out, int64_t R,
                       int64_t K, int64_t H, int64_t D, float scale, int threads)
{
    const int64_t size = D / H;
#pragma omp parallel for num_threads(threads) schedule(static) if (R * D * memory.items > SMALL)
    for (int64_t r = 0; r < R; r++)
        for (int64_t h = 0; h < H; h++) {
            const int64_t head = (r / K * H + h) * memory.places * size;
            const float *mask = memory.mask ? memory.mask + r / memory.rows * memory.stride : 0;
            attend(q + r * width + h * size, memory.keys + head, memory.values + head, mask,
                   weights + r * memory.places, out + r * D + h * size, memory.items, size, scale);
        }
}

/* Of qkv [R][3 D], keys and values go to [N][H][C][D / H], those of a sentence's K rows one after the other from `first`. */
static void put_away(const float *qkv, float *keys, float *values, int64_t R, int64_t K, int64_t H, int64_t D, int64_t C,
                     int64_t first)
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
 * K of the first `places`, which are then read. The mask [R][C] may be missing. weights: room for R C floats.
 */
void attend_own(const float *qkv, float *keys, float *values, const float *mask, float *weights, float *out, int64_t R,
                int64_t K, int64_t H, int64_t D, int64_t C, int64_t places, double scale, int threads)
{
    put_away(qkv, keys, values, R, K, H, D, C, places - K);
    const struct memory own = {keys, values, mask, places, C, 1, C};
    attend_all(qkv, 3 * D, own, weights, out, R, K, H, D, (float)scale, threads);
}

/* Attention of one layer to the source: q [R][D] -> out [R][D]; keys and values [N][H][S][D / H], mask [N][S] or none. */
void attend_source(const float *q, const float *keys, const float *values, const float *mask, float *weights,
                   float *out, int64_t R, int64_t K, int64_t H, int64_t D, int64_t S, double scale, int threads)
{
    const struct memory source = {keys, values, mask, S, S, K, S};
    attend_all(q, D, source, weights, out, R, K, H, D, (float)scale, threads);
}

static void add(float *restrict x, const float *restrict y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] += y[i];
}

/* Before a part: the norm, if it stands there. After it: the way around, then the norm, if it stands there. */
#define ENTER(NORM, NUMBER)                                                                                            \
    if (pre_norm)                                                                                                      \
        norm(x, tensors[NORM], tensors[NORM + 1], y, R, D, (float)eps[NUMBER]);
#define LEAVE(NORM, NUMBER, CHANGE)                                                                                    \
    add(x, CHANGE, R *D);                                                                                              \
    if (!pre_norm)                                                                                                     \
        norm(x, tensors[NORM], tensors[NORM + 1], x, R, D, (float)eps[NUMBER]);
#define LINEAR(X, MATRIX, OUT, IN, OUTPUTS)                                                                            \
    linear(X, tensors[MATRIX], tensors[MATRIX + 1], OUT, R, IN, OUTPUTS, threads)
#define FEED_FORWARD(NORM, NUMBER, INNER, OUTER)                                                                       \
    ENTER(NORM, NUMBER)                                                                                                \
    LINEAR(entering, INNER, wide, D, F);                                                                               \
    for (int64_t i = 0; i < R * F; i++)                                                                                \
        wide[i] = wide[i] < 0 ? 0 : wide[i]; /* NaN stays NaN */                                                       \
    LINEAR(wide, OUTER, y, F, D);                                                                                      \
    LEAVE(NORM, NUMBER, y)

/*
 * x [R][D] goes through all layers in place. tensors [L][TENSORS], eps of their norms [L][3]; source [L][2][N][H][S][D / H] and its mask [N][S] or
 * none; cache [L][2][N][H][C][D / H], whose first `places` are read, the last K of them written before, and its mask
 * [R][C] or none. room: R (D + max(F, 3 D) + max(S, C)) floats.
 */
void transformer_step(float *x, const float *const *tensors, const double *eps, const float *source,
                      const float *source_mask, float *cache, const float *own_mask, float *room, int64_t N, int64_t K,
                      int64_t S, int64_t C, int64_t places, int64_t D, int64_t H, int64_t F, int64_t L,
                      int64_t pre_norm, double scale, int threads)
{
    const int64_t R = N * K, size = D / H;
    float *y = room, *wide = y + R * D, *weights = wide + R * (F > 3 * D ? F : 3 * D);
    const float *entering = pre_norm ? y : x; /* what a part gets of x: its norm, or itself */

    for (int64_t l = 0; l < L; l++, tensors += TENSORS, eps += 3) {
        float *keys = cache + 2 * l * N * H * C * size, *values = keys + N * H * C * size;
        const float *source_keys = source + 2 * l * N * H * S * size, *source_values = source_keys + N * H * S * size;

        ENTER(OWN_NORM, 0)
        LINEAR(entering, OWN, wide, D, 3 * D);
        attend_own(wide, keys, values, own_mask, weights, y, R, K, H, D, C, places, scale, threads);
        LINEAR(y, OWN_OUTPUT, wide, D, D);
        LEAVE(OWN_NORM, 0, wide)

        ENTER(SOURCE_NORM, 1)
        LINEAR(entering, SOURCE_QUERY, wide, D, D);
        attend_source(wide, source_keys, source_values, source_mask, weights, y, R, K, H, D, S, scale, threads);
        LINEAR(y, SOURCE_OUTPUT, wide, D, D);
        LEAVE(SOURCE_NORM, 1, wide)

        FEED_FORWARD(LAST_NORM, 2, INNER, OUTER)
    }
}

/*
 * An encoder: x [R][D], R = N S tokens, goes through all layers in place. tensors [L][ENCODER_TENSORS], eps [L][2]; the
 * mask [N][S] may be missing. room: R (3 D + max(F, 3 D) + S) floats.
 */
void transformer_encode(float *x, const float *const *tensors, const double *eps, const float *mask, float *room,
                        int64_t N, int64_t S, int64_t D, int64_t H, int64_t F, int64_t L, int64_t pre_norm,
                        double scale, int threads)
{
    const int64_t R = N * S;
    float *y = room, *keys = y + R * D, *values = keys + R * D, *wide = values + R * D;
    float *weights = wide + R * (F > 3 * D ? F : 3 * D);
    const float *entering = pre_norm ? y : x;

    for (int64_t l = 0; l < L; l++, tensors += ENCODER_TENSORS, eps += 2) {
        ENTER(OWN_NORM, 0)
        LINEAR(entering, OWN, wide, D, 3 * D);
        put_away(wide, keys, values, R, S, H, D, S, 0);
        const struct memory own = {keys, values, mask, S, S, S, S};
        attend_all(wide, 3 * D, own, weights, y, R, S, H, D, (float)scale, threads);
        LINEAR(y, OWN_OUTPUT, wide, D, D);
        LEAVE(OWN_NORM, 0, wide)
        FEED_FORWARD(ENCODER_LAST_NORM, 1, ENCODER_INNER, ENCODER_OUTER)
    }
}
