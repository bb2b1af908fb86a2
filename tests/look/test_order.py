"""Points and the order in which they were pointed at, as a picture."""

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from saccade.base.errors import InputError
from saccade.look import draw_order, figure_bytes, save_order

POINTS = [[0.1, 0.1], [0.9, 0.2], [0.5, 0.5], [0.7, 0.9], [0.2, 0.8]]
SVG = "{http://www.w3.org/2000/svg}"


def steps_of(order: list[int], *, closed: bool) -> list[str]:
    root = ET.fromstring(figure_bytes(draw_order(POINTS, order, closed=closed), "svg"))  # noqa: S314 - our own file
    names = [element.get("id") or "" for element in root.iter(f"{SVG}g")]
    return [name for name in names if name.startswith(("step-", "inside"))]


def test_there_is_an_arrow_for_each_step() -> None:
    assert steps_of([0, 1, 3, 4], closed=False) == ["step-1", "step-2", "step-3"]
    assert steps_of([0, 1, 3, 4], closed=True) == ["inside", "step-1", "step-2", "step-3", "step-4"]
    assert steps_of([0, 1], closed=True) == ["step-1"]
    assert steps_of([3], closed=True) == []
    assert steps_of([], closed=True) == []


def test_every_point_has_its_index_beside_it() -> None:
    axes = draw_order(POINTS, [0, 1], title="$5").axes[0]
    assert [text.get_text() for text in axes.texts if text.get_text()] == ["0", "1", "2", "3", "4"]
    np.testing.assert_allclose(np.asarray(axes.collections[0].get_offsets()), POINTS)
    assert axes.get_title() == r"\$5"


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_files(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"hull.{form}"
    save_order(path, POINTS, [0, 1, 3, 4], closed=True)
    content = path.read_bytes()
    save_order(path, POINTS, [0, 1, 3, 4], closed=True)
    assert path.read_bytes() == content
    if form == "png":
        with Image.open(path) as image:
            assert min(image.size) > 300


def test_points_in_one_place_can_be_drawn() -> None:
    figure_bytes(draw_order([[1.0, 2.0]] * 3, [0], closed=True), "png")


@pytest.mark.parametrize(
    ("points", "order", "says"),
    [
        ([[1.0], [2.0]], [0], r"wanted \[points, 2\]"),
        ([], [], r"wanted \[points, 2\]"),
        ([[1.0, float("nan")]], [0], "all finite"),
        (POINTS, [5], "order: found 5, wanted indices from 0 to 4"),
    ],
)
def test_what_cannot_be_drawn_is_refused(points: list[list[float]], order: list[int], says: str) -> None:
    with pytest.raises(InputError, match=says):
        draw_order(points, order)


def test_the_name_says_the_format(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ends in '\.gif'"):
        save_order(tmp_path / "hull.gif", POINTS, [0])


def test_a_title_of_strange_characters() -> None:
    content = figure_bytes(draw_order(POINTS, [0, 1], title="\x00 hull\udcff"), "svg")
    texts = ["".join(element.itertext()) for element in ET.fromstring(content).iter(f"{SVG}text")]  # noqa: S314
    assert "� hull�" in texts
