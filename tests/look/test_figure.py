"""Figures: the colours are the weights, cell by cell."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from PIL import Image

from saccade.base.errors import InputError
from saccade.look import AttentionMap, draw_beside, draw_figure, figure_bytes, save_beside, save_figure
from tests.look.test_maps import COLUMNS, ROWS, STRANGE, random_map

SVG = "{http://www.w3.org/2000/svg}"


def weights_in_svg(content: bytes, name: str) -> np.ndarray:
    """The weights that the colours of a map's cells stand for, by where each cell lies: `[rows, columns]`."""
    root = ET.fromstring(content)  # noqa: S314 - our own file
    (group,) = (element for element in root.iter(f"{SVG}g") if element.get("id") == name)
    cells: dict[tuple[float, float], tuple[float, float, float]] = {}
    for path in group.iter(f"{SVG}path"):
        fill = re.search(r"fill: (#\w+)", path.get("style", ""))
        numbers = [float(number) for number in re.findall(r"-?\d+\.?\d*", path.get("d", ""))]
        if fill is not None:
            cells[round(min(numbers[1::2]), 2), round(min(numbers[::2]), 2)] = to_rgb(fill[1])
    colours = mpl.colormaps["Blues"](np.linspace(0, 1, 256))[:, :3]
    downs, acrosses = sorted({down for down, _ in cells}), sorted({across for _, across in cells})
    found = np.zeros((len(downs), len(acrosses)))
    for (down, across), colour in cells.items():
        found[downs.index(down), acrosses.index(across)] = np.abs(colours - colour).sum(1).argmin() / 255
    return found


def texts_in_svg(content: bytes) -> list[str]:
    return ["".join(element.itertext()) for element in ET.fromstring(content).iter(f"{SVG}text")]  # noqa: S314


def test_the_cells_of_an_svg_are_the_weights() -> None:
    seen = random_map()
    content = figure_bytes(draw_figure(seen, layer=1, head=5), "svg")
    found = weights_in_svg(content, "map-0-0")
    np.testing.assert_allclose(found, seen.weights[1, 5], atol=0.004)
    for shifted in (np.roll(seen.weights[1, 5], 1, axis=0), np.roll(seen.weights[1, 5], 1, axis=1), seen.weights[0, 5]):
        assert np.abs(found - shifted).max() > 0.1  # this test can fail
    texts = texts_in_svg(content)
    assert set(ROWS) | set(COLUMNS) <= set(texts)


def test_all_heads_in_a_grid() -> None:
    seen = random_map(layers=2, heads=3)
    content = figure_bytes(draw_figure(seen, grid=True), "svg")
    for layer in range(2):
        for head in range(3):
            found = weights_in_svg(content, f"map-{layer}-{head}")
            np.testing.assert_allclose(found, seen.weights[layer, head], atol=0.004)
    assert {"layer 1, head 1", "layer 2, head 3"} <= set(texts_in_svg(content))
    chosen = texts_in_svg(figure_bytes(draw_figure(seen, grid=True, layer=1), "svg"))
    assert "layer 2, head 3" in chosen
    assert "layer 1, head 1" not in chosen


@pytest.mark.parametrize(("suffix", "begins"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".PDF", b"%PDF")])
def test_files(suffix: str, begins: bytes, tmp_path: Path) -> None:
    seen = random_map()
    save_figure(tmp_path / f"one{suffix}", seen)
    save_figure(tmp_path / f"two{suffix}", seen)
    content = (tmp_path / f"one{suffix}").read_bytes()
    assert content.startswith(begins)
    assert content == (tmp_path / f"two{suffix}").read_bytes()


def test_words_are_not_mathematics(tmp_path: Path) -> None:
    seen = AttentionMap(["$x^2$", "</s>"], ["cost", "$5 & <b>"], np.eye(2), name="$ and $")
    content = figure_bytes(draw_figure(seen), "svg")
    assert {"$x^2$", "$5 & <b>", "$ and $"} <= set(texts_in_svg(content))
    save_figure(tmp_path / "map.png", seen)
    with Image.open(tmp_path / "map.png") as image:
        assert image.size[0] > 100


def test_letters_that_no_font_has() -> None:
    """They are said, once, where they would be boxes."""
    seen = AttentionMap(["\U0001f9ff", "a"], ["\ue000\ue001", "b"], np.eye(2))
    with pytest.warns(UserWarning, match="no font on this machine has .*: they are drawn as boxes") as caught:
        figure_bytes(draw_figure(seen), "png")
    assert len(caught) == 1
    assert "\ue000\ue001" in texts_in_svg(figure_bytes(draw_figure(seen), "svg"))


def test_a_name_that_says_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ends in '\.gif', wanted one of \.png, \.svg, \.pdf"):
        save_figure(tmp_path / "map.gif", random_map())


def test_labels_that_are_left_out_are_empty() -> None:
    figure = draw_figure(random_map(), grid=True)
    labels = [label.get_text() for axes in figure.axes for label in (*axes.get_xticklabels(), *axes.get_yticklabels())]
    assert "␣" not in labels
    assert labels.count("") > 0
    assert figure.axes[0].get_yticklabels()[0].get_text() == ROWS[0]


