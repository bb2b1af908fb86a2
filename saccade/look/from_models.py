"""The maps that saccade's models make."""

from collections.abc import Sequence
from typing import Literal

from saccade.errors import InputError
from saccade.look.maps import AttentionMap, Grid
from saccade.models import Answer, Caption, Reading, Translation


def maps_of(found: Translation | Reading, *, name: str = "") -> list[AttentionMap]:
    """All maps of a translation that was made with `attention=True`, or of one that was given to `force`.

    First what the target saw of the source, then, of a Transformer, what the source and the target saw of themselves.
    A row is the word that is being written; the decoder's columns are the words it could look back at, `<s>` first.
    """
    reading = found.reading if isinstance(found, Translation) else found
    if reading is None:
        raise InputError("the translation has no attention; translate with attention=True")
    maps: list[AttentionMap] = []
    if reading.cross is not None:
        maps.append(AttentionMap(reading.target_words, reading.source_words, reading.cross, "cross", name))
    if reading.encoder is not None:
        maps.append(AttentionMap(reading.source_words, reading.source_words, reading.encoder, "encoder", name))
    if reading.decoder is not None:
        maps.append(AttentionMap(reading.target_words, reading.written_words, reading.decoder, "decoder", name))
    return maps


def map_for_links(reading: Reading, *, when: Literal["written", "read"] = "written") -> AttentionMap:
    """What a given target saw of its source, to be made into links between words.

    written  by the step that wrote each word, which did not know yet which word it would be
    read     by the next step, which had just read it (Chen 2020, for the middle layers of deep Transformers); the end
             of the target has no row
    """
    weights = reading.cross if when == "written" else reading.cross_read
    if weights is None:
        raise InputError("the model looks at nothing; it has no attention to align by")
    words = reading.target_words if when == "written" else reading.target_words[:-1]
    return AttentionMap(words, reading.source_words, weights)


def map_of_caption(caption: Caption, *, image: bytes | None = None, name: str = "") -> AttentionMap:
    """The map of a caption that was made with `attention=True`; with the image, pictures are drawn over it.

    `image` is a PNG's or a JPEG's bytes, as `saccade.data.picture_for_pages` gives them: upright, and the whole image.
    """
    if caption.attention is None:
        raise InputError("the caption has no attention; caption with attention=True a model that has some")
    return AttentionMap(caption.words, Grid(caption.side, caption.side, image), caption.attention, "cross", name)


def map_of_answer(answer: Answer, sentences: Sequence[str], *, name: str = "") -> AttentionMap:
    """What each hop looked at, among the sentences of the story."""
    weights = answer.attention
    if weights.min() < 0 or weights.max() > 1 + 1e-3:
        raise InputError("this model has no softmax yet, and so no weights to draw; train it beyond its linear start")
    return AttentionMap([f"hop {hop + 1}" for hop in range(len(weights))], sentences, weights, "memory", name)
