"""Plain text as pairs for a translator: a text that was damaged, and the text as it was (BART, Lewis 2020)."""

import random
from collections.abc import Callable, Sequence

from saccade.text import Example, NoiseSettings, Pair, Vocabulary, damage, split_tokens


def cut_overlong(
    pairs: Sequence[Pair], vocabulary: Vocabulary, *, max_length: int, tell: Callable[[str], None]
) -> list[Pair]:
    """The texts, those that are longer than the model reads in parts, cut where a sentence, a clause or a word ends."""
    kept: list[Pair] = []
    overlong, parts = list[Pair](), 0
    for pair in pairs:
        tokens = vocabulary.encode(pair.target)
        if len(tokens.ids) <= max_length:
            kept.append(pair)
            continue
        texts = [vocabulary.decode(part.ids)[0] for part in split_tokens(tokens, max_length)]
        # half a word may take more tokens than it took in its word
        texts = [text for text in texts if len(vocabulary.encode(text).ids) <= max_length]
        kept += [Pair(text, text) for text in texts]
        overlong.append(pair)
        parts += len(texts)
    if overlong:
        tell(
            f"{len(overlong):,} of {len(pairs):,} texts are longer than model.max_length={max_length}, and are cut into"
            f" {parts:,} parts; the first begins {overlong[0].target[:60]!r}"
        )
    return kept


def damage_pairs(
    pairs: Sequence[Pair], vocabulary: Vocabulary, noise: NoiseSettings, *, max_length: int, seed: str
) -> list[Pair]:
    """Each text behind one that was damaged; what befalls it depends on the seed and its index alone.

    One that gets longer than the model reads, as masks that stand for nothing can make it, stays as it was.
    """
    damaged = [
        Pair(damage(pair.target, noise, random.Random(f"noise {seed} {index}")), pair.target)
        for index, pair in enumerate(pairs)
    ]
    return [
        new if len(vocabulary.encode(new.source).ids) <= max_length else old
        for new, old in zip(damaged, pairs, strict=True)
    ]


def damaged_anew(
    pairs: Sequence[Pair],
    examples: Sequence[Example],
    vocabulary: Vocabulary,
    noise: NoiseSettings,
    *,
    max_length: int,
    seed: int,
) -> Callable[[int], list[Example]]:
    """For each epoch, the examples of these texts, damaged otherwise."""

    def of_epoch(epoch: int) -> list[Example]:
        new = damage_pairs(pairs, vocabulary, noise, max_length=max_length, seed=f"{seed} {epoch}")
        return [
            Example(vocabulary.encode(pair.source).ids, example.target)
            for pair, example in zip(new, examples, strict=True)
        ]

    return of_epoch
