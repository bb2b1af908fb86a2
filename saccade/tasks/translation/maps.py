"""The attention maps of translations."""

from typing import Literal

from saccade.base.errors import InputError
from saccade.look import AttentionMap
from saccade.tasks.translation.forced import Reading
from saccade.tasks.translation.result import Translation


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
