"""Attention maps as figures for papers: PNG, SVG and PDF, by matplotlib."""

import io
import re
import textwrap
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saccade.base.errors import InputError
from saccade.base.files import write_file
from saccade.look.maps import AttentionMap, Grid, as_path, plain, shown
from saccade.look.overlay import draw_overlay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase

FORMATS = (".png", ".svg", ".pdf")

# Text stays text in SVG and PDF; dates and random names stay out, so that the same map gives the same file.
SETTINGS: Any = {"svg.fonttype": "none", "pdf.fonttype": 42, "svg.hashsalt": "saccade", "axes.unicode_minus": False}
WIDE_FONTS = [
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Noto Sans Devanagari",
    "Noto Sans Arabic",
    "WenQuanYi Micro Hei",
    "Arial Unicode MS",
    "Microsoft YaHei",
    "Malgun Gothic",
    "Hiragino Sans",
]
_COLOURS = "Blues"  # one hue, ever darker: readable without telling colours apart, and in grey
_INCHES = 0.26  # for a row or a column
_LETTER = 0.085  # inches of a letter
_MOST_INCHES = 40.0
_NARROWEST = 2.4  # inches of a map beside others, so that its title does not run into theirs
_LINE = 0.2  # inches of a line of a title
_MOST_LABELS = 120  # rows or columns; with more, none has a label


def draw_figure(
    attention: AttentionMap,
    *,
    layer: int | None = None,
    head: int | None = None,
    grid: bool = False,
    title: str | None = None,
) -> "Figure":
    """Figure 3 of Bahdanau 2015: target words down, source words across, dark where the weight is.

    The mean over layers and heads, or those that are chosen, counted from 0. With `grid`, every layer and head that
    is not chosen away by itself: layers down, heads across. The scale is always 0 to 1. The title is the map's name
    with the layer and head that were chosen, unless another is given; "" is none.
    """
    import matplotlib as mpl  # noqa: PLC0415 - half a second that only figures need
    from matplotlib.figure import Figure  # noqa: PLC0415

    chosen = _choose(attention, layer, head, grid=grid)
    wide, high = _inches(chosen)
    with mpl.rc_context(SETTINGS | {"font.family": _fonts()}):
        figure = Figure(figsize=(wide, high), layout="constrained")
        _draw_map(figure, chosen, first=_first(attention, layer, head))
        heading = _heading(attention, layer, head) if title is None else title
        # the titles of a grid stand higher than the layout knows; an empty line makes room for them
        _put_title(figure, heading, wide, room="\n" if chosen.layers * chosen.heads > 1 else "")
    return figure


def draw_beside(
    panels: Sequence[tuple[str, AttentionMap]],
    *,
    layer: int | None = None,
    head: int | None = None,
    grid: bool = False,
    title: str | None = None,
) -> "Figure":
    """Several maps side by side, such as those of two models for one sentence, each under a title of its own.

    All else is as in `draw_figure`; the title of the whole is the first map's name, unless another is given.
    """
    import matplotlib as mpl  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    if not panels:
        raise InputError("panels: found none, wanted at least one title with its map")
    chosen = [_choose(attention, layer, head, grid=grid) for _, attention in panels]
    sizes = [_inches(one) for one in chosen]
    widths = [max(_NARROWEST, wide) for wide, _ in sizes]
    widths = [wide * min(1.0, _MOST_INCHES / sum(widths)) for wide in widths]
    lines = [len(_wrapped(own, wide)) for (own, _), wide in zip(panels, widths, strict=True)]
    high = max(high for _, high in sizes) + _LINE * (max(lines) + 1)
    with mpl.rc_context(SETTINGS | {"font.family": _fonts()}):
        figure = Figure(figsize=(sum(widths), min(_MOST_INCHES, high)), layout="constrained")
        parts: Any = figure.subfigures(1, len(panels), width_ratios=widths, squeeze=False)
        for index, (part, (own, attention)) in enumerate(zip(parts[0], panels, strict=True)):
            _draw_map(part, chosen[index], first=_first(attention, layer, head), name=f"panel-{index}-map")
            for axes in part.axes:
                axes.set_anchor("N")  # what is lower than its neighbour stands beside its beginning
            above = max(lines) - lines[index] + (chosen[index].layers * chosen[index].heads > 1)
            _put_title(part, own, widths[index], room="\n" * above)
        heading = _heading(panels[0][1], layer, head) if title is None else title
        _put_title(figure, heading, sum(widths))
    return figure


def _choose(attention: AttentionMap, layer: int | None, head: int | None, *, grid: bool) -> AttentionMap:
    chosen = attention.select(layer=layer, head=head)
    return chosen if grid else chosen.mean()


def _first(attention: AttentionMap, layer: int | None, head: int | None) -> tuple[int, int]:
    """The numbers of the first layer and head that are seen, from 1."""
    return (
        1 if layer is None else layer % attention.layers + 1,
        1 if head is None else head % attention.heads + 1,
    )


def _labels(chosen: AttentionMap) -> tuple[list[str], list[str]]:
    """The labels of rows and columns; none where there are more than anybody could read."""
    rows, columns = chosen.rows, chosen.column_labels
    if max(len(rows), len(columns)) > _MOST_LABELS:
        return [""] * len(rows), [""] * len(columns)
    return [shown(label) for label in rows], [shown(label) for label in columns]


