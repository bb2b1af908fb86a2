/* Compiled into every library of C loops; native.py calls it before it trusts one.

IDENTITY is a number that follows from the source, the compiler and its flags. */
#include <stdint.h>

uint64_t saccade_self_check(void);

uint64_t saccade_self_check(void)
{
    return IDENTITY;
}
