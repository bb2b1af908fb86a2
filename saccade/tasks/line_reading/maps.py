"""The attention maps of lines."""

from saccade.base.errors import InputError
from saccade.look import AttentionMap, Grid
from saccade.tasks.line_reading.result import LineReaderOutput


def map_of_line(line: LineReaderOutput, *, image: bytes | None = None, name: str = "") -> AttentionMap:
    """Where each letter was, in columns of the strip; with the strip as the model sees it, drawn over it."""
    if line.attention is None:
        raise InputError("the line has no attention; read it with attention=True")
    return AttentionMap(line.letters, Grid(1, line.attention.shape[-1], image), line.attention, "cross", name)
