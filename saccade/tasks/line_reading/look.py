"""`saccade look` of a reader of lines: where on the strip each letter was."""

import argparse

from saccade.console.drawing import Maps, add_map_options, check_map_options, maps_as_chosen
from saccade.console.inputs import model_name, one_image
from saccade.look import Panel
from saccade.tasks.kind import Look
from saccade.tasks.line_reading.model import LineReader


def look_at_line(chosen: argparse.Namespace, reader: LineReader) -> Maps:
    """Read a strip."""
    image = one_image(chosen.inputs)
    line = reader.read([image], attention=True)[0]
    maps = reader.maps(line, image=image, name=line.text) if line.letters else []
    return maps_as_chosen(Panel(f"{model_name(chosen.model)}: {line.text}", maps), chosen, name=image.name)


LOOK = Look("an image", look_at_line, add_map_options, check_map_options)
