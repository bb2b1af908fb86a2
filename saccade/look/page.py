"""Attention maps as one HTML file that needs nothing else: no network, no server, no library."""

import base64
import html
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saccade.base.errors import InputError
from saccade.base.files import write_file
from saccade.decode import TreeNode
from saccade.look.heads import HeadMeasures
from saccade.look.maps import AttentionMap, Grid, Kind, as_path, drawable
from saccade.look.surprise import LEVEL_NAMES, ScoredTokens, token_shown

# Nothing may be fetched from anywhere, whatever stands in the file.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"

_IMAGES = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif"}  # how files begin

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>
body {{ margin: 0; background: #ffffff }}
@media (prefers-color-scheme: dark) {{ body {{ background: #0f1318 }} }}
</style>
<body>
<main id="maps"></main>
<script type="application/json" id="data">{data}</script>
<script type="module">
{module}
const data = document.getElementById("data");
show(document.getElementById("maps"), JSON.parse(data.textContent));
data.remove();  // a large map is in memory once
</script>
</body>
</html>
"""


@dataclass(frozen=True)
class Panel:
    """What stands side by side with others on a page: the maps of one model for one sentence."""

    title: str
    maps: Sequence[AttentionMap]
    tree: Sequence[TreeNode] = field(default_factory=list)  # what beam search tried, if it is to be shown
    kind: Kind | None = None  # of the map that is seen first, and its layer and head, from 0
    layer: int | None = None
    head: int | None = None
    surprise: ScoredTokens | None = None  # the text with a colour behind each token, above the maps
    heads: HeadMeasures | None = None  # what the heads of the first map look back to


Shown = Panel | AttentionMap | ScoredTokens | Sequence[Panel | AttentionMap | ScoredTokens]


def _as_panels(what: Shown) -> list[Panel]:
    """Panels as they are; maps by themselves share one, as those of one model do, and so does a text with its bits."""
    several = [what] if isinstance(what, Panel | AttentionMap | ScoredTokens) else list(what)
    strange = [one for one in several if not isinstance(one, Panel | AttentionMap | ScoredTokens)]
    if strange:
        raise InputError(f"panels: found {type(strange[0]).__name__}, wanted maps, scored tokens, or panels of them")
    panels = [one for one in several if isinstance(one, Panel)]
    maps = [one for one in several if isinstance(one, AttentionMap)]
    texts = [one for one in several if isinstance(one, ScoredTokens)]
    if maps or texts:
        panels.append(Panel((maps or texts)[0].name, maps, surprise=texts[0] if texts else None))
    return [*panels, *(Panel(one.name, [], surprise=one) for one in texts[1:])]


def module_source() -> str:
    """The JavaScript module that draws in pages and notebooks."""
    return resources.files("saccade.look").joinpath("page.js").read_text(encoding="utf-8")


def page_data(what: Shown) -> dict[str, Any]:
    """What the module draws, as plain numbers and texts; the weights exactly, as base64 of 32-bit floats."""
    panels = _as_panels(what)
    if not panels or not all(panel.maps or panel.tree or panel.surprise for panel in panels):
        raise InputError("panels: found nothing to show, wanted at least one map in each, or a text with its bits")
    return {
        "panels": [
            {
                "title": drawable(panel.title),
                "maps": [_map_data(one) for one in panel.maps],
                "tree": [node._replace(piece=drawable(node.piece))._asdict() for node in panel.tree] or None,
                "surprise": None if panel.surprise is None else _surprise_data(panel.surprise),
                "heads": None if panel.heads is None else panel.heads.best(),
                "first": {"map": _index_of(panel), "layer": panel.layer, "head": panel.head},
            }
            for panel in panels
        ]
    }


def _index_of(panel: Panel) -> int:
    """Which of the maps is seen first."""
    return next((index for index, one in enumerate(panel.maps) if one.kind == panel.kind), 0)


def _map_data(attention: AttentionMap) -> dict[str, Any]:
    grid = attention.columns if isinstance(attention.columns, Grid) else None
    return {
        "grid": None
        if grid is None
        else {"height": grid.height, "width": grid.width, "image": _as_address(grid.image)},
        "kind": attention.kind,
        "rows": [drawable(label) for label in attention.rows],
        "columns": [drawable(label) for label in attention.column_labels],
        "shape": list(attention.weights.shape),
        "weights": _as_base64(attention.weights),
    }


def _surprise_data(scored: ScoredTokens) -> dict[str, Any]:
    return {
        "tokens": [token_shown(token) for token in scored.tokens],
        "bits": _as_base64(scored.bits),
        "levels": scored.levels.tolist(),
        "names": LEVEL_NAMES,
        "mean": scored.mean,
    }


def _as_base64(values: NDArray[Any]) -> str:
    """Numbers exactly, as 32-bit floats."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")


def _as_address(image: bytes | None) -> str | None:
    """An image as an address that holds it."""
    if image is None:
        return None
    kind = next((kind for start, kind in _IMAGES.items() if image.startswith(start)), None)
    if kind is None:
        raise InputError("columns: the image of the grid is of no kind that browsers show; wanted PNG, JPEG or GIF")
    return f"data:image/{kind};base64,{base64.b64encode(image).decode('ascii')}"


def as_page(panels: Shown, *, title: str = "attention") -> str:
    """The page itself. A word such as `</script>` is shown, not run: no `<` of the data gets into the markup."""
    data = json.dumps(page_data(panels), ensure_ascii=True, allow_nan=False).replace("<", "\\u003c")
    title = html.escape(drawable(title))
    return _PAGE.format(policy=html.escape(_POLICY), title=title, data=data, module=module_source())


def as_frame(panels: Shown, *, height: int = 640) -> str:
    """The page within another page, such as a notebook, cut off from it."""
    page = html.escape(as_page(panels))
    style = f"width: 100%; height: {height}px; border: 0"
    return f'<iframe title="attention" sandbox="allow-scripts" style="{style}" srcdoc="{page}"></iframe>'


def save_page(path: str | Path, panels: Shown, *, title: str = "attention") -> None:
    """Write the page, whole or not at all: maps by themselves, or panels that stand side by side."""
    write_file(as_path(path), as_page(panels, title=title).encode("utf-8"))
