"""The parts of a lesson, for tests that look at one of them."""

from typing import TypeVar

from saccade.show import Bars, Curves, Lesson, Matrix, Table, Text

Kind = TypeVar("Kind", Text, Table, Curves, Matrix, Bars)


def blocks(lesson: Lesson, kind: type[Kind]) -> list[Kind]:
    """Those of one kind, in their order."""
    return [block for block in lesson.blocks if isinstance(block, kind)]


def prose(lesson: Lesson) -> str:
    """All paragraphs, one after the other."""
    return " ".join(paragraph for text in blocks(lesson, Text) for paragraph in text.paragraphs)


def column(table: Table, name: str) -> list[str]:
    """The cells below a name."""
    return [row[list(table.header).index(name)] for row in table.rows]
