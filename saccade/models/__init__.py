"""Whole models, and the folders that they are kept in."""

from pathlib import Path
from typing import TypeVar

from saccade.errors import InputError
from saccade.models.caption_net import CaptionBatch, CaptionNet, caption_loss, make_caption_net
from saccade.models.caption_settings import (
    CaptionerSettings,
    CaptionModel,
    CaptionRnnSettings,
    EyeSettings,
    PretrainedEye,
    SmallEye,
    expect_caption_words,
)
from saccade.models.captioner import Caption, Captioner
from saccade.models.classifier import (
    Classified,
    Classifier,
    ClassifierSettings,
    ClassModel,
    CnnSettings,
    GlimpseSettings,
)
from saccade.models.folder import CONFIG, MODEL, RUN, expect_whole, model_folder
from saccade.models.line_reader import LineReader, LineReaderSettings, LineSettings, ReadLine
from saccade.models.memory_machine import (
    BaselineSettings,
    MachineModel,
    MachineSettings,
    MemoryMachine,
    NtmSettings,
    Trace,
)
from saccade.models.pointer import (
    Pointed,
    Pointer,
    PointerLstmSettings,
    PointerModel,
    PointerSettings,
    PointerTransformerSettings,
)
from saccade.models.pretrained import load_eye, weights_fingerprint
from saccade.models.reading import Reading
from saccade.models.search import Search, TreeNode
from saccade.models.seeing import features_of, scaled
from saccade.models.settings import RnnSettings, TransformerSettings, TranslatorSettings, expect_joint_if_tied
from saccade.models.story_answerer import Answer, Answerer, AnswererSettings, MemorySettings, recall_stories
from saccade.models.translation import Translation
from saccade.models.translation_net import TranslationNet, make_net, translation_loss
from saccade.models.translator import OVERLONG, EncodedSentence, Overlong, Translator
from saccade.settings import read_yaml

Model = Translator | Captioner | Classifier | LineReader | Pointer | Answerer | MemoryMachine

ModelT = TypeVar("ModelT", Translator, Captioner, Classifier, LineReader, Pointer, Answerer, MemoryMachine)

_TASKS: dict[str, type[Model]] = {
    "translation": Translator,
    "captions": Captioner,
    "classification": Classifier,
    "lines": LineReader,
    "pointing": Pointer,
    "stories": Answerer,
    "algorithm": MemoryMachine,
}

# How a finished model is used, by its task.
USES = {
    "translation": "saccade translate {model} FILE",
    "captions": "saccade caption {model} IMAGE",
    "classification": "saccade classify {model} IMAGE",
    "lines": "saccade read {model} IMAGE",
    "pointing": "saccade point {model} FILE",
    "stories": 'saccade ask {model} "STORY" "QUESTION"',
    "algorithm": "saccade evaluate {model}",
}


def load(folder: str | Path) -> Model:
    """The model of a folder, whatever it does; of a run's folder, the best that it has so far."""
    found = model_folder(Path(folder))
    config = found / CONFIG
    expect_whole(found)
    values = read_yaml(config)
    task = values.get("task", "translation") if isinstance(values, dict) else "translation"
    if not isinstance(task, str) or task not in _TASKS:
        raise InputError(f"{config}: task: found {task!r}, wanted one of {', '.join(_TASKS)}")
    return _TASKS[task].load(found)


def load_as(kind: type[ModelT], folder: str | Path) -> ModelT:
    """The model of a folder, which has to be of that kind; another is refused, with what it is for."""
    model = load(folder)
    if not isinstance(model, kind):
        task = model.settings.task
        raise InputError(f"{folder} is a model for {task}; use it with: {USES[task].format(model=folder)}")
    return model


__all__ = [
    "MODEL",
    "OVERLONG",
    "RUN",
    "USES",
    "Answer",
    "Answerer",
    "AnswererSettings",
    "BaselineSettings",
    "Caption",
    "CaptionBatch",
    "CaptionModel",
    "CaptionNet",
    "CaptionRnnSettings",
    "Captioner",
    "CaptionerSettings",
    "ClassModel",
    "Classified",
    "Classifier",
    "ClassifierSettings",
    "CnnSettings",
    "EncodedSentence",
    "EyeSettings",
    "GlimpseSettings",
    "LineReader",
    "LineReaderSettings",
    "LineSettings",
    "MachineModel",
    "MachineSettings",
    "MemoryMachine",
    "MemorySettings",
    "Model",
    "NtmSettings",
    "Overlong",
    "Pointed",
    "Pointer",
    "PointerLstmSettings",
    "PointerModel",
    "PointerSettings",
    "PointerTransformerSettings",
    "PretrainedEye",
    "ReadLine",
    "Reading",
    "RnnSettings",
    "Search",
    "SmallEye",
    "Trace",
    "TransformerSettings",
    "Translation",
    "TranslationNet",
    "Translator",
    "TranslatorSettings",
    "TreeNode",
    "caption_loss",
    "expect_caption_words",
    "expect_joint_if_tied",
    "features_of",
    "load",
    "load_as",
    "load_eye",
    "make_caption_net",
    "make_net",
    "recall_stories",
    "scaled",
    "translation_loss",
    "weights_fingerprint",
]
