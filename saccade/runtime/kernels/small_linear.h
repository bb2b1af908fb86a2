/* Linear maps of a few rows, for which a library's matrix product has to prepare too much. */
#include <stdint.h>

/* Below SMALL products, waking other threads takes longer than doing the work. */
enum { SMALL = 1 << 18, CHUNK = 32 };

static float dot(const float *restrict x, const float *restrict y, int64_t n)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* Four neighbouring outputs of a linear map: x is loaded once for the four. */
static void four_outputs(const float *restrict x, const float *restrict w, float *restrict out, int64_t in)
{
    const float *w1 = w + in, *w2 = w1 + in, *w3 = w2 + in;
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (int64_t i = 0; i < in; i++) {
        s0 += x[i] * w[i];
        s1 += x[i] * w1[i];
        s2 += x[i] * w2[i];
        s3 += x[i] * w3[i];
    }
    out[0] = s0, out[1] = s1, out[2] = s2, out[3] = s3;
}

/* The same for two rows: w is loaded once for both. */
static void twice_four_outputs(const float *restrict x, const float *restrict y, const float *restrict w,
                               float *restrict out_x, float *restrict out_y, int64_t in)
{
    const float *w1 = w + in, *w2 = w1 + in, *w3 = w2 + in;
    float x0 = 0, x1 = 0, x2 = 0, x3 = 0, y0 = 0, y1 = 0, y2 = 0, y3 = 0;
#pragma omp simd reduction(+ : x0, x1, x2, x3, y0, y1, y2, y3)
    for (int64_t i = 0; i < in; i++) {
        x0 += x[i] * w[i], y0 += y[i] * w[i];
        x1 += x[i] * w1[i], y1 += y[i] * w1[i];
        x2 += x[i] * w2[i], y2 += y[i] * w2[i];
        x3 += x[i] * w3[i], y3 += y[i] * w3[i];
    }
    out_x[0] = x0, out_x[1] = x1, out_x[2] = x2, out_x[3] = x3;
    out_y[0] = y0, out_y[1] = y1, out_y[2] = y2, out_y[3] = y3;
}

/* Up to CHUNK outputs of all rows: their part of w stays in the cache while the rows pass by, two at a time. */
static void some_outputs(const float *x, const float *w, const float *b, float *out, int64_t R, int64_t in,
                         int64_t outputs, int64_t count)
{
    const int64_t whole = count / 4 * 4;
    for (int64_t r = 0; r < R; r += 2) {
        const float *x0 = x + r * in;
        float *out0 = out + r * outputs;
        const int64_t rows = R - r < 2 ? R - r : 2;
        for (int64_t o = 0; o < whole; o += 4)
            if (rows == 2)
                twice_four_outputs(x0, x0 + in, w + o * in, out0 + o, out0 + outputs + o, in);
            else
                four_outputs(x0, w + o * in, out0 + o, in);
        for (int64_t i = 0; i < rows; i++) {
            for (int64_t o = whole; o < count; o++)
                out0[i * outputs + o] = dot(x0 + i * in, w + o * in, in);
            for (int64_t o = 0; o < count && b; o++)
                out0[i * outputs + o] += b[o];
        }
    }
}

/* out[r][o] = w[o] . x[r] + b[o]; b may be missing. */
static void linear(const float *x, const float *w, const float *b, float *out, int64_t R, int64_t in,
                   int64_t outputs, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static) if (R * in * outputs > SMALL)
    for (int64_t o = 0; o < outputs; o += CHUNK)
        some_outputs(x, w + o * in, b ? b + o : 0, out + o, R, in, outputs,
                     outputs - o < CHUNK ? outputs - o : CHUNK);
}
