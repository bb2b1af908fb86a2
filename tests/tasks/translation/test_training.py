"""Translation as a task of the training loop."""

import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from saccade.base.errors import InputError
from saccade.tasks.find_recipe import load_recipe
from saccade.tasks.translation.data import Splits
from saccade.tasks.translation.kind import KIND
from saccade.tasks.translation.recipe import TranslationRecipe
from saccade.tasks.translation.training import TranslationTask
from saccade.text import Pair, write_pairs
from saccade.training import Silent

TINY = ["vocabulary.kind=words", "vocabulary.size=60", "model.dim=16", "model.embedding=16", "model.max_length=6"]


class Listening(Silent):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)


def recipe_of(*settings: str) -> TranslationRecipe:
    recipe = load_recipe("rnn", [*TINY, *settings])
    assert isinstance(recipe, TranslationRecipe)
    return recipe


def test_what_is_left_out_is_told_with_its_number(tmp_path: Path):
    rows = [f"a b {number}\tc d {number}" for number in range(20)]
    rows[3] = "no tab"
    rows[5] = " \tempty"
    rows[7] = "one\ttab too\tmany"
    rows[9] = "a b c d e\tfive words and the end"
    rows[11] = "a b c d e f\tsix"
    (tmp_path / "train.tsv").write_text("\n".join(["source\ttarget", *rows]))
    write_pairs(tmp_path / "valid.tsv", [Pair("a b", "c d"), Pair("a " * 9, "c")])
    files = [f"data.{name}={tmp_path / name}.tsv" for name in ("train", "valid")]
    recipe = recipe_of(*files, "data.bad_pairs=skip")
    reporter = Listening()
    task = KIND.task(recipe, KIND.load_data(recipe, reporter.say), tmp_path / "new" / "run", reporter)
    assert isinstance(task, TranslationTask)
    assert (len(task.examples), len(task.valid)) == (16, 1)
    overlong = "pairs are left out, for they are longer than model.max_length=6; the first begins"
    assert [text for text in reporter.said if "left out" in text] == [
        f"{tmp_path}/train.tsv: 3 of 20 pairs are left out: 2 with other than 2 columns, 1 empty; the first is line 5",
        f"data.train: 1 of 17 {overlong} 'a b c d e f'",
        f"data.valid: 1 of 2 {overlong} {'a ' * 9!r}",
    ]
    said: list[str] = []
    with pytest.raises(
        InputError, match=r"train\.tsv, line 5: found 1 columns, wanted 2, as in line 1; mend it, or in"
    ):
        KIND.load_data(recipe_of(*files), said.append)
    assert said == []
    assert {path.name for path in (tmp_path / "new" / "run" / "vocabulary").iterdir()} == {"source.txt", "target.txt"}


def test_the_fingerprint_is_of_the_pairs_and_not_of_their_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_pairs(tmp_path / "pairs.tsv", [Pair(f"a {number}", f"b {number}") for number in range(40)])
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "p.tsv.gz").write_bytes(gzip.compress((tmp_path / "pairs.tsv").read_bytes()))

    def fingerprint(*settings: str) -> str:
        return KIND.load_data(recipe_of("data.valid=null", *settings), print).fingerprint()

    here = fingerprint(f"data.train={tmp_path / 'pairs.tsv'}")
    monkeypatch.chdir(tmp_path)
    assert fingerprint("data.train=pairs.tsv") == fingerprint("data.train=other/p.tsv.gz") == here
    assert fingerprint("data.train=pairs.tsv", "data.bad_pairs=skip") == here
    assert fingerprint("data.train=pairs.tsv", "data.seed=1") != here
    assert fingerprint("data.train=pairs.tsv", "data.validation_size=2") != here
    assert fingerprint("data.train=pairs.tsv", "data.target_column=source") != here


def test_a_model_that_writes_lower_case_is_validated_by_lower_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pairs = [Pair(f"A dog runs {n} miles", f"Ein Hund läuft {n} Meilen") for n in range(40)]
    settings = ["vocabulary.lowercase=true", "vocabulary.size=60", "model.dim=16", "model.embedding=16"]
    recipe = load_recipe("rnn", [*settings, "data.train=pairs.tsv", "data.valid=null"])
    assert isinstance(recipe, TranslationRecipe)
    task = TranslationTask(recipe, Splits(pairs[:30], pairs[30:]), tmp_path, Silent())
    (any_translation,) = task.model.translate(["a dog"])
    target = {pair.source: pair.target for pair in pairs}

    def perfect(sources: list[str], **_: Any) -> list[Any]:
        return [replace(any_translation, text=target[source].lower()) for source in sources]

    monkeypatch.setattr(task.model, "translate", perfect)
    task.net.eval()
    assert task.validate()["bleu"] == pytest.approx(100)
