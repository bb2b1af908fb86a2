"""saccade: attention models that a person can train on their own data, look into, and ship.

import saccade

model = saccade.train("dates", run="runs/dates")                  # or what `saccade train` made:
model = saccade.load("runs/dates", saccade.Translator)
model.translate(["27 février 2021"])[0].text
"""

import importlib
from typing import TYPE_CHECKING, Any

from saccade.runtime.threads import wait_briefly

if TYPE_CHECKING:
    from saccade import attention, decode, look, metrics, nets, show, tasks, text, training, vision
    from saccade.base.errors import InputError
    from saccade.tasks.algorithms.model import NeuralTuringMachine
    from saccade.tasks.captioning.model import Captioner
    from saccade.tasks.classification.model import Classifier
    from saccade.tasks.language_modeling.model import LanguageModel
    from saccade.tasks.line_reading.model import LineReader
    from saccade.tasks.load import load
    from saccade.tasks.model import Model
    from saccade.tasks.pointing.model import PointerNetwork
    from saccade.tasks.story_qa.model import MemoryNetwork
    from saccade.tasks.text_classification.model import TextClassifier
    from saccade.tasks.train import train
    from saccade.tasks.translation.model import Translator

__version__ = "0.1.0"

wait_briefly()  # here, because it has to be before torch is loaded

# Where each name is. It is imported when it is asked for: `saccade.attention` alone should not need all of this.
_ROOMS = ("attention", "decode", "look", "metrics", "nets", "show", "tasks", "text", "training", "vision")
_NAMES = {
    "MemoryNetwork": "saccade.tasks.story_qa.model",
    "Captioner": "saccade.tasks.captioning.model",
    "Classifier": "saccade.tasks.classification.model",
    "InputError": "saccade.base.errors",
    "LanguageModel": "saccade.tasks.language_modeling.model",
    "LineReader": "saccade.tasks.line_reading.model",
    "NeuralTuringMachine": "saccade.tasks.algorithms.model",
    "Model": "saccade.tasks.model",
    "PointerNetwork": "saccade.tasks.pointing.model",
    "TextClassifier": "saccade.tasks.text_classification.model",
    "Translator": "saccade.tasks.translation.model",
    "load": "saccade.tasks.load",
    "train": "saccade.tasks.train",
}


if not TYPE_CHECKING:  # to which every name would be one that there is

    def __getattr__(name: str) -> Any:
        if name in _ROOMS:
            return importlib.import_module(f"saccade.{name}")
        if name not in _NAMES:
            raise AttributeError(f"module 'saccade' has no attribute {name!r}")
        found = getattr(importlib.import_module(_NAMES[name]), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "Captioner",
    "Classifier",
    "InputError",
    "LanguageModel",
    "LineReader",
    "MemoryNetwork",
    "Model",
    "NeuralTuringMachine",
    "PointerNetwork",
    "TextClassifier",
    "Translator",
    "__version__",
    "attention",
    "decode",
    "load",
    "look",
    "metrics",
    "nets",
    "show",
    "tasks",
    "text",
    "train",
    "training",
    "vision",
]