def test_titles() -> None:
    seen = replace(random_map(), name="a name that is far longer than the figure is wide, and goes on and on and on")
    assert draw_figure(seen, title="").get_suptitle() == ""
    assert draw_figure(seen, title="mine").get_suptitle() == "mine"
    assert draw_figure(seen, title="mine", grid=True).get_suptitle().strip() == "mine"
    usual = draw_figure(seen, layer=1, head=0).get_suptitle()
    assert usual.replace("\n", " ") == f"{seen.name} (layer 2, head 1)"
    assert "\n" in usual


@pytest.mark.parametrize("length", [5, 60])
def test_long_labels_are_not_cut(length: int) -> None:
    seen = AttentionMap(["x" * length, "b"], ["y" * length, "d", "e"], np.eye(2, 3))
    figure = draw_figure(seen)
    FigureCanvasAgg(figure).draw()
    for label in (*figure.axes[0].get_yticklabels(), *figure.axes[0].get_xticklabels()):
        box = label.get_window_extent()
        assert box.x0 >= -1
        assert box.y1 <= figure.bbox.y1 + 1


def test_more_labels_than_can_be_read_are_none() -> None:
    many = [f"word {n}" for n in range(130)]
    figure = draw_figure(AttentionMap(many, many, np.eye(130)))
    assert {label.get_text() for label in figure.axes[0].get_yticklabels()} == {""}


def test_a_name_may_be_text_and_comes_first(tmp_path: Path) -> None:
    save_figure(str(tmp_path / "a.png"), random_map())
    assert (tmp_path / "a.png").exists()
    with pytest.raises(InputError, match="it comes first"):
        save_figure(random_map(), "a.png")  # pyright: ignore[reportArgumentType]


def test_strange_characters_leave_the_svg_well_formed() -> None:
    seen = AttentionMap(STRANGE, STRANGE, np.eye(len(STRANGE)), name="".join(STRANGE))
    for title in (None, "".join(STRANGE)):
        texts = texts_in_svg(figure_bytes(draw_figure(seen, title=title), "svg"))
        assert {"�", "a�b", "�[31m"} <= set(texts)
    for form in ("png", "pdf"):
        figure_bytes(draw_figure(seen), form)
    texts = texts_in_svg(figure_bytes(draw_beside([("a\x00", seen), ("b\udcff", seen)]), "svg"))
    assert {"a�", "b�"} <= set(texts)


OTHER = AttentionMap([*ROWS, "extra", "more"], ["x"], np.linspace(0, 1, 5)[:, None], name="other")


def test_maps_side_by_side_are_both_there() -> None:
    seen = replace(random_map(), name="the sentence")
    content = figure_bytes(draw_beside([("first: $5", seen), ("second", OTHER)]), "svg")
    np.testing.assert_allclose(weights_in_svg(content, "panel-0-map-0-0"), seen.matrix(), atol=0.004)
    np.testing.assert_allclose(weights_in_svg(content, "panel-1-map-0-0"), OTHER.matrix(), atol=0.004)
    assert {"first: $5", "second", "the sentence", "extra", *COLUMNS} <= set(texts_in_svg(content))
    assert "the sentence" not in texts_in_svg(figure_bytes(draw_beside([("a", seen)], title=""), "svg"))
    with pytest.raises(InputError, match="panels: found none"):
        draw_beside([])


@pytest.mark.parametrize("how", [{}, {"grid": True}, {"title": "a title that is longer than the maps are wide " * 2}])
@pytest.mark.parametrize(
    "title", ["b", "a model with a name: and a translation that has many words in it (score -0.3)"]
)
def test_maps_side_by_side_do_not_overlap(how: dict[str, Any], title: str) -> None:
    """Titles, labels and cells of one stay on its side; titles stand above the labels, and that of all on top."""
    figure = draw_beside([(title, random_map(layers=1, heads=2)), (title, OTHER)], **how)
    FigureCanvasAgg(figure).draw()
    first, second = (
        [text for text in part.findobj(Text) if text.get_visible() and text.get_text()] for part in figure.subfigs
    )
    boxes = [[text.get_window_extent() for text in texts] for texts in (first, second)]
    assert max(box.x1 for box in boxes[0]) <= min(box.x0 for box in boxes[1])
    assert min(box.x0 for box in boxes[0]) >= -1
    assert max(box.x1 for box in boxes[1]) <= figure.bbox.x1 + 1
    top = figure.findobj(Text, include_self=False)
    for part, texts in zip(figure.subfigs, (first, second), strict=True):
        (own,) = (text for text in texts if text.get_text().strip() == part.get_suptitle().strip())
        others = [text for text in texts if text is not own]
        gap = own.get_window_extent().y0 - max(text.get_window_extent().y1 for text in others)
        assert -1 <= gap < 20  # of two maps, the lower one stands beside the other's beginning
        whole = [text for text in top if text.get_text() == figure.get_suptitle() != ""]
        assert all(text.get_window_extent().y0 >= own.get_window_extent().y1 - 1 for text in whole)


def test_maps_side_by_side_are_saved(tmp_path: Path) -> None:
    save_beside(str(tmp_path / "a.PNG"), [("a", random_map()), ("b", OTHER)], layer=0)
    assert (tmp_path / "a.PNG").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match=r"ends in '\.gif'"):
        save_beside(tmp_path / "a.gif", [("a", random_map())])
