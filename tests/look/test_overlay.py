"""Where a word looked, drawn over the image: figure and page show the numbers of the map."""

import io
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from saccade.base.errors import InputError
from saccade.look import AttentionMap, Grid, Panel, draw_overlay, figure_bytes, save_figure, save_page
from saccade.tasks.captioning.maps import map_of_caption
from saccade.tasks.captioning.model import Caption
from saccade.vision import make_scenes
from tests.look.conftest import Visit

WORDS = ["a", "red", "</script>", "circle", "</s>"]
HIGH, WIDE = 3, 4


def picture(kind: str = "PNG") -> bytes:
    file = io.BytesIO()
    Image.fromarray(make_scenes(1, seed=0, side=96)[0].pixels).resize((96, 72)).save(file, kind)
    return file.getvalue()


def seen(layers: int = 2, heads: int = 2) -> AttentionMap:
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.full(HIGH * WIDE, 0.3), size=(layers, heads, len(WORDS)))
    return AttentionMap(WORDS, Grid(HIGH, WIDE, picture()), weights)


def darkness(weights: np.ndarray) -> np.ndarray:
    """From 0 where the word looked most to 1 where it did not look."""
    return 1 - weights / weights.max()


@pytest.mark.parametrize("chosen", [{}, {"layer": 1}, {"layer": 0, "head": 1}], ids=str)
def test_the_figure_is_as_dark_as_the_word_looked_away(chosen: dict[str, Any]):
    figure = draw_overlay(seen(), **chosen, smooth=False)
    matrix = seen().matrix(**chosen)
    shades: dict[Any, Any] = {image.get_gid(): image for axes in figure.axes for image in axes.images}
    for index in range(len(WORDS)):
        found = np.asarray(shades[f"word-{index}"].get_array())[..., 3]
        np.testing.assert_allclose(found, 0.75 * darkness(matrix[index]).reshape(HIGH, WIDE), atol=1e-6)
    assert [axes.get_title() for axes in figure.axes if axes.get_title()] == WORDS


@pytest.mark.parametrize("size", [(40, 20), (20, 40), (30, 30)])
def test_an_image_keeps_its_proportions(size: tuple[int, int]):
    file = io.BytesIO()
    Image.new("RGB", size).save(file, "PNG")
    figure = draw_overlay(AttentionMap(["a", "b"], Grid(2, 3, file.getvalue()), np.full((2, 6), 1 / 6)))
    figure.draw_without_rendering()
    box = figure.axes[0].get_window_extent()
    assert box.width / box.height == pytest.approx(size[0] / size[1], rel=0.02)


def test_a_map_of_an_image_is_saved_as_such(tmp_path: Path):
    for name in ("a.png", "a.svg", "a.pdf"):
        save_figure(tmp_path / name, seen())
        assert (tmp_path / name).stat().st_size > 3000
    assert "circle" in (tmp_path / "a.svg").read_text()


READ = """canvas => {
  const copy = document.createElement("canvas"), pen = copy.getContext("2d", { willReadFrequently: true });
  [copy.width, copy.height] = [canvas.width, canvas.height];
  pen.drawImage(canvas, 0, 0);
  return [...pen.getImageData(0, 0, copy.width, copy.height).data].filter((_, n) => n % 4 === 3);
}"""


def shown(visit: Visit) -> list[int]:
    """How dark the overlay is at each region of the grid, from 0 to 255."""
    return visit.page.locator(".stage canvas").evaluate(READ)


@pytest.mark.parametrize("overlay", ["smooth", "grid"])
def test_the_page_shows_where_each_word_looked(visit: Visit, tmp_path: Path, overlay: str):
    save_page(tmp_path / "page.html", [Panel("</script>", [seen()])])
    visit.open(tmp_path / "page.html")
    visit.choose("overlay", overlay)
    assert visit.page.locator(".stage img").evaluate("image => image.complete && image.naturalWidth") == 96
    for layer, head in ((None, None), (1, None), (0, 1)):
        visit.choose("layer", str(-1 if layer is None else layer))
        visit.choose("head", str(-1 if head is None else head))
        matrix = seen().matrix(layer=layer, head=head)
        for word in range(len(WORDS)):
            visit.page.locator(".caption button").nth(word).hover()
            np.testing.assert_allclose(shown(visit), 190 * darkness(matrix[word]), atol=0.51)


@pytest.mark.parametrize("column", [0, 5, HIGH * WIDE - 1])
def test_the_region_under_the_pointer_says_its_weight(visit: Visit, tmp_path: Path, column: int):
    save_page(tmp_path / "page.html", [Panel("model", [seen()])])
    visit.open(tmp_path / "page.html")
    visit.page.locator(".caption button").nth(3).hover()
    box = visit.page.locator(".stage canvas").bounding_box()
    assert box is not None
    down, across = divmod(column, WIDE)
    visit.page.mouse.move(
        box["x"] + (across + 0.5) * box["width"] / WIDE, box["y"] + (down + 0.5) * box["height"] / HIGH
    )
    text, facts = visit.readout()
    assert float(facts["weight"]) == pytest.approx(float(seen().matrix()[3, column]), abs=1e-6)
    assert f"circle → row {down + 1}, column {across + 1}" in text


def test_words_are_reached_by_the_keyboard(visit: Visit, tmp_path: Path):
    save_page(tmp_path / "page.html", [Panel("model", [seen()])])
    visit.open(tmp_path / "page.html")
    visit.page.locator(".caption button").first.focus()
    visit.page.keyboard.press("ArrowRight")
    visit.page.keyboard.press("ArrowRight")
    assert visit.page.locator(".stage canvas").get_attribute("aria-label") == "where </script> looked"
    assert visit.page.locator(".caption .lit").inner_text() == "</script>"


def test_the_map_of_a_caption():
    weights = seen().weights
    caption = Caption("a red circle", -1.0, WORDS, 3, None)
    with pytest.raises(InputError, match="attention=True"):
        map_of_caption(caption)
    square = replace(caption, attention=weights[..., :9] / weights[..., :9].sum(-1, keepdims=True))
    found = map_of_caption(square, image=picture("JPEG"), name="photo")
    assert found.columns == Grid(3, 3, picture("JPEG"))
    assert (list(found.rows), found.kind, found.name) == (WORDS, "cross", "photo")


@pytest.mark.parametrize("image", [None, b"no image"])
def test_without_an_image_there_is_nothing_to_draw_over(image: bytes | None):
    with pytest.raises(InputError, match="image"):
        draw_overlay(replace(seen(), columns=Grid(HIGH, WIDE, image)))


def test_a_page_refuses_what_browsers_do_not_show(tmp_path: Path):
    with pytest.raises(InputError, match="browsers"):
        save_page(tmp_path / "page.html", [Panel("x", [replace(seen(), columns=Grid(HIGH, WIDE, b"II*\0"))])])


def test_words_of_strange_characters_over_an_image():
    words = ["\x00", "\udcff", "$5", "\x1b[31m", "a"]
    figure = draw_overlay(replace(seen(), rows=words), title="\x00 and $\ufffe")
    root = ET.fromstring(figure_bytes(figure, "svg"))  # noqa: S314 - our own file
    texts = ["".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["�", "�", "$5", "�[31m", "a", "� and $�"]
