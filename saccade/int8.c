/* Products of rows with a matrix of small integers, for int8.py.

   The matrix lies in blocks of WIDTH outputs. Within a block, four neighbouring numbers of each of its WIDTH outputs
   lie side by side, as the instruction wants them: sums[o] += x[k] w[o][k] + ... + x[k+3] w[o][k+3] for 16 outputs.
   It takes numbers without a sign for x, so 128 is added to them and 128 times the sum of w[o] subtracted at the end. */
#include <math.h>
#include <stdint.h>

enum { WIDTH = 48, ROWS = 8, LARGEST = 127, SHIFT = 128 };

/* What the numbers of a row are multiplied by, so that the largest becomes LARGEST. */
static float factor_of(const float *row, int64_t size)
{
    float largest = 0;
#pragma omp simd reduction(max : largest)
    for (int64_t k = 0; k < size; k++)
        largest = fabsf(row[k]) > largest ? fabsf(row[k]) : largest;
    return largest > 0 ? LARGEST / largest : 0;
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define FAST __attribute__((target("avx512f,avx512vnni")))

int multiplies_int8(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vnni");
}

/* One row in whole numbers with `shift` added, filled up to fours; what one unit of it is worth. */
FAST static float round_row(const float *row, uint8_t *rounded, int64_t in, int shift)
{
    const float factor = factor_of(row, in);
    for (int64_t k = 0; k < in; k += 16) {
        const __mmask16 real = in - k >= 16 ? 0xffff : (1 << (in - k)) - 1;
        const __m512 scaled = _mm512_mul_ps(_mm512_maskz_loadu_ps(real, row + k), _mm512_set1_ps(factor));
        const __m512i shifted = _mm512_add_epi32(_mm512_cvtps_epi32(scaled), _mm512_set1_epi32(shift));
        _mm512_mask_cvtepi32_storeu_epi8(rounded + k, real, shifted);
    }
    for (int64_t k = in; k % 4; k++)
        rounded[k] = shift;
    return factor > 0 ? 1 / factor : 0;
}

/* w [outputs][in], rows `stride` apart, into blocks [outputs / WIDTH][in / 4][WIDTH][4]; what one unit of an output is
   worth, and SHIFT times the sum of its numbers. `room` takes the rounded rows, [outputs][in filled up to fours]. */
FAST void pack_int8(const float *w, int8_t *packed, float *units, int32_t *shifts, uint8_t *room, int64_t outputs,
                    int64_t in, int64_t stride, int threads)
{
    const int64_t quads = (in + 3) / 4;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t o = 0; o < outputs; o++) {
        int32_t *from = (int32_t *)(room + o * quads * 4);
        int32_t *to = (int32_t *)packed + o / WIDTH * quads * WIDTH + o % WIDTH;
        units[o] = round_row(w + o * stride, (uint8_t *)from, in, 0);
        int32_t sum = 0;
        for (int64_t k = 0; k < in; k++)
            sum += ((int8_t *)from)[k];
        shifts[o] = SHIFT * sum;
        for (int64_t q = 0; q < quads; q++)
            to[q * WIDTH] = from[q];
    }
}

typedef struct {
    const uint8_t *x;   /* rows of 4 * quads numbers */
    const float *of_x;  /* what a unit of each row is worth */
    const int8_t *w;    /* one block */
    const float *of_w;  /* what a unit of each output is worth */
    const int32_t *shifts;
    const float *b;     /* may be missing */
    float *out;         /* rows `outputs` apart */
    int64_t quads, outputs, count; /* count: outputs of this block */
} Block;

/* sum += x w for 16 fours. As an intrinsic it has gcc 12 copy most of the sums to and fro, at half of the speed. */
FAST static inline __attribute__((always_inline)) void multiply(__m512i *sum, __m512i x, __m512i w)
{
    __asm__("vpdpbusd %2, %1, %0" : "+v"(*sum) : "v"(x), "v"(w));
}

/* WIDTH outputs of `rows` rows, ROWS at most; inlined, so that the sums stay in registers. */
FAST static inline __attribute__((always_inline)) void tile(const Block *block, int64_t first, int rows)
{
    const int32_t *x = (const int32_t *)block->x + first * block->quads;
    __m512i sums[ROWS][WIDTH / 16];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 3
        for (int c = 0; c < WIDTH / 16; c++)
            sums[r][c] = _mm512_setzero_si512();
    for (int64_t q = 0; q < block->quads; q++) {
        __m512i part[WIDTH / 16];
#pragma GCC unroll 3
        for (int c = 0; c < WIDTH / 16; c++)
            part[c] = _mm512_loadu_si512(block->w + (q * WIDTH + 16 * c) * 4);
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) {
            const __m512i four = _mm512_set1_epi32(x[r * block->quads + q]);
#pragma GCC unroll 3
            for (int c = 0; c < WIDTH / 16; c++)
                multiply(&sums[r][c], four, part[c]);
        }
    }
#pragma GCC unroll 3
    for (int c = 0; c < WIDTH / 16; c++) {
        const int64_t left = block->count - 16 * c;
        const __mmask16 real = left >= 16 ? 0xffff : left > 0 ? (1 << left) - 1 : 0;
        const __m512i shift = _mm512_loadu_si512(block->shifts + 16 * c);
        const __m512 unit = _mm512_loadu_ps(block->of_w + 16 * c);
        const __m512 bias = block->b ? _mm512_maskz_loadu_ps(real, block->b + 16 * c) : _mm512_setzero_ps();
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) {
            const __m512 sum = _mm512_cvtepi32_ps(_mm512_sub_epi32(sums[r][c], shift));
            const __m512 worth = _mm512_mul_ps(unit, _mm512_set1_ps(block->of_x[first + r]));
            _mm512_mask_storeu_ps(block->out + (first + r) * block->outputs + 16 * c, real,
                                  _mm512_fmadd_ps(sum, worth, bias));
        }
    }
}

/* One block of outputs for all rows; it stays in the cache while the rows pass by. */
FAST static void through(const Block *block, int64_t R)
{
    int64_t r = 0;
    for (; r + ROWS <= R; r += ROWS)
        tile(block, r, ROWS);
    switch (R - r) {
    case 7: tile(block, r, 7); break;
    case 6: tile(block, r, 6); break;
    case 5: tile(block, r, 5); break;
    case 4: tile(block, r, 4); break;
    case 3: tile(block, r, 3); break;
    case 2: tile(block, r, 2); break;
    case 1: tile(block, r, 1); break;
    default: break;
    }
}

/* out[r][o] = w[o] . x[r] + b[o]. The rows are rounded into `room`, [R][4 * quads], and `of_x`, [R]. */
void linear_int8(const float *x, const int8_t *packed, const float *units, const int32_t *shifts, const float *b,
                 float *out, uint8_t *room, float *of_x, int64_t R, int64_t in, int64_t outputs, int threads)
{
    const int64_t quads = (in + 3) / 4;
    const int many = R * in * outputs > 1 << 20;
#pragma omp parallel num_threads(threads) if (many)
    {
#pragma omp for schedule(static)
        for (int64_t r = 0; r < R; r++)
            of_x[r] = round_row(x + r * in, room + r * 4 * quads, in, SHIFT);
#pragma omp for schedule(static)
        for (int64_t o = 0; o < outputs; o += WIDTH) {
            const Block block = {room, of_x, packed + o * 4 * quads, units + o, shifts + o, b ? b + o : 0, out + o,
                                 quads, outputs, outputs - o < WIDTH ? outputs - o : WIDTH};
            through(&block, R);
        }
    }
}
#else
int multiplies_int8(void)
{
    return 0;
}
#endif
