/* e^x in vectors, for the C loops of several rooms. */
#include <stdint.h>
#include <string.h>

/* A float as its bits, and back: as whole numbers, gcc compares them in vectors without further flags. */
static inline uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* e^x for x <= 0, and NaN for NaN, relative error below 2e-7: 2^n times a polynomial (Cephes) on
   [-log(2) / 2, log(2) / 2]. */
static inline float exp_nonpositive(float x)
{
    const uint32_t bits = bits_of(x), lowest = 0xc2ae0000u; /* -87: below it, e^x is no normal number */
    const uint32_t around = 0x007fffffu; /* takes the bits of a negative NaN past the highest, and so below the limit */
    /* of negative floats, the lower has the higher bits */
    x = float_of((bits + around < lowest + around ? bits + around : lowest + around) - around);
    const int32_t n = (int32_t)(x * 1.44269504f - 0.5f);
    const float r = x - (float)n * 0.693359375f + (float)n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    return p * float_of((uint32_t)(n + 127) << 23);
}
