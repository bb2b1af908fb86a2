"""Names that nobody has: so many that one which is drawn again is rare, as names are in what people write."""

import random

_FIRST = ("b", "br", "d", "f", "g", "gr", "h", "k", "l", "m", "n", "p", "pl", "r", "s", "t", "tr", "v", "w", "z")
_VOWELS = ("a", "e", "i", "o", "u")


def make_name(rng: random.Random) -> str:
    """Three syllables, such as `Trivoku`; there are a million of them."""
    return "".join(rng.choice(_FIRST) + rng.choice(_VOWELS) for _ in range(3)).capitalize()
