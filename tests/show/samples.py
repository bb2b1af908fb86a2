"""A lesson with every kind of block, and words in it that could be taken for something else."""

import functools

import numpy as np

from saccade.show import Bars, Curves, Lesson, Matrix, Table, Text, make_lesson

WEIGHTS = np.array([[0.25, 0.75, np.nan], [1.0, 0.0, 0.5]])
WAVES = np.sin(np.arange(2 * 17).reshape(2, 17))

SAMPLE = Lesson(
    "Less <than> [bold]this[/bold]",
    (
        Text("One & two with `some code`.\n\nAnother\nparagraph of $5 and $6."),
        Table(("name", "number"), (("<script>", "1.5"), ("[red]x", "-"), ("y", "2,000"))),
        Matrix(WEIGHTS, ("a & b", "c"), ("x", "y", "z"), caption="Weights < 1"),
        Matrix(WAVES, ("r", "s"), ("",) * 17, caption="Waves", diverging=True),
        Curves((1, 10, 100), {"up": (1, 2, 3), "down": (3, 2, float("nan"))}, "x", "y", log_x=True, caption="Lines"),
        Bars(("one", "four"), (1, 4), "count", caption="Bars"),
    ),
    paper="Nobody 2000",
)


@functools.cache
def lesson_of(topic: str) -> Lesson:
    """The lesson of a topic, made once for all tests of how it is drawn."""
    return make_lesson(topic)
