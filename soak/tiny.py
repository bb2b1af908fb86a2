"""The smallest models of each task: how they are trained, within a second, and what they are asked."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from saccade.base.errors import InputError
from saccade.cli.main import main
from saccade.tasks.algorithms.model import NeuralTuringMachine
from saccade.tasks.algorithms.problems import make_episodes
from saccade.tasks.captioning.model import Captioner
from saccade.tasks.classification.model import Classifier
from saccade.tasks.line_reading.model import LineReader
from saccade.tasks.model import Model
from saccade.tasks.pointing.model import PointerNetwork
from saccade.tasks.story_qa.model import MemoryNetwork
from saccade.tasks.story_qa.stories import question_of
from saccade.tasks.translation.model import Translator
from saccade.vision import as_png, make_digits
from soak.nursery import forked

STEPS = 12
# Such that some saves come with a validation, some come alone, and the last of both comes at the end.
_COMMON = (
    f"train.steps={STEPS}",
    "train.save_every=3",
    "train.validate_every=4",
    "train.log_every=2",
    "train.warmup=2",
    "train.tensorboard=false",
    "train.threads=1",
)

# One recipe for each task, and small settings for it. Of the settings that lead to files, {folder} is where they are.
RECIPES: dict[str, tuple[str, ...]] = {
    "translation": (
        "dates",
        "data.pairs=60",
        "data.validation_size=8",
        "model.dim=8",
        "model.embedding=4",
        "train.batch_tokens=128",
        "validation.sentences=4",
        "train.select_checkpoint=average",
        "train.average_checkpoints=2",
    ),
    "captioning": (
        "shapes",
        "data.scenes=20",
        "data.validation_size=5",
        "data.cache={folder}/cache",
        "image_encoder.kind=small",
        "image_encoder.image_size=16",
        "image_encoder.channels=[4,8]",
        "model.dim=8",
        "model.embedding=4",
        "train.batch_tokens=32",
        "validation.images=4",
    ),
    "classification": (
        "classes",
        "data.images=20",
        "data.validation_size=5",
        "model.image_size=16",
        "model.channels=[4,8]",
        "train.batch=4",
    ),
    "line_reading": (
        "lines-ctc",
        "data.train={folder}/digits",
        "data.valid={folder}/digits",
        "data.lines=16",
        "data.validation_size=4",
        "model.dim=8",
        "train.batch=2",
    ),
    "pointing": ("sort", "data.validation_size=8", "model.dim=8", "model.feed_forward=8", "train.batch=4"),
    "story_qa": ("stories", "data.stories=10", "data.validation_size=8", "model.dim=8", "train.batch=4"),
    "algorithms": (
        "ntm-copy",
        "data.max_length=4",
        "model.dim=8",
        "model.locations=8",
        "model.width=4",
        "train.batch=2",
        "validation.sequences=2",
        "validation.length=6",
    ),
}

# Another translator, for what the others have not: subwords, and a Transformer.
SUBWORDS = (
    "numbers",
    "data.pairs=100",
    "data.validation_size=8",
    "data.max_number=9999",
    "vocabulary.kind=subwords",
    "vocabulary.size=80",
    "vocabulary.dropout=0",
    "model.layers=1",
    "model.dim=8",
    "model.heads=2",
    "model.feed_forward=8",
    "train.batch_tokens=128",
    "validation.sentences=4",
)


def training(recipe: tuple[str, ...], folder: Path) -> list[str]:
    """The command that trains such a model in the folder `folder`, which is made; the run's own folder is in it."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = [word.format(folder=folder) for word in (*recipe, *_COMMON)]
    if any("digits" in word for word in settings) and not (folder / "digits").exists():
        write_digits(folder / "digits")
    return ["train", *settings, "--run", str(folder / "run")]


def write_digits(folder: Path) -> None:
    """Images of digits, a folder for each."""
    digits = make_digits(20, seed=0, side=28)
    for number, (pixels, label) in enumerate(zip(digits.pixels, digits.labels, strict=True)):
        path = folder / digits.classes[int(label)] / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(as_png(pixels))


def train_model(recipe: tuple[str, ...], folder: Path) -> Path:
    """Train such a model, unless it is there already; gives the model's folder."""
    if (folder / "run" / "model").exists():
        return folder / "run" / "model"
    command = training(recipe, folder)
    outcome = forked(lambda: main(command), seconds=120)
    if outcome.code:
        raise InputError(f"saccade {' '.join(command)} ended with code {outcome.code}: {outcome.err.decode()[-500:]}")
    return folder / "run" / "model"


def answers(model: Model[Any, Any]) -> str:
    """All that a model says to a fixed question, as a text; it is the same for the same model."""
    return json.dumps(_ASK[type(model)](model), default=lambda array: array.tolist())


def _picture(width: int) -> bytes:
    """A digit, in an image of that width."""
    digit = make_digits(1, seed=5, side=28).pixels[0]
    return as_png(digit.repeat(width // 28, axis=1))


_QUESTION = question_of(
    {"story": "Mary went to the garden. John took the milk.", "question": "Where is Mary?"}, "soak", answered=False
)


def _ask_machine(machine: NeuralTuringMachine) -> Any:
    episodes = make_episodes(machine.settings.data, 2, seed="soak", length=machine.settings.data.max_length)
    return machine.answers(episodes)


_ASK: dict[type[Model[Any, Any]], Callable[[Any], Any]] = {
    Translator: lambda model: [(one.text, one.score) for one in model.translate(["3 March 2020", "forty-two"], beam=2)],
    Captioner: lambda model: [(one.text, one.score) for one in model.caption([_picture(28)])],
    Classifier: lambda model: model.classify([_picture(28)])[0].ranking,
    LineReader: lambda model: [(one.text, one.attention) for one in model.read([_picture(84)], attention=True)],
    PointerNetwork: lambda model: [(one.order, one.score) for one in model.point([[3.0, 1.0, 2.0]])],
    MemoryNetwork: lambda model: model.answer_all([_QUESTION])[0].ranking,
    NeuralTuringMachine: _ask_machine,
}
