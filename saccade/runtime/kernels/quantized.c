/* Products of rows with a quantized matrix, of int8 or (`wide`) int16, for quantized.py.

   A group is 32 bits: four neighbouring numbers of a row, or two wide ones. The matrix lies in blocks of WIDTH outputs,
   and within a block the groups of its WIDTH outputs lie side by side, as the instructions want them: for 16 outputs,
   sums[o] += x[k] w[o][k] + ... over one group. For int8 they take x as uint8, so a zero point of 128 is added to it,
   and 128 times the sum of w[o] subtracted at the end.

   A search of an RNN of 512 units in int8 is 5 times as fast as by these numbers in torch's operations
   (python -m bench.kernels, two threads, AMD EPYC). */
#include <math.h>
#include <stdint.h>

/* Below SMALL products, waking other threads takes longer than doing the work. */
enum { SMALL = 1 << 20, WIDTH = 48, ROWS = 8, QUANT_MAX = 127, ZERO_POINT = 128, INT16_NORM = 32000 };

/* 1 / scale of a row, whose largest absolute value becomes QUANT_MAX; 0 if that is too small, NaN if one of its numbers
   is not finite. */
static float inverse_scale_of(const float *row, int64_t size)
{
    float largest = 0, nothing = 0;
#pragma omp simd reduction(max : largest) reduction(+ : nothing)
    for (int64_t k = 0; k < size; k++) {
        largest = fabsf(row[k]) > largest ? fabsf(row[k]) : largest;
        nothing += row[k] * 0;
    }
    const float inverse_scale = largest > 0 ? QUANT_MAX / largest : 0;
    return nothing != 0 ? NAN : isinf(inverse_scale) ? 0 : inverse_scale;
}

/* 0 if it is so small that its square has too few digits. */
static float l2_norm(const float *row, int64_t size)
{
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (int64_t k = 0; k < size; k++)
        squares += row[k] * row[k];
    return squares < 1e-30f ? 0 : sqrtf(squares);
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define FAST __attribute__((target("avx512f,avx512vnni")))

int supports_quantized(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vnni");
}

#define INLINE FAST static inline __attribute__((always_inline))

static int64_t groups_of(int64_t in, int wide)
{
    return wide ? (in + 1) / 2 : (in + 3) / 4;
}

/* One quantized row, with the zero point added and padded to a group; gives its scale. A wide row has an L2 norm of
   INT16_NORM: no number is larger than 16 bits hold, and no sum of products larger than INT16_NORM^2 (Cauchy and
   Schwarz), which 32 bits hold. */
FAST static float quantize_row(const float *row, int32_t *groups, int64_t in, int wide, int zero_point)
{
    const float norm = wide ? l2_norm(row, in) : 0;
    const float inverse_scale = !wide ? inverse_scale_of(row, in) : norm > 0 ? INT16_NORM / norm : 0;
    if (in > 0)
        groups[groups_of(in, wide) - 1] = (int32_t)(zero_point * 0x01010101u);
    for (int64_t k = 0; k < in; k += 16) {
        const __mmask16 real = in - k >= 16 ? 0xffff : (1 << (in - k)) - 1;
        const __m512 scaled = _mm512_mul_ps(_mm512_maskz_loadu_ps(real, row + k), _mm512_set1_ps(inverse_scale));
        const __m512i rounded = _mm512_cvtps_epi32(scaled);
        if (wide)
            _mm512_mask_cvtepi32_storeu_epi16((int16_t *)groups + k, real, rounded);
        else
            _mm512_mask_cvtepi32_storeu_epi8((int8_t *)groups + k, real,
                                             _mm512_add_epi32(rounded, _mm512_set1_epi32(zero_point)));
    }
    return wide ? norm / INT16_NORM : inverse_scale == 0 ? 0 : 1 / inverse_scale; /* the norm may be infinite, or NaN */
}

/* w [outputs][in] into blocks [outputs / WIDTH][groups][WIDTH]; the scale of each output, and its offset: ZERO_POINT
   times the sum of its numbers, if that was added. `workspace`, [outputs][groups], takes the quantized rows. */
FAST void pack_quantized(const float *w, int32_t *packed, float *scales, int32_t *offsets, int32_t *workspace,
                         int64_t outputs, int64_t in, int64_t wide, int threads)
{
    const int64_t groups = groups_of(in, wide);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t o = 0; o < outputs; o++) {
        int32_t *from = workspace + o * groups, *to = packed + o / WIDTH * groups * WIDTH + o % WIDTH;
        scales[o] = quantize_row(w + o * in, from, in, wide, 0);
        int32_t sum = 0;
        for (int64_t k = 0; k < in && !wide; k++)
            sum += ((int8_t *)from)[k];
        offsets[o] = ZERO_POINT * sum;
        for (int64_t g = 0; g < groups; g++)
            to[g * WIDTH] = from[g];
    }
}

