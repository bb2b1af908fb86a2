"""Token surprise as a figure for papers: the text, with a colour behind each token. PNG, SVG and PDF, by matplotlib."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from saccade.base.errors import InputError
from saccade.base.files import write_file
from saccade.look.figure import SETTINGS, WIDE_FONTS, figure_bytes, form_of, installed
from saccade.look.maps import as_path, plain
from saccade.look.strip import Part, lay_out
from saccade.look.surprise import LEVEL_NAMES, ScoredTokens

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Paper and ink of each level: ever darker, so that it can be read in grey.
_COLOURS = (
    ("none", "#141414"),
    ("#fde8bd", "#141414"),
    ("#fab266", "#141414"),
    ("#c2501c", "#ffffff"),
    ("#780a3c", "#ffffff"),
)
_FAINT = "#59636e"
_WIDTH = 72  # letters in a line
_POINTS = 9.0
_ADVANCE = 0.602 * _POINTS / 72  # inches of a letter of DejaVu Sans Mono
_LINE = 1.75 * _POINTS / 72  # inches from line to line
_EDGE = 0.15  # inches around
_MOST_LINES = 200


def draw_surprise_figure(scored: ScoredTokens | Sequence[ScoredTokens], *, title: str | None = None) -> "Figure":
    """The text in lines, with a colour behind each token and what the colours mean below.

    Several, such as one text by two models, stand one below the other. The title of each is its name; of one by itself,
    `title` takes the place of it, and "" is none.
    """
    import matplotlib as mpl  # noqa: PLC0415 - half a second that only figures need
    from matplotlib.figure import Figure  # noqa: PLC0415

    strips = [scored] if isinstance(scored, ScoredTokens) else list(scored)
    if not strips:
        raise InputError("scored: found none, wanted at least one text with its bits")
    names = [title] if title is not None and len(strips) == 1 else [one.name for one in strips]
    headings = [textwrap.wrap(name, _WIDTH) for name in names]
    texts = [list(lay_out(one, width=_WIDTH)) for one in strips]
    lines = sum(len(text) + 1 for text in texts) + sum(len(heading) for heading in headings) + 2
    if lines > _MOST_LINES:
        raise InputError(f"tokens: found {lines:,} lines, wanted at most {_MOST_LINES}; take a page, or less text")
    wide, high = _WIDTH * _ADVANCE + 2 * _EDGE, lines * _LINE + 2 * _EDGE
    fonts = ["DejaVu Sans Mono", *installed(WIDE_FONTS)]
    with mpl.rc_context(SETTINGS | {"font.family": fonts, "font.size": _POINTS}):
        figure = Figure(figsize=(wide, high))
        axes: Any = figure.add_axes((_EDGE / wide, _EDGE / high, 1 - 2 * _EDGE / wide, 1 - 2 * _EDGE / high))
        axes.set_axis_off()
        axes.set_xlim(0, _WIDTH)
        axes.set_ylim(lines, 0)  # the first line on top
        row = 0
        for number, (one, text, heading) in enumerate(zip(strips, texts, headings, strict=True)):
            for line in heading:
                _write(axes, 0, row, plain(line), weight="bold")
                row += 1
            levels = one.levels.tolist()
            for line in text:
                _draw_line(axes, row, line, levels, f"text-{number}-token")
                row += 1
            row += 1
        _draw_legend(axes, row)
        mean = ", ".join(f"{one.mean:.2f}" for one in strips)
        _write(axes, 0, row + 1, f"in the mean: {mean}", color=_FAINT)
    return figure


def save_surprise(path: str | Path, scored: ScoredTokens | Sequence[ScoredTokens], *, title: str | None = None) -> None:
    """Draw and write; the name's end says whether PNG, SVG or PDF."""
    path = as_path(path)
    form = form_of(path)
    write_file(path, figure_bytes(draw_surprise_figure(scored, title=title), form))


def _draw_line(axes: Any, row: int, line: list[Part], levels: list[int], name: str) -> None:
    at = 0
    for part in line:
        size = cell_len(part.text)
        _draw_token(axes, at, row, part.text, size, levels[part.token], name=f"{name}-{part.token}")
        at += size


def _draw_token(axes: Any, at: float, row: int, text: str, size: int, level: int, *, name: str | None = None) -> None:
    from matplotlib.patches import Rectangle  # noqa: PLC0415

    paper, ink = _COLOURS[level]
    if level:
        box = axes.add_patch(Rectangle((at, row + 0.04), size, 0.92, facecolor=paper, edgecolor="none"))
        box.set_gid(name)
    if text.strip():
        _write(axes, at, row, plain(text), color=ink)


def _draw_legend(axes: Any, row: int) -> None:
    _write(axes, 0, row, "bits a token:", color=_FAINT)
    at = len("bits a token: ")
    for level, name in enumerate(LEVEL_NAMES):
        _draw_token(axes, at, row, f" {name} ", len(name) + 2, level)
        at += len(name) + 3


def _write(axes: Any, at: float, row: int, text: str, **how: Any) -> None:
    axes.text(at, row + 0.5, text, ha="left", va="center_baseline", **how)
