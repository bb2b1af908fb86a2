"""The smallest models of each task: how they are trained, within a second, and what they are asked."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saccade.base.errors import InputError
from saccade.cli.main import main
from saccade.tasks.algorithms.model import NeuralTuringMachine
from saccade.tasks.captioning.model import Captioner
from saccade.tasks.classification.model import Classifier
from saccade.tasks.language_modeling.model import LanguageModel
from saccade.tasks.line_reading.model import LineReader
from saccade.tasks.model import Model
from saccade.tasks.output import Output
from saccade.tasks.pointing.model import PointerNetwork
from saccade.tasks.story_qa.model import MemoryNetwork
from saccade.tasks.story_qa.stories import Question, question_of
from saccade.tasks.text_classification.model import TextClassifier
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
    "train.warmup_steps=2",
    "train.tensorboard=false",
    "train.threads=1",
)


class Tiny(NamedTuple):
    """The smallest model of a task."""

    recipe: tuple[str, ...]  # and small settings for it; of those that lead to files, {folder} is where they are
    ask: Callable[..., Sequence[Output]]  # the model's method that answers many inputs
    inputs: Sequence[Any]  # some for it, no two of them the same


def _picture(width: int, *, seed: int = 5) -> bytes:
    """A digit, in an image of that width."""
    digit = make_digits(1, seed=seed, side=28).pixels[0]
    return as_png(digit.repeat(width // 28, axis=1))


def _question(room: str, *, more: str = "") -> Question:
    story = f"Mary went to the {room}. John took the milk. {more}"
    return question_of({"story": story, "question": "Where is Mary?"}, "soak", answered=False)


def _sequences(*lengths: int) -> list[NDArray[np.float32]]:
    """Eight bits and a mark, as machines that copy read them, so many steps each."""
    rng = np.random.default_rng(0)
    return [rng.integers(0, 2, (length, 9)).astype(np.float32) for length in lengths]


# One entry for each task.
TINY: dict[str, Tiny] = {
    "translation": Tiny(
        recipe=(
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
        ask=Translator.translate,
        inputs=["3 March 2020", "forty-two", "May 3, 1999"],
    ),
    "language_modeling": Tiny(
        recipe=(
            "gpt",
            "data.lines=40",
            "model.layers=2",
            "model.dim=8",
            "model.heads=2",
            "model.feed_forward=8",
            "model.max_length=16",
            "train.batch_size=4",
        ),
        ask=LanguageModel.generate,
        inputs=["\n7 ", "\n4321 four", ""],
    ),
    "captioning": Tiny(
        recipe=(
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
        ask=Captioner.caption,
        inputs=[_picture(28), _picture(56), _picture(28, seed=6)],
    ),
    "classification": Tiny(
        recipe=(
            "classes",
            "data.images=20",
            "data.validation_size=5",
            "model.image_size=16",
            "model.channels=[4,8]",
            "model.attend_after=[1]",
            "train.batch_size=4",
        ),
        ask=Classifier.classify,
        inputs=[_picture(28), _picture(56), _picture(28, seed=6)],
    ),
    "text_classification": Tiny(
        recipe=(
            "labels",
            "data.texts=40",
            "data.validation_size=8",
            "model.embedding=4",
            "model.dim=8",
            "model.score=dot",
            "train.batch_size=4",
        ),
        ask=TextClassifier.classify,
        inputs=["the soup was not bad", "honestly the film was good but the ending was never sad", "they say nothing"],
    ),
    "line_reading": Tiny(
        recipe=(
            "lines-ctc",
            "data.train={folder}/digits",
            "data.valid={folder}/digits",
            "data.lines=16",
            "data.validation_size=4",
            "model.dim=8",
            "train.batch_size=2",
        ),
        ask=LineReader.read,
        inputs=[_picture(84), _picture(140), _picture(28)],
    ),
    "pointing": Tiny(
        recipe=("sort", "data.validation_size=8", "model.dim=8", "model.feed_forward=8", "train.batch_size=4"),
        ask=PointerNetwork.point,
        inputs=[[3.0, 1.0, 2.0], [1.0, 2.0], [0.5, 0.1, 0.9, 0.3]],
    ),
    "story_qa": Tiny(
        recipe=(
            "stories",
            "data.stories=10",
            "data.validation_size=8",
            "model.dim=8",
            "train.batch_size=4",
            "train.linear_start=0",
        ),
        ask=MemoryNetwork.answer_all,
        inputs=[_question("garden"), _question("kitchen"), _question("garden", more="Mary went home.")],
    ),
    "algorithms": Tiny(
        recipe=(
            "ntm-copy",
            "data.max_length=4",
            "model.dim=8",
            "model.locations=8",
            "model.width=4",
            "train.batch_size=2",
            "validation.sequences=2",
            "validation.length=6",
        ),
        ask=NeuralTuringMachine.run,
        inputs=_sequences(3, 4, 1),
    ),
}
RECIPES = {task: tiny.recipe for task, tiny in TINY.items()}

# Another translator, for what the others have not: subwords, and a Transformer.
SUBWORDS = (
    "numbers",
    "data.pairs=100",
    "data.validation_size=8",
    "data.max_number=9999",
    "vocabulary.kind=subwords",
    "vocabulary.size=80",
    "vocabulary.bpe_dropout=0",
    "model.layers=1",
    "model.dim=8",
    "model.heads=2",
    "model.feed_forward=8",
    "train.batch_tokens=128",
    "validation.sentences=4",
)

# And one that copies.
COPYING = (
    "answers",
    "data.pairs=60",
    "data.validation_size=8",
    "vocabulary.min_frequency=6",
    "model.dim=8",
    "model.embedding=4",
    "train.batch_tokens=256",
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
    """All that a model says to fixed questions, as a text; it is the same for the same model."""
    tiny = TINY[model.settings.task]
    return json.dumps(tiny.ask(model, tiny.inputs), default=_plain)


def _plain(found: Any) -> Any:
    return found.tolist() if isinstance(found, np.ndarray) else vars(found)
