"""Training from Python: settings, callbacks, data of one's own, and what is refused."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

import saccade
from saccade.base.errors import InputError, Stopped
from saccade.base.settings import Settings
from saccade.tasks.find_recipe import load_recipe
from saccade.tasks.kind import all_kinds
from saccade.tasks.pointing.data import PointingSplits
from saccade.tasks.pointing.problems import Problem
from saccade.tasks.translation.data import Splits
from saccade.text import Pair
from saccade.training import Callback, Silent
from soak.tiny import TINY, training

SMALL: dict[str, Any] = {
    "data.pairs": 40,
    "data.validation_size": 4,
    "model.dim": 8,
    "model.embedding": 4,
    "train.steps": 6,
    "train.validate_every": 2,
    "train.threads": 1,
    "train.tensorboard": False,
}


def train(run: Path, **how: Any) -> saccade.Translator:
    return saccade.train("dates", saccade.Translator, run=run, settings=SMALL, reporter=Silent(), **how)


def weights(run: Path) -> bytes:
    return (run / "model" / "model.safetensors").read_bytes()


class Witness(Callback):
    """Remembers what it is told, and ends the training after a step."""

    def __init__(self, last: int | None = None) -> None:
        self.last = last
        self.steps: list[tuple[int, float]] = []
        self.validations: list[int] = []
        self.models: set[int] = set()

    def on_step_end(self, step: int, loss: float, model: Any) -> None:
        self.steps.append((step, loss))
        self.models.add(id(model))

    def on_validation_end(self, step: int, metrics: dict[str, float], model: Any) -> bool:
        assert {"loss", "bleu", "exact_match"} <= metrics.keys()
        self.validations.append(step)
        self.models.add(id(model))
        metrics.clear()  # which are its own
        return step == self.last


def test_callbacks_see_each_step_and_each_validation_and_change_nothing(tmp_path: Path) -> None:
    one, other = Witness(), Witness()
    train(tmp_path / "plain")
    train(tmp_path / "seen", callbacks=[one, other])
    for witness in (one, other):
        assert [step for step, _ in witness.steps] == [1, 2, 3, 4, 5, 6]
        assert all(loss > 0 for _, loss in witness.steps)
        assert witness.validations == [2, 4, 6]
        assert len(witness.models) == 1
    assert weights(tmp_path / "seen") == weights(tmp_path / "plain")


def test_a_callback_can_end_a_training_which_can_go_on(tmp_path: Path) -> None:
    """All are told of the validation, though one of them has enough."""
    witnesses = [Witness(last=2), Witness()]
    train(tmp_path / "run", callbacks=witnesses)
    assert [witness.validations for witness in witnesses] == [[2], [2]]
    rest = Witness()
    train(tmp_path / "run", callbacks=[rest])
    assert [step for step, _ in rest.steps] == [3, 4, 5, 6]
    train(tmp_path / "whole")
    assert weights(tmp_path / "run") == weights(tmp_path / "whole")


def test_an_error_or_a_signal_in_a_callback_loses_nothing(tmp_path: Path) -> None:
    class Broken(Callback):
        def on_validation_end(self, step: int, metrics: dict[str, float], model: Any) -> bool:
            raise RuntimeError("mine")

    class Interrupted(Callback):
        def on_step_end(self, step: int, loss: float, model: Any) -> None:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(RuntimeError, match="mine"):
        train(tmp_path / "run", callbacks=[Broken()])
    with pytest.raises(Stopped, match="stopped by SIGTERM after step 1, and saved"):
        train(tmp_path / "run", callbacks=[Interrupted()])
    train(tmp_path / "run")
    train(tmp_path / "whole")
    assert weights(tmp_path / "run") == weights(tmp_path / "whole")


def test_a_finished_training_gives_its_model_again(tmp_path: Path) -> None:
    model = train(tmp_path / "run")
    again = saccade.train(run=str(tmp_path / "run"), model_class=saccade.Translator, reporter=Silent())
    assert again.translate(["May 3, 1999"]) == model.translate(["May 3, 1999"])


def test_settings_are_said_by_name_or_as_on_a_command_line_or_in_a_recipe(tmp_path: Path) -> None:
    listed = [f"{name}={str(value).lower()}" for name, value in SMALL.items()]
    train(tmp_path / "named")
    saccade.train("dates", run=tmp_path / "listed", settings=listed, reporter=Silent())
    saccade.train(load_recipe("dates", listed), run=tmp_path / "recipe", reporter=Silent())
    assert weights(tmp_path / "named") == weights(tmp_path / "listed") == weights(tmp_path / "recipe")


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"settings": {"model.dmi": 8}}, r"model\.dmi: no such setting; did you mean dim\?"),
        ({"settings": {"train.steps": "many"}}, r"train\.steps: found 'many', wanted a whole number"),
        ({"settings": {"train.steps": "8"}}, r"train\.steps: found '8', wanted a whole number"),
        ({"settings": {"train.steps": {1, 2}}}, r"settings: train\.steps: found {1, 2}, wanted a number, a text"),
        ({"settings": {"train.lr": float("nan")}}, r"settings: train\.lr: found nan, wanted a number"),
        ({"settings": "train.steps=8"}, r"settings: found one text, wanted a list of them, or a dict"),
        ({"recipe": load_recipe("dates"), "settings": SMALL}, r"settings: found some beside a Recipe"),
        ({"recipe": "daets"}, r"daets: neither a file nor one of the recipes .*; did you mean dates\?"),
        ({"recipe": None}, r"no training was begun there; name a recipe"),
        (
            {"model_class": saccade.Captioner},
            r"the recipe is of translation, whose model is a Translator, not Captioner",
        ),
        ({"data": [Pair("a", "b")]}, r"data: found list, wanted saccade\.tasks\.translation\.data\.Splits"),
        (
            {"modules": {"decoder": None}},
            r"modules: found decoder; a model that translates has no part of one's own",
        ),
    ],
)
def test_what_makes_no_sense_gets_a_sentence_and_leaves_no_folder(
    how: dict[str, Any], says: str, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"recipe": "dates", "run": tmp_path / "run", "reporter": Silent(), **how}
    with pytest.raises(InputError, match=says):
        saccade.train(**options)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("task", [kind.name for kind in all_kinds() if kind.name != "algorithms"])
def test_data_of_ones_own(task: str, tmp_path: Path) -> None:
    """It is learnt from in place of the recipe's; other data, such as the recipe's own, cannot take its place."""
    kind = next(kind for kind in all_kinds() if kind.name == task)
    _, name, *settings, _, run = training(TINY[task].recipe, tmp_path)
    data = kind.load_data(load_recipe(name, [*settings, "data.seed=77"]), print)
    how: dict[str, Any] = {"run": run, "settings": settings, "reporter": Silent()}
    model = saccade.train(name, kind.model, data=data, **how)
    with pytest.raises(InputError, match="was begun with data that a program handed over; hand it over again"):
        saccade.train(name, **how)
    with pytest.raises(InputError, match="was begun with other data than there is now"):
        saccade.train(name, data=kind.load_data(load_recipe(name, settings), print), **how)
    assert saccade.train(name, kind.model, data=data, **how).settings == model.settings
    how["run"] = tmp_path / "other"
    saccade.train(name, **how)
    assert weights(Path(run)) != weights(tmp_path / "other")


def test_pairs_and_problems_that_a_program_made(tmp_path: Path) -> None:
    """What a recipe would have made matters no more."""
    pairs = [Pair(f"{number} apples", f"{number} Äpfel") for number in range(60)]
    own = {name: value for name, value in SMALL.items() if not name.startswith("data.")}
    settings = own | {"vocabulary.kind": "characters", "vocabulary.joint": True}
    data = Splits(train=pairs[:50], valid=pairs[50:])
    translator = saccade.train("rnn", saccade.Translator, run=tmp_path / "apples", settings=settings, data=data)
    assert {"Ä", "7"} <= {translator.vocabularies.target.piece(n) for n in range(len(translator.vocabularies.target))}

    points = [Problem([[float(n % 7), 1.0], [float(n % 5), 2.0], [3.0, 0.5]], [2, 0]) for n in range(40)]
    network = saccade.train(
        "sort",
        saccade.PointerNetwork,
        run=tmp_path / "points",
        data=PointingSplits(points[:30], points[30:]),
        settings={
            "model.dim": 8,
            "train.steps": 2,
            "train.tensorboard": False,
            "data.make": "hull",
            "model.input_size": 2,
        },
    )
    assert network.settings.problem is None  # somebody's own, and not the hull's
    assert (network.settings.min_length, network.settings.max_answer_length) == (3, 2)
    assert network.point([points[0].inputs])[0].inputs == points[0].inputs
    with pytest.raises(InputError, match=r"data\.valid: found inputs of 1 numbers each; set model\.input_size=1"):
        saccade.train(
            "sort",
            run=tmp_path / "wrong",
            data=PointingSplits(points, [Problem([[1.0]], [0])]),
            settings={"data.make": "hull", "model.input_size": 2},
        )


def test_every_recipe_class_says_its_data() -> None:
    for kind in all_kinds():
        assert isinstance(kind.data, type)
        assert issubclass(kind.recipe, Settings)
        assert callable(kind.data.fingerprint)


@pytest.mark.parametrize(
    ("train", "message"),
    [
        ([], r"data: found no pairs in train, wanted at least one"),
        ([("a", "b")], r"data: train, pair 1: found \('a', 'b'\), wanted Pair\(source, target\)"),
        ([Pair("a", "b"), Pair("", "b")], r"data\.train: the source of pair 2 is empty"),
    ],
)
def test_pairs_that_a_program_gives_are_looked_at(tmp_path: Path, train: list[Any], message: str) -> None:
    data = Splits(train=train, valid=[Pair("a", "b")])
    with pytest.raises(InputError, match=message):
        saccade.train("rnn", run=tmp_path / "run", data=data, reporter=Silent())


@pytest.mark.parametrize(
    ("callbacks", "message"),
    [
        (Callback(), r"callbacks: found Callback, wanted a list of them; write \[callback\]"),
        ([Callback], r"wanted objects of classes made from Callback; write its name with \(\)"),
        ([print], r"callbacks: found <built-in function print>, wanted objects"),
    ],
)
def test_what_is_no_callback_is_named(tmp_path: Path, callbacks: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        train(tmp_path / "run", callbacks=callbacks)
