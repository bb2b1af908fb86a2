"""Questions about stories as a task: splits, the linear start, resuming, and that something is learnt."""

import json
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from saccade.base.errors import InputError
from saccade.base.settings import check_settings
from saccade.base.shuffling import Cursor
from saccade.tasks.find_recipe import load_recipe
from saccade.tasks.run import start_training
from saccade.tasks.story_qa.data import StorySplits, load_story_splits, split_stories
from saccade.tasks.story_qa.kind import KIND
from saccade.tasks.story_qa.made import make_stories
from saccade.tasks.story_qa.recipe import StoryRecipe
from saccade.tasks.story_qa.stories import write_stories
from saccade.tasks.story_qa.training import StoryTask
from saccade.training import Silent, train


def recipe_of(data: dict[str, Any] | None = None, model: dict[str, Any] | None = None, **settings: Any) -> StoryRecipe:
    usual = {"steps": 10, "batch_size": 16, "lr": 1e-2, "warmup_steps": 5, "tensorboard": False, "threads": 1}
    values = {
        "task": "story_qa",
        "data": data or {"make": "stories", "stories": 40},
        "model": {"dim": 16, "memory_size": 10} | (model or {}),
        "train": usual | settings,
    }
    return check_settings(StoryRecipe, values, where="small")


def test_something_is_learnt(tmp_path: Path) -> None:
    """Who holds a thing is one sentence; a few hundred steps are enough to be far above chance."""
    recipe = recipe_of({"make": "stories", "stories": 200}, steps=150, batch_size=32, validate_every=150, lr=2e-2)
    splits = load_story_splits(recipe.data)
    figures = train(StoryTask(recipe, splits, tmp_path, Silent()), recipe.train, tmp_path, Silent())
    assert figures.keys() == {"loss", "accuracy"}
    assert figures["accuracy"] > 35  # chance is about 15


def test_whole_stories_of_each_task_are_held_out(tmp_path: Path) -> None:
    questions = make_stories(30, seed=0)
    both = [one._replace(task=task) for task in ("a", "b") for one in questions]
    settings = recipe_of({"make": "stories", "validation_size": 1000}).data
    train, valid = split_stories(both, settings)
    assert sorted(map(repr, (*train, *valid))) == sorted(map(repr, both))
    for task in ("a", "b"):
        learnt, kept = ({one.number for one in part if one.task == task} for part in (train, valid))
        assert not learnt & kept
        assert len(kept) == 3
    assert split_stories(both, settings) == (train, valid)
    other = recipe_of({"make": "stories", "validation_size": 1000, "seed": 1}).data
    assert split_stories(both, other) != (train, valid)
    with pytest.raises(InputError, match="one story is too few to train and to validate"):
        split_stories(questions[:5], settings)
    record = {"story": ["Ann is in."], "question": "Where is Ann?", "answer": "in"}
    for name in ("train", "valid"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(record | {"answer": name}))
    files = {name: str(tmp_path / f"{name}.jsonl") for name in ("train", "valid")}
    splits = load_story_splits(recipe_of(files).data)
    assert [one.answer for part in splits for one in part] == ["train", "valid"]
    task = StoryTask(recipe_of(files), splits, tmp_path, Silent())
    assert task.validate() == {"loss": 0.0, "accuracy": 0.0}  # an answer never seen is wrong, and has no loss


def test_what_is_lost_of_stories_is_told(tmp_path: Path) -> None:
    def record(story: list[str], answer: str) -> str:
        return json.dumps({"story": story, "question": "Where is Ann?", "answer": answer})

    long = ["Ann is in."] * 11
    (tmp_path / "train.jsonl").write_text("\n".join([record(long[:10], "in"), record(long, "in")]))
    lines = [record(long[:1], "in"), record(["Ann ran away."], "away"), record(["Ann is out."], "out")]
    (tmp_path / "valid.jsonl").write_text("\n".join(lines))
    train, valid = (str(tmp_path / f"{name}.jsonl") for name in ("train", "valid"))
    recipe = recipe_of({"train": train, "valid": valid})
    said: list[str] = []

    class Listening(Silent):
        def say(self, text: str) -> None:
            said.append(text)

    StoryTask(recipe, load_story_splits(recipe.data), tmp_path / "run", Listening())
    long_ones = "questions come after more than model.memory_size=10 sentences, of which the first are forgotten"
    strange = "questions have words that data.train has not, which are passed over"
    assert said[:-1] == [
        f"data.train: 1 of 2 {long_ones}; see {train}, line 2",
        f"data.valid: 2 of 3 {strange}; see {valid}, line 2: ran, away",
        f"data.valid: 2 of 3 answers are not in data.train, and count as wrong; see {valid}, line 2: away",
    ]
    said.clear()
    usual = recipe_of()
    StoryTask(usual, load_story_splits(usual.data), tmp_path / "other", Listening())
    assert len(said) == 1  # how many there are, and nothing else


