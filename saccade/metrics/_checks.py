"""What figures are computed from: lists of texts, and not one text, which would be taken letter by letter."""

from collections.abc import Sequence

from saccade.base.errors import InputError


def expect_texts(name: str, texts: object) -> None:
    """Raise if a text stands in place of a list of texts."""
    if isinstance(texts, str):
        raise InputError(f"{name}: found a text, wanted a list of texts; write [text]")


def expect_lists(name: str, lists: object, *, of: str) -> None:
    """Raise if one of these lists, of texts or of words, is a text."""
    expect_texts(name, lists)
    if isinstance(lists, Sequence):
        for number, one in enumerate(lists, start=1):
            if isinstance(one, str):
                raise InputError(f"{name}, number {number}: found a text, wanted a list of {of}")
