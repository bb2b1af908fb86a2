"""`saccade look` of a text classifier: which words decided, and what they saw of each other."""

import argparse

from saccade.console.drawing import Maps, add_map_options, check_map_options, maps_as_chosen
from saccade.console.inputs import model_name, one_text
from saccade.look import Panel
from saccade.tasks.kind import Look
from saccade.tasks.text_classification.model import TextClassifier


def check(chosen: argparse.Namespace) -> None:
    one_text(chosen.inputs, "TEXT", "text to classify")
    check_map_options(chosen)


def look_at_labels(chosen: argparse.Namespace, classifier: TextClassifier) -> Maps:
    """Classify a text."""
    (text,) = chosen.inputs
    (found,) = classifier.classify([text], attention=True)
    title = f"{model_name(chosen.model)}: {text} ({found.label} {found.probability:.3f})"
    return maps_as_chosen(Panel(title, classifier.maps(found, name=text)), chosen, name=text)


LOOK = Look("a text", look_at_labels, add_map_options, check)
