"""Pointing as a task: it learns, goes on bit for bit, and takes problems of one's own."""

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch

import saccade
from saccade.base.errors import InputError
from saccade.base.settings import check_settings
from saccade.base.shuffling import Cursor
from saccade.tasks.find_recipe import load_recipe
from saccade.tasks.pointing.data import PointingSplits, load_problem_splits
from saccade.tasks.pointing.metrics import score_orders
from saccade.tasks.pointing.model import PointerNetwork
from saccade.tasks.pointing.problems import Problem, make_problems
from saccade.tasks.pointing.recipe import PointingRecipe
from saccade.tasks.pointing.training import PointingTask
from saccade.tasks.run import start_training
from saccade.training import Silent, train


def recipe_of(make: str = "sort", *, data: dict[str, Any] | None = None, **settings: Any) -> PointingRecipe:
    usual = {"steps": 4, "batch_size": 16, "lr": 5e-3, "warmup_steps": 10, "schedule": "cosine", "tensorboard": False}
    size = 2 if make == "hull" else 1
    values = {
        "task": "pointing",
        "data": data or {"make": make, "min_length": 2, "max_length": 5, "validation_size": 60},
        "model": {"kind": "transformer", "input_size": size, "dim": 16, "heads": 2, "feed_forward": 32},
        "train": usual | settings,
    }
    return check_settings(PointingRecipe, values, where="small")


def task_of(recipe: PointingRecipe, run: Path) -> PointingTask:
    return PointingTask(recipe, load_problem_splits(recipe.data, recipe.model), run, Silent())


@pytest.mark.parametrize(("make", "steps", "exact"), [("sort", 50, 60), ("hull", 80, 30)])
def test_it_learns(make: str, steps: int, exact: float, tmp_path: Path) -> None:
    recipe = recipe_of(make, steps=steps, batch_size=32, lr=1e-2, validate_every=steps)
    figures = train(task_of(recipe, tmp_path), recipe.train, tmp_path, Silent())
    assert figures["exact_match"] > exact
    assert set(figures) == ({"loss", "exact_match"} if make == "sort" else {"loss", "exact_match", "area"})
    pointer = saccade.load(tmp_path / "model", PointerNetwork)
    problems = make_problems(recipe.data.make or "sort", 40, seed="new", min_length=2, max_length=5)
    found = [one.order for one in pointer.point([problem.inputs for problem in problems])]
    assert score_orders(problems, found, problem=recipe.data.make)["exact_match"] > exact - 20


def test_batches_are_a_function_of_seed_and_number(tmp_path: Path) -> None:
    task = task_of(recipe_of(), tmp_path)
    whole = list(islice(task.batches(Cursor()), 6))
    for number, (batch, _) in enumerate(whole):
        cursor = whole[number - 1][1] if number else Cursor()
        again, _ = next(task.batches(cursor))
        assert torch.equal(again.inputs, batch.inputs)
        assert again.answers == batch.answers
    assert len({tuple(map(tuple, batch.answers)) for batch, _ in whole}) == 6
    other = next(task_of(recipe_of(seed=2), tmp_path).batches(Cursor()))[0]
    assert other.answers != whole[0][0].answers


def test_a_training_that_was_broken_off_goes_on_bit_for_bit(tmp_path: Path) -> None:
    recipe = recipe_of("hull", steps=6, save_every=1, schedule="constant")
    broken = recipe.model_copy(update={"train": recipe.train.model_copy(update={"steps": 3})})
    start_training(recipe, tmp_path / "whole", Silent())
    start_training(broken, tmp_path / "broken", Silent())
    start_training(recipe, tmp_path / "broken", Silent())
    figures = [
        json.loads((tmp_path / name / "metrics.jsonl").read_text().splitlines()[-1]) for name in ("whole", "broken")
    ]
    assert figures[0]["model"] == figures[1]["model"]
    tensors = [saccade.load(tmp_path / name / "model").net.state_dict() for name in ("whole", "broken")]
    assert all(torch.equal(tensor, tensors[1][name]) for name, tensor in tensors[0].items())


def write(path: Path, problems: list[Problem]) -> str:
    path.write_text("\n".join(json.dumps(problem._asdict()) for problem in problems))
    return str(path)


