"""BPE-dropout (Provilkov 2020): words cut otherwise each time they are met, so that their parts are learnt as well."""

import random
from collections.abc import Mapping

# Ways to cut a word that are drawn once and then chosen from: enough to look random, and far cheaper.
_WAYS = 32


class DroppedMerges:
    """Cuts words into pieces by byte-pair merges, each of which fails now and then.

    pieces  the value of each piece that a merge may make; of two merges, the one whose piece has the higher value comes
            first
    rate    how often a merge fails each time it could be made; at 0, words are cut as always
    """

    def __init__(self, pieces: Mapping[str, float], *, rate: float, seed: int) -> None:
        self._pieces = pieces
        self._rate = rate
        self._seed = seed
        self._ways: dict[str, list[list[str]]] = {}

    def cut(self, word: str, rng: random.Random) -> list[str]:
        """One of the ways to cut a word. Which ones there are depends on the seed and the word alone."""
        ways = self._ways.get(word)
        if ways is None:
            own = random.Random(f"merges {self._seed} {word}")
            ways = self._ways[word] = [merge(word, self._pieces, self._rate, own) for _ in range(_WAYS)]
        return ways[int(rng.random() * _WAYS)]


def merge(word: str, pieces: Mapping[str, float], rate: float, rng: random.Random) -> list[str]:
    """Letters, merged two at a time, the best merge first, until none is left that does not fail."""
    symbols = list(word)
    while True:
        best, where = float("-inf"), -1
        for index in range(len(symbols) - 1):
            value = pieces.get(symbols[index] + symbols[index + 1])
            if value is not None and value > best and (rate == 0 or rng.random() >= rate):
                best, where = value, index
        if where < 0:
            return symbols
        symbols[where : where + 2] = [symbols[where] + symbols[where + 1]]
