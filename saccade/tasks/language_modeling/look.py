"""`saccade look` of a language model: which earlier tokens each token of a text was foreseen from."""

import argparse

from saccade.console.drawing import Maps, add_map_options, check_map_options, maps_as_chosen
from saccade.console.inputs import model_name, one_text
from saccade.look import Panel
from saccade.tasks.kind import Look
from saccade.tasks.language_modeling.model import LanguageModel


def check(chosen: argparse.Namespace) -> None:
    one_text(chosen.inputs, "TEXT", "text to read")
    check_map_options(chosen)


def look_at_text(chosen: argparse.Namespace, model: LanguageModel) -> Maps:
    """Read a text."""
    (text,) = chosen.inputs
    (found,) = model.score([text], attention=True)
    title = f"{model_name(chosen.model)}: {text} ({found.bits_per_character:.2f} bits per character)"
    return maps_as_chosen(Panel(title, model.maps(found, name=text)), chosen, name=text)


LOOK = Look("a text", look_at_text, add_map_options, check)
