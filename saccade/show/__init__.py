"""Lessons: the ideas behind attention, each computed at the moment that it is shown, by this library itself."""

from saccade.show.lesson import Bars, Block, Curves, Lesson, Matrix, Table, Text
from saccade.show.topics import TOPICS, make_lesson, summary

__all__ = ["TOPICS", "Bars", "Block", "Curves", "Lesson", "Matrix", "Table", "Text", "make_lesson", "summary"]