def test_problems_of_ones_own(tmp_path: Path) -> None:
    """The two lowest numbers of a few: an answer that the package does not make."""
    made = make_problems("sort", 200, seed=5, min_length=3, max_length=5)
    own = [Problem(problem.inputs, problem.answer[:2]) for problem in made]
    files = {"train": write(tmp_path / "train.jsonl", own[:160]), "valid": write(tmp_path / "valid.jsonl", own[160:])}
    recipe = recipe_of(data=files, steps=60, batch_size=32, lr=1e-2, validate_every=60)
    figures = start_training(recipe, tmp_path / "run", Silent())
    assert figures["exact_match"] > 40
    pointer = saccade.load(tmp_path / "run" / "model")
    assert (pointer.settings.problem, pointer.settings.min_length, pointer.settings.max_length) == (None, 3, 5)
    assert pointer.settings.max_answer_length == 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("data.make=null", "wanted either make"),
        ("data.make=merge", "found 'merge', wanted one of sort, hull"),
        ("data.train=x", "wanted either make"),
        ("data.min_length=11", "min_length: found 11, wanted at most 10"),
        ("data.max_length=0", "data.max_length"),
        ("model.input_size=2", "model.input_size: found 2, wanted 1"),
        ("model.dim=7", "dim: found 7"),
        ("model.score=adittive", "did you mean additive"),
        ("model.max_length=8", "data.max_length: found 10, wanted less than 8"),
        ("model.layer=2", "did you mean layers"),
        ("model.heads=3", "wanted a multiple of heads, 3"),
        ("model={kind: lstm, heads: 4}", "model.heads: no such setting"),
        ("model.kind=gru", "model.kind: found 'gru'"),
        ("train.monitor=area", "train.monitor: found 'area', wanted one of exact_match, loss"),
        ("train.label_smoothing=0.1", "train.label_smoothing: found 0.1, wanted"),
    ],
)
def test_bad_settings_get_one_line(change: str, says: str) -> None:
    with pytest.raises(InputError) as error:
        load_recipe("sort", [change])
    assert says in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("inputs", "says"),
    [([[[1, 2], [3, 4]]], "set model.input_size=2"), ([list(range(600))], "set model.max_length=601")],
)
def test_files_that_do_not_fit_the_model_are_refused(inputs: list[Any], says: str, tmp_path: Path) -> None:
    path = write(tmp_path / "own.jsonl", [Problem(one, [0]) for one in inputs])
    with pytest.raises(InputError, match=says):
        load_problem_splits(*_parts(path, path))
    with pytest.raises(InputError, match=r"missing\.jsonl: no such file"):
        load_problem_splits(*_parts(str(tmp_path / "missing.jsonl"), path))


def _parts(train_file: str, valid_file: str) -> tuple[Any, Any]:
    recipe = recipe_of(data={"train": train_file, "valid": valid_file})
    return recipe.data, recipe.model


def test_the_fingerprint_knows_how_problems_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is learnt from is made step by step, and one problem of validation may come out the same."""

    def made(**data: Any) -> PointingSplits:
        recipe = recipe_of(data={"make": "sort", "min_length": 3, "max_length": 4, "validation_size": 1} | data)
        return load_problem_splits(recipe.data, recipe.model)

    usual = made()
    changed = [made(min_length=2), made(max_length=5), made(seed=1)]
    alike = [splits._replace(valid=usual.valid) for splits in (usual, *changed)]
    assert len({splits.fingerprint() for splits in alike}) == 4
    assert made(validation_size=2).fingerprint() != usual.fingerprint() == made().fingerprint()
    path = write(tmp_path / "own.jsonl", [Problem([[2.0], [1.0]], [1, 0])])
    monkeypatch.chdir(tmp_path)
    one, other = (load_problem_splits(*_parts(name, name)) for name in (path, "own.jsonl"))
    assert one.fingerprint() == other.fingerprint() != usual.fingerprint()


def test_a_hull_is_right_wherever_it_begins() -> None:
    square = Problem([[0, 0], [1, 0], [1, 1], [0, 1]], [0, 1, 2, 3])
    assert score_orders([square] * 2, [[1, 2, 3, 0], [0, 1, 2]], problem="hull") == {"exact_match": 50.0, "area": 75.0}
    assert score_orders([square] * 2, [[1, 2, 3, 0], [0, 1, 2, 3]], problem=None) == {"exact_match": 50.0}
