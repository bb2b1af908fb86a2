"""A lesson as a page: all of it is there, nothing is fetched, nothing is run."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from saccade.show import TOPICS, Bars, Curves, Lesson, Matrix
from saccade.show.page import as_page
from tests.show.samples import SAMPLE, WAVES, WEIGHTS, lesson_of


def pictures_of(lesson: Lesson) -> list[ET.Element]:
    """The pictures of a page, read as XML; the little ones of legends are none."""
    drawn = re.findall(r"<svg role.*?</svg>", as_page(lesson), re.DOTALL)
    return [ET.fromstring(svg) for svg in drawn]  # noqa: S314


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_is_a_page_that_needs_nothing(topic: str) -> None:
    page = as_page(lesson_of(topic))
    assert "default-src &#x27;none&#x27;" in page
    assert not re.search(r"<script|<img|<link|\bsrc=|\bhref=|url\(|@import", page)
    assert lesson_of(topic).title in page
    for picture in pictures_of(lesson_of(topic)):
        wide, high = float(picture.attrib["width"]), float(picture.attrib["height"])
        for part in picture.iter():
            assert -0.1 <= float(part.attrib.get("x", 0)) <= wide
            assert -0.1 <= float(part.attrib.get("y", 0)) <= high


def test_words_are_no_markup() -> None:
    page = as_page(SAMPLE)
    assert "<h1>Less &lt;than&gt; [bold]this[/bold]</h1>" in page
    assert "<td>&lt;script&gt;</td>" in page
    assert "<p>One &amp; two with <code>some code</code>.</p>\n<p>Another paragraph" in page


def test_numbers_stand_to_the_right() -> None:
    assert '<th>name</th><th class="number">number</th>' in as_page(SAMPLE)


def test_cells_are_as_opaque_as_their_numbers_are_large() -> None:
    small, wide = pictures_of(SAMPLE)[:2]
    shares = [cell.get("fill-opacity") for cell in small.findall("rect[@class='cell']")]
    assert shares == ["0.250", "0.750", None, "1.000", "0.000", "0.500"]
    assert np.isnan(WEIGHTS[0, 2])
    said = [title.text for title in small.iter("title")]
    assert said == ["a & b, x: 0.25", "a & b, y: 0.75", "c, x: 1.00", "c, y: 0.00", "c, z: 0.50"]
    cells = wide.findall("rect[@class='cell']")[: WAVES.size]
    signed = [float(cell.attrib["fill-opacity"]) * (1 if cell.attrib["fill"] == "var(--up)" else -1) for cell in cells]
    np.testing.assert_allclose(signed, WAVES.ravel() / max(1, abs(WAVES).max()), atol=5e-4)


def test_points_stand_where_their_values_are() -> None:
    curves = Curves((0, 2, 10), {"a": (1, 2, 5), "b": (5, float("nan"), 1)}, "x", "y")
    (picture,) = pictures_of(Lesson("t", (curves,)))
    points = [(float(one.attrib["cx"]), float(one.attrib["cy"])) for one in picture.findall("circle")]
    assert len(points) == 5
    (x0, y0), (x1, y1), (x2, y2) = points[:3]
    assert (x1 - x0) / (x2 - x0) == pytest.approx(0.2, abs=0.001)
    assert (y0 - y1) / (y0 - y2) == pytest.approx(0.25, abs=0.002)
    runs = [line.attrib["points"].split() for line in picture.findall("polyline")]
    assert [len(run) for run in runs] == [3, 1, 1]  # the second line has a gap


def test_bars_are_as_long_as_their_values() -> None:
    (picture,) = pictures_of(Lesson("t", (Bars(("a", "b"), (1, 4), "n"),)))
    long = [float(bar.attrib["width"]) for bar in picture.findall("rect")]
    assert long[1] == pytest.approx(4 * long[0], abs=0.5)


def test_labels_lean_where_they_do_not_fit() -> None:
    (picture,) = pictures_of(Lesson("t", (Matrix(np.eye(2), ("a", "b"), ("a", "unconstitutionally")),)))
    assert [("transform" in text.attrib) for text in picture.findall("text")[:2]] == [True, True]