def _inches(chosen: AttentionMap) -> tuple[float, float]:
    """How wide and how high a map is drawn, with its labels; the columns' labels lean over to the right."""
    rows, columns = _labels(chosen)
    beside, above = (_LETTER * max(map(len, labels)) for labels in (rows, columns))
    wide = chosen.heads * (_INCHES * len(columns) + 0.4) + beside + above / 2 + 0.5
    high = chosen.layers * (_INCHES * len(rows) + 0.5) + above + 0.5
    return min(_MOST_INCHES, wide), min(_MOST_INCHES, high)


def _draw_map(figure: "FigureBase", chosen: AttentionMap, *, first: tuple[int, int], name: str = "map") -> None:
    """Every layer and head of `chosen`: layers down, heads across."""
    rows, columns = _labels(chosen)
    axes = figure.subplots(chosen.layers, chosen.heads, squeeze=False)
    for down, across in ((a, b) for a in range(chosen.layers) for b in range(chosen.heads)):
        one: Axes = axes[down, across]
        _draw_matrix(one, chosen.weights[down, across], f"{name}-{down}-{across}")
        if chosen.layers * chosen.heads > 1:
            one.set_title(f"layer {first[0] + down}, head {first[1] + across}", fontsize=9)
        _label(one, rows if across == 0 else [""] * len(rows), columns if down == 0 else [""] * len(columns))


def _put_title(figure: "FigureBase", title: str, wide: float, *, room: str = "") -> None:
    if title:
        figure.suptitle(plain("\n".join(_wrapped(title, wide))) + room, fontsize=11)


def _wrapped(title: str, wide: float) -> list[str]:
    return textwrap.wrap(title, max(20, round(wide / _LETTER)))


def _heading(attention: AttentionMap, layer: int | None, head: int | None) -> str:
    """The map's name, and which part of it is seen."""
    counted = (("layer", layer, attention.layers), ("head", head, attention.heads))
    parts = [f"{name} {number % count + 1}" for name, number, count in counted if number is not None]
    return f"{attention.name} ({', '.join(parts)})" if attention.name and parts else attention.name


def save_figure(path: str | Path, attention: AttentionMap, **how: Any) -> None:
    """Draw and write; the name's end says whether PNG, SVG or PDF. A map of an image is drawn over that image."""
    path = as_path(path)
    if not isinstance(attention, AttentionMap):
        raise InputError(f"attention: found {type(attention).__name__}, wanted one map; of several, write maps[0]")
    form = form_of(path)
    if isinstance(attention.columns, Grid) and attention.columns.image is not None:
        if how.pop("grid", False):
            raise InputError("grid: over an image, layers and heads are drawn one at a time; choose one of them")
        figure = draw_overlay(attention, **how)
    else:
        figure = draw_figure(attention, **how)
    write_file(path, figure_bytes(figure, form))


def save_beside(path: str | Path, panels: Sequence[tuple[str, AttentionMap]], **how: Any) -> None:
    """Draw maps side by side and write; the name's end says whether PNG, SVG or PDF."""
    path = as_path(path)
    form = form_of(path)
    write_file(path, figure_bytes(draw_beside(panels, **how), form))


def form_of(path: Path) -> str:
    """What a file's name says that it is to be: "png", "svg" or "pdf"."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{path}: found a name that ends in {path.suffix!r}, wanted one of {', '.join(FORMATS)}")
    return path.suffix.lower()[1:]


def figure_bytes(figure: "Figure", form: str) -> bytes:
    """The file of a figure: "png", "svg" or "pdf"; the same figure gives the same bytes."""
    import matplotlib as mpl  # noqa: PLC0415

    content = io.BytesIO()
    dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form, {})
    with mpl.rc_context(SETTINGS), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure.savefig(content, format=form, dpi=150, metadata=dated)
    missing = sorted({letter for warning in caught for letter in _missing_letter(str(warning.message))})
    if missing and form != "svg":  # an SVG has its text as text, for whoever shows it to find a font
        warnings.warn(
            f"no font on this machine has {' '.join(missing)}: they are drawn as boxes; install one that does, such as"
            " Noto Sans CJK, or write an SVG or a page",
            stacklevel=2,
        )
    return content.getvalue()


def _missing_letter(warning: str) -> list[str]:
    return [chr(int(number)) for number in re.findall(r"^Glyph (\d+) .* missing from font", warning)]


def _fonts() -> list[str]:
    """Matplotlib's own font, and of those that have more scripts the ones that are installed."""
    return ["DejaVu Sans", *installed(WIDE_FONTS)]


def installed(fonts: Sequence[str]) -> list[str]:
    """Those of the fonts that this machine has, in their order."""
    from matplotlib.font_manager import get_font_names  # noqa: PLC0415

    there = set(get_font_names())
    return [font for font in fonts if font in there]


def _draw_matrix(axes: "Axes", weights: Any, name: str) -> None:
    """Cells as shapes of their own, that stay sharp at any size; their group is called `name` in SVG."""
    mesh = axes.pcolormesh(weights, cmap=_COLOURS, vmin=0, vmax=1, edgecolors="none")
    mesh.set_gid(name)
    axes.invert_yaxis()  # the first row on top
    axes.set_aspect("equal")


def _label(axes: "Axes", rows: Any, columns: Any) -> None:
    axes.set_yticks([index + 0.5 for index in range(len(rows))], [plain(label) for label in rows])
    axes.set_xticks(
        [index + 0.5 for index in range(len(columns))],
        [plain(label) for label in columns],
        rotation=60,
        ha="left",
        rotation_mode="anchor",
    )
    axes.tick_params(length=0, labelsize=9, top=False, labeltop=True, bottom=False, labelbottom=False)
