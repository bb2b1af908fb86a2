"""The attention maps of translations."""

from typing import NamedTuple

from saccade.base.errors import InputError
from saccade.look import AttentionMap
from saccade.tasks.translation.forced_decoding import ForcedDecoding
from saccade.tasks.translation.result import Translation

_COPIED = 0.5  # a word counts as copied from so much of its probability on


def maps_of(found: Translation | ForcedDecoding, *, name: str = "") -> list[AttentionMap]:
    """All maps of a translation that was made with `attention=True`, or of one that was given to `score`.

    First what the target saw of the source, then, of a Transformer, what the source and the target saw of themselves.
    A row is the word that is being written; the decoder's columns are the words it could look back at, `<s>` first.
    Of a sentence that was translated in parts, these are the maps of each part.
    """
    if isinstance(found, Translation) and found.parts:
        return [one for part in found.parts for one in maps_of(part, name=name)]
    decoding = found.forced_decoding if isinstance(found, Translation) else found
    if decoding is None:
        raise InputError("the translation has no attention; translate with attention=True")
    maps: list[AttentionMap] = []
    if decoding.attention is not None:
        maps.append(AttentionMap(decoding.target_words, decoding.source_words, decoding.attention, "cross", name))
    if decoding.encoder_attention is not None:
        maps.append(
            AttentionMap(decoding.source_words, decoding.source_words, decoding.encoder_attention, "encoder", name)
        )
    if decoding.decoder_attention is not None:
        maps.append(
            AttentionMap(decoding.target_words, decoding.decoder_words, decoding.decoder_attention, "decoder", name)
        )
    return maps


class Copy(NamedTuple):
    """How a word came to be written by a model that can copy."""

    word: str
    p_gen: float  # how likely it was that a word of the vocabulary is written, and none copied
    copied: float  # the share of the word's own probability that is of copying it
    source: int | None  # the word of the source that most of that came from; None if most is of writing it


def copies_of(found: Translation | ForcedDecoding) -> list[Copy]:
    """Where each word of such a result was copied from; nothing of a model that cannot."""
    decoding = found.forced_decoding if isinstance(found, Translation) else found
    if decoding is None or decoding.copied is None:
        return []
    shares = decoding.copied[0, 0]  # [target words, source words]
    return [
        Copy(word, p_gen, min(float(row.sum()), 1.0), int(row.argmax()) if row.sum() >= _COPIED else None)
        for word, p_gen, row in zip(decoding.target_words, decoding.p_gen, shares, strict=True)
    ]


def map_for_alignment(decoding: ForcedDecoding, *, shift: bool = False) -> AttentionMap:
    """What a given target saw of its source, to be made into links between words.

    A row is what the step saw that wrote the word, and did not know yet which word it would be. With `shift`, it is
    what the next step saw, which had just read the word (SHIFT-ATT, Chen 2020, for the middle layers of deep
    Transformers); the end of the target has no row then.
    """
    weights = decoding.shifted_attention if shift else decoding.attention
    if weights is None:
        raise InputError("the model looks at nothing; it has no attention to align by")
    words = decoding.target_words[:-1] if shift else decoding.target_words
    return AttentionMap(words, decoding.source_words, weights)