typedef struct {
    const int32_t *x;      /* rows of groups */
    const float *x_scales; /* of each row */
    const int32_t *w;      /* one block */
    const float *w_scales; /* of each output */
    const int32_t *offsets;
    const float *b;        /* may be missing */
    float *out;            /* rows `outputs` apart */
    int64_t groups, outputs, count; /* count: outputs of this block */
} Block;

/* sum += x w for 16 groups. As intrinsics they have gcc 12 copy most of the sums to and fro, at half of the speed. */
INLINE void multiply(__m512i *sum, __m512i x, __m512i w, int wide)
{
    if (wide)
        __asm__("vpdpwssd %2, %1, %0" : "+v"(*sum) : "v"(x), "v"(w));
    else
        __asm__("vpdpbusd %2, %1, %0" : "+v"(*sum) : "v"(x), "v"(w));
}

/* WIDTH outputs of `rows` rows, ROWS at most; inlined, so that the sums stay in registers. */
INLINE void tile(const Block *block, int64_t first, int rows, int wide)
{
    const int32_t *x = block->x + first * block->groups;
    __m512i sums[ROWS][WIDTH / 16];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 3
        for (int c = 0; c < WIDTH / 16; c++)
            sums[r][c] = _mm512_setzero_si512();
    for (int64_t g = 0; g < block->groups; g++) {
        __m512i part[WIDTH / 16];
#pragma GCC unroll 3
        for (int c = 0; c < WIDTH / 16; c++)
            part[c] = _mm512_loadu_si512(block->w + g * WIDTH + 16 * c);
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) {
            const __m512i group = _mm512_set1_epi32(x[r * block->groups + g]);
#pragma GCC unroll 3
            for (int c = 0; c < WIDTH / 16; c++)
                multiply(&sums[r][c], group, part[c], wide);
        }
    }
#pragma GCC unroll 3
    for (int c = 0; c < WIDTH / 16; c++) {
        const int64_t left = block->count - 16 * c;
        const __mmask16 real = left >= 16 ? 0xffff : left > 0 ? (1 << left) - 1 : 0;
        const __m512i offset = _mm512_loadu_si512(block->offsets + 16 * c);
        const __m512 w_scale = _mm512_loadu_ps(block->w_scales + 16 * c);
        const __m512 bias = block->b ? _mm512_maskz_loadu_ps(real, block->b + 16 * c) : _mm512_setzero_ps();
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) {
            const __m512 sum = _mm512_cvtepi32_ps(_mm512_sub_epi32(sums[r][c], offset));
            const __m512 scale = _mm512_mul_ps(w_scale, _mm512_set1_ps(block->x_scales[first + r]));
            _mm512_mask_storeu_ps(block->out + (first + r) * block->outputs + 16 * c, real,
                                  _mm512_fmadd_ps(sum, scale, bias));
        }
    }
}

/* One block of outputs for all rows; it stays in the cache while the rows pass by. */
INLINE void multiply_block(const Block *block, int64_t R, int wide)
{
    int64_t r = 0;
    for (; r + ROWS <= R; r += ROWS)
        tile(block, r, ROWS, wide);
    switch (R - r) {
    case 7: tile(block, r, 7, wide); break;
    case 6: tile(block, r, 6, wide); break;
    case 5: tile(block, r, 5, wide); break;
    case 4: tile(block, r, 4, wide); break;
    case 3: tile(block, r, 3, wide); break;
    case 2: tile(block, r, 2, wide); break;
    case 1: tile(block, r, 1, wide); break;
    default: break;
    }
}

FAST static void multiply_block_int8(const Block *block, int64_t R)
{
    multiply_block(block, R, 0);
}

FAST static void multiply_block_int16(const Block *block, int64_t R)
{
    multiply_block(block, R, 1);
}

/* out[r][o] = w[o] . x[r] + b[o]. The rows are quantized into `workspace`, [R][groups], and `x_scales`, [R]. */
void linear_quantized(const float *x, const int32_t *packed, const float *scales, const int32_t *offsets,
                      const float *b, float *out, int32_t *workspace, float *x_scales, int64_t R, int64_t in,
                      int64_t outputs, int64_t wide, int threads)
{
    const int64_t groups = groups_of(in, wide);
    const int many = R * in * outputs > SMALL;
#pragma omp parallel num_threads(threads) if (many)
    {
#pragma omp for schedule(static)
        for (int64_t r = 0; r < R; r++)
            x_scales[r] = quantize_row(x + r * in, workspace + r * groups, in, wide, wide ? 0 : ZERO_POINT);
#pragma omp for schedule(static)
        for (int64_t o = 0; o < outputs; o += WIDTH) {
            const Block block = {workspace, x_scales, packed + o * groups, scales + o, offsets + o, b ? b + o : 0,
                                 out + o, groups, outputs, outputs - o < WIDTH ? outputs - o : WIDTH};
            if (wide)
                multiply_block_int16(&block, R);
            else
                multiply_block_int8(&block, R);
        }
    }
}
#else
int supports_quantized(void)
{
    return 0;
}
#endif
