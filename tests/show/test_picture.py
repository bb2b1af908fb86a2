"""A lesson as a figure: what is drawn are its numbers, and nothing lies beyond the sheet."""

from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from saccade.look import figure_bytes
from saccade.show import TOPICS, Lesson
from saccade.show.picture import draw_picture
from tests.show.samples import SAMPLE, WAVES, WEIGHTS, lesson_of


def beyond_the_sheet(lesson: Lesson) -> list[str]:
    """What is cut off: texts, or diagrams with all that is written beside them."""
    figure = draw_picture(lesson)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    parts: list[Any] = [*figure.texts, *figure.axes]
    found: list[str] = []
    for part in parts:
        box = part.get_tightbbox(canvas.get_renderer())
        if box is not None and not (min(box.x0, box.y0) >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1):
            found.append(str(part))
    return found


@pytest.mark.parametrize("topic", TOPICS)
def test_nothing_of_a_topic_is_cut_off(topic: str) -> None:
    assert beyond_the_sheet(lesson_of(topic)) == []


def test_what_is_cut_off_would_be_seen() -> None:
    assert beyond_the_sheet(SAMPLE) == []
    figure = Lesson("A title that is far too long for one line of a sheet, whatever the letters are, " * 2, ())
    assert len(beyond_the_sheet(figure)) == 1


def test_the_numbers_are_drawn() -> None:
    first, second, _, lines, bars = draw_picture(SAMPLE).axes
    shown: Any = first.collections[0].get_array()
    np.testing.assert_array_equal(shown.filled(np.nan).reshape(2, 3), WEIGHTS)
    waves: Any = second.collections[0].get_array()
    np.testing.assert_array_equal(waves.reshape(2, 17), WAVES)
    assert [text.get_text() for text in first.texts] == ["0.25", "0.75", "1.00", "0.00", "0.50"]
    for line, wanted in zip(lines.lines, ([1, 2, 3], [3, 2, np.nan]), strict=True):
        np.testing.assert_array_equal(np.asarray(line.get_ydata()), wanted)
    assert lines.get_xscale() == "log"
    drawn: Any = bars.patches
    assert [bar.get_width() for bar in drawn] == [1, 4]


def test_the_same_lesson_gives_the_same_file() -> None:
    one, other = (figure_bytes(draw_picture(SAMPLE), "png") for _ in range(2))
    assert one == other
    assert b"$5 and $6" in figure_bytes(draw_picture(SAMPLE), "svg")
