"""Keeps memory that a step of training or decoding gives back, because the next step wants it again.

glibc returns large freed blocks to the system at once, and each step then takes fresh pages, which the system fills
with zeros, one fault after the other: copying into fresh memory was measured at 4 GB/s, into used memory at 32 GB/s.
"""

import ctypes

# names and numbers of glibc's malloc.h
_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_MAX = -1, -2, -4


def keep_heap() -> bool:
    """Let this process keep what it frees; whether its C library can do that. Nothing but the speed depends on it."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # not glibc: macOS, Windows
        return False
    answers = {mallopt(_M_MMAP_MAX, 0), mallopt(_M_TRIM_THRESHOLD, 2**31 - 1), mallopt(_M_TOP_PAD, 64 << 20)}
    return answers == {1}