def test_the_fingerprint_is_of_what_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    questions = make_stories(20, seed=0)
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        write_stories(tmp_path / folder / "qa1_made_train.txt", questions)

    def fingerprint(train: str, **data: Any) -> str:
        return KIND.load_data(recipe_of({"train": train, **data}), print).fingerprint()

    here = fingerprint(str(tmp_path / "one"))
    monkeypatch.chdir(tmp_path)
    assert fingerprint("one") == fingerprint("other") == fingerprint("other/qa1_made_train.txt") == here
    assert fingerprint("one", seed=1) != here
    assert fingerprint("one", validation_size=1) != fingerprint("one", validation_size=100)
    whole = StorySplits(questions[:50], questions[50:])
    assert whole.fingerprint() != StorySplits(questions[:55], questions[55:]).fingerprint()


def test_the_softmax_comes_after_the_linear_start(tmp_path: Path) -> None:
    recipe = recipe_of(linear_start=2)
    task = StoryTask(recipe, load_story_splits(recipe.data), tmp_path, Silent())
    linear: dict[int, set[int]] = {}
    for batch, cursor in task.batches(Cursor()):
        if cursor.epoch > 3:
            break
        task.loss(batch)
        linear.setdefault(cursor.epoch, set()).add(int(task.net.state_dict()["linear"]))
    assert linear == {0: {1}, 1: {1}, 2: {0}, 3: {0}}


def test_the_loss_is_that_of_the_right_answers(tmp_path: Path) -> None:
    recipe = recipe_of(model={"random_noise": 0.0})
    task = StoryTask(recipe, load_story_splits(recipe.data), tmp_path, Silent())
    batch, _ = next(task.batches(Cursor()))
    loss, count = task.loss(batch)
    assert count == 16
    words = task.model.words
    asked = {(one.story, one.question): one for one in task.splits.train}
    total = 0.0
    for story, question, answer in zip(batch.arrays.stories, batch.arrays.questions, batch.arrays.answers, strict=True):
        sentences = [
            tuple(words.words[n] for n in batch.arrays.sentences[index] if n) for index in story[::-1] if index
        ]
        (asked_words,) = [tuple(words.words[n] for n in batch.arrays.sentences[question] if n)]
        one = asked[tuple(sentences), asked_words]
        assert words.text(answer) == one.answer
        (found,) = task.model.answer_all([one])
        total -= torch.tensor(dict(found.ranking)[one.answer]).log().item()
    assert loss.item() == pytest.approx(total, rel=1e-4)


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_a_training_that_is_broken_off_goes_on_bit_for_bit(optimizer: str, tmp_path: Path) -> None:
    """In the midst of the linear start, and after it."""
    start_training(recipe_of(steps=40, linear_start=2, optimizer=optimizer), tmp_path / "whole", Silent())
    for steps in (13, 31, 40):
        part = recipe_of(steps=steps, linear_start=2, optimizer=optimizer)
        start_training(part, tmp_path / "parts", Silent())
    one, other = (safetensors.torch.load_file(tmp_path / run / "checkpoint.safetensors") for run in ("whole", "parts"))
    assert one.keys() == other.keys()
    assert all(one[name].equal(other[name]) for name in one)
    assert int(one["net.linear"]) == 0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("data.make=null", "either train"),
        ("data={make: stories, train: x}", "either train"),
        ("data.tasks=[]", "tasks"),
        ("model.memory_size=0", "model.memory_size: found 0, wanted at least 1"),
        ("model.hops=0", "hops"),
        ("model.tying=all", "tying"),
        ("model.wings=2", "wings"),
        ("train.monitor=bleu", "train.monitor"),
        ("train.linear_start=-1", "linear_start"),
    ],
)
def test_bad_settings_get_one_line(change: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        load_recipe("stories", [change])


def test_files_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"data/babi/en: no such file or folder \(saccade data get babi brings"):
        start_training(load_recipe("babi"), tmp_path / "run", Silent())
