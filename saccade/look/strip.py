"""Token surprise in a terminal: the text itself, with a colour behind each token or the bits below it."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text

from saccade.base.errors import InputError
from saccade.look.surprise import LEVEL_NAMES, ScoredTokens, token_shown

NARROWEST = 20  # columns
# Paper and ink of each level. What is hardly surprising has the terminal's own. The others bring their ink along and
# are of middling light, so that they stand out on light and on dark; they go from grey to ever stronger colour.
_STYLES = (
    Style(),
    Style(color="rgb(20,20,20)", bgcolor="rgb(176,164,140)"),
    Style(color="rgb(20,20,20)", bgcolor="rgb(235,165,75)"),
    Style(color="rgb(255,255,255)", bgcolor="rgb(200,70,15)"),
    Style(color="rgb(255,255,255)", bgcolor="rgb(170,0,75)", bold=True, underline=True),
)


class Part(NamedTuple):
    """What stands together in one line, of one token."""

    token: int
    text: str
    begins: bool  # the token does, and does not go on from the line before


def lay_out(scored: ScoredTokens, *, width: int) -> Iterator[list[Part]]:
    """The lines of the text, of at most `width` cells: a new one after a line break, or else after a space."""
    line: list[Part] = []
    used = 0
    for token, text in enumerate(scored.tokens):
        pieces = _printable(token_shown(text)).replace("\n", "⏎\n").split("\n")
        for number, piece in enumerate(pieces):
            if number:
                yield line
                line, used = [], 0
            for start, one in enumerate(_cut(piece, width)):
                size = cell_len(one)
                if used + size > width:
                    kept, line = _break(line, room=width - size)
                    yield kept
                    used = sum(cell_len(part.text) for part in line)
                if one:
                    line.append(Part(token, one, not number and not start))
                    used += size
    if line:
        yield line


def _cut(text: str, width: int) -> Iterator[str]:
    """A token in pieces that fit into a line."""
    piece, used = "", 0
    for letter in text:
        if used + cell_len(letter) > width:
            yield piece
            piece, used = "", 0
        piece += letter
        used += cell_len(letter)
    yield piece


def _break(line: list[Part], *, room: int) -> tuple[list[Part], list[Part]]:
    """A full line, and what goes over into the next, because no space is behind it."""
    for index in range(len(line), 0, -1):
        if line[index - 1].text.endswith(" ") or (index < len(line) and line[index].text.startswith(" ")):
            rest = line[index:]
            return (line[:index], rest) if sum(cell_len(part.text) for part in rest) <= room else (line, [])
    return line, []


def draw_surprise(scored: ScoredTokens, *, colour: bool = True, width: int = 80) -> Text:
    """The text for a terminal of `width` columns, with what the colours mean below it.

    Without colours, the bits of each token stand below its first letter, as a digit: 9 is 9 bits or more.
    """
    if width < NARROWEST:
        raise InputError(f"width: found {width}, wanted at least {NARROWEST}")
    values = (scored.levels if colour else np.minimum(scored.bits, 9).round().astype(np.int64)).tolist()
    draw_line = _in_colour if colour else _with_digits
    lines = [draw_line(line, values) for line in lay_out(scored, width=width)]
    legend = _legend() if colour else Text("bits a token, 9 for 9 or more")
    return Text("\n").join([*lines, Text(), legend, Text(f"{scored.mean:.2f} bits a token in the mean")])


def _in_colour(line: list[Part], levels: list[int]) -> Text:
    return Text.assemble(*((part.text, _STYLES[levels[part.token]]) for part in line))


def _with_digits(line: list[Part], digits: list[int]) -> Text:
    below = (set_cell_size(str(digits[part.token]) if part.begins else "", cell_len(part.text)) for part in line)
    text = "".join(part.text for part in line)
    return Text(f"{text.rstrip()}\n{''.join(below).rstrip()}")


def _printable(text: str) -> str:
    """What moves no cursor but for the line break; a space of any width is one."""
    return "".join(
        letter if letter.isprintable() or letter == "\n" else " " if letter.isspace() else "�" for letter in text
    )


def _legend() -> Text:
    legend = Text("bits a token:")
    for name, style in zip(LEVEL_NAMES, _STYLES, strict=True):
        legend.append(" ").append(f" {name} ", style)
    return legend
