"""From the pieces of a tokenizer to words, for maps of models from elsewhere."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

from saccade.base.errors import InputError
from saccade.look.maps import AttentionMap, Grid
from saccade.text import merge_to_words

Marks = Literal["sentencepiece", "wordpiece", "bpe", "gpt2"]


def merge_subwords(attention: AttentionMap, marks: Marks) -> AttentionMap:
    """The map of whole words, from one of subwords.

    Which piece begins a word is read off its marks:

        sentencepiece  ▁Straßen bahn      a word begins with ▁
        wordpiece      Straßen ##bahn     what goes on begins with ##
        bpe            Straßen@@ bahn     what goes on elsewhere ends in @@
        gpt2           ĠStraßen bahn      a word begins with Ġ

    A piece in angle or square brackets, such as </s> or [CLS], is a word of its own. What is looked at in a word is the
    **sum** over its pieces, so that a row sums to what it summed to before; what a word looks at is the **mean** over
    its pieces.
    """
    if marks not in get_args(Marks):
        raise InputError(f"marks: found {marks!r}, wanted one of {', '.join(get_args(Marks))}")
    rows, row_of = group_pieces(attention.rows, marks)
    if isinstance(attention.columns, Grid):
        columns, column_of = attention.columns, list(range(len(attention.column_labels)))
        count = len(column_of)
    else:
        columns, column_of = group_pieces(attention.columns, marks)
        count = len(columns)
    weights = merge_to_words(attention.weights, row_of, column_of, words=count)
    return replace(attention, rows=rows, columns=columns, weights=weights)


def group_pieces(pieces: Sequence[str], marks: Marks) -> tuple[list[str], list[int]]:
    """The words that pieces make up, and which word each piece belongs to."""
    words: list[str] = []
    word_of: list[int] = []
    goes_on = False  # the piece before says that this one belongs to it
    alone = True  # the piece before takes nothing to it
    for piece in pieces:
        special = len(piece) > 2 and piece[0] + piece[-1] in {"<>", "[]"}
        begins, text = _read_piece(piece, marks)
        if special or alone or not words or (begins and not goes_on):
            words.append(piece if special else text)
        else:
            words[-1] += text
        word_of.append(len(words) - 1)
        goes_on = marks == "bpe" and piece.endswith("@@")
        alone = special
    return words, word_of


def _read_piece(piece: str, marks: Marks) -> tuple[bool, str]:
    """Whether a piece begins a word, by itself, and its text without the mark."""
    if marks == "wordpiece":
        return not piece.startswith("##"), piece.removeprefix("##")
    if marks == "bpe":
        return True, piece.removesuffix("@@")
    mark = "▁" if marks == "sentencepiece" else "Ġ"
    return piece.startswith(mark), piece.removeprefix(mark)
