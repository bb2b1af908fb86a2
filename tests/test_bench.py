"""The races: that they start, take turns, and count what they should."""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from bench import before, busy, char_rnn, few_labels, generate, hard, plots, pretraining, rungs
from bench import race as races
from bench.race import Case, Side, job, race
from bench.sides.turns import Pair, bucketed_batches, random_batches
from bench.trainings import Trainings, name_of
from saccade.base.errors import InputError
from saccade.base.settings import check_settings
from saccade.nets.language import make_language_net
from saccade.runtime import threads as waiting
from saccade.tasks.find_recipe import load_recipe
from saccade.tasks.language_modeling.settings import LanguageModelSettings
from saccade.tasks.translation.data import load_splits
from saccade.tasks.translation.recipe import DataSettings
from saccade.text import END
from saccade.training import count_parameters
from tests.tasks.language_modeling.makers import small_model

PAIRS: list[Pair] = [([4] * length + [3], [5] * (length % 7 + 2) + [3]) for length in range(3, 20) for _ in range(4)]


def test_sides_take_turns_at_the_same_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(races, "PEERS", Path(sys.executable))  # plain torch needs no peer
    (tmp_path / "pairs.json").write_text(json.dumps(PAIRS))
    small = {"pairs": str(tmp_path / "pairs.json"), "threads": 1, "vocabulary": 20, "batch_tokens": 64}
    case = Case("small", job(task="train", turn_tokens=60, **small), (Side("saccade"), Side("plain", heap_kept=True)))
    line = race(case, turns=2)
    assert line["rate"].keys() == line["megabytes"].keys() == {"saccade", "plain, heap kept"}
    assert line["times_as_fast"]["saccade"] == 1
    assert all(low <= line["rate"][name] <= high for name, (low, high) in line["range"].items())
    assert all(megabytes > 50 for megabytes in line["megabytes"].values())


def test_a_side_that_fails_is_named(tmp_path: Path) -> None:
    case = Case("bad", job(task="train", pairs=str(tmp_path / "nowhere.json"), threads=1), (Side("saccade"),))
    with pytest.raises(races.InputError, match=r"bench\.sides\.saccade.*ended with code 1"):
        race(case, turns=1)


@pytest.mark.parametrize("batches", [random_batches, bucketed_batches])
def test_every_pair_comes_once_an_epoch_within_the_budget(batches: Callable[..., Iterator[list[Pair]]]) -> None:
    stream, seen = batches(PAIRS, 64), 0
    while seen < len(PAIRS):
        batch = next(stream)
        seen += len(batch)
        assert len(batch) * max(len(side) for pair in batch for side in pair) <= 64
    assert seen == len(PAIRS)


def test_idle_and_busy_turns_alternate(tmp_path: Path) -> None:
    case = busy.Case("train", "dates", ("data.pairs=200", "data.validation_size=20", "train.batch_tokens=64"))
    line = busy.measure(case, tmp_path, turns=2, seconds=0.2)
    assert line["unit"] == "steps/s"
    assert line["idle"] > 0
    assert line["busy"] > 0
    assert line["kept_range"][0] <= line["kept"] <= line["kept_range"][1]


def test_random_pairs_suit_the_recipe_of_multi30k(tmp_path: Path) -> None:
    busy.write_random_pairs(tmp_path)
    source, target = ((tmp_path / side).read_text().splitlines() for side in ("source", "target"))
    assert len(source) == len(target) == 6000
    assert source[0] != target[0]


def test_two_checkouts_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for room in ("saccade", "bench"):
        (other / room).symlink_to(races.ROOT / room)
    (tmp_path / "pairs.json").write_text(json.dumps(PAIRS))
    small = {"train-small": job(task="train", turn_tokens=60, vocabulary=20, batch_tokens=64)}
    monkeypatch.setattr(before, "JOBS", small)
    sides = (Side("saccade"), Side("saccade", checkout=other))
    line = before.compare("train-small", sides, pairs=tmp_path / "pairs.json", turns=1, threads=1)
    assert line["ratio"] == pytest.approx(line["after"] / line["before"], abs=0.01)


def test_a_side_runs_the_package_of_its_checkout(tmp_path: Path) -> None:
    (tmp_path / "saccade" / "cli").mkdir(parents=True)
    (tmp_path / "saccade" / "__init__.py").touch()
    (tmp_path / "saccade" / "cli" / "__init__.py").touch()
    (tmp_path / "saccade" / "cli" / "main.py").write_text("raise SystemExit(7)\n")
    with pytest.raises(subprocess.CalledProcessError, match="exit status 7"):
        before._run(Side("saccade", checkout=tmp_path), "translate")


def test_a_side_does_not_get_what_saccade_has_set_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_ours", ["GOMP_SPINCOUNT"])
    monkeypatch.setenv("GOMP_SPINCOUNT", "10000")
    assert "GOMP_SPINCOUNT" not in races.environment_of(Side("plain"))


def test_enough_random_pairs_are_as_long_as_decoding_wants() -> None:
    pairs = before.random_pairs(8000)
    assert sum(len(source) == before.LENGTH for source, _ in pairs) >= max(
        one["sentences"] for one in before.JOBS.values()
    )


def test_smaller_parts_are_in_larger_ones_line_by_line(tmp_path: Path) -> None:
    for end in ("en", "de"):
        (tmp_path / f"train.{end}").write_text("".join(f"{end} {number}\n" for number in range(50)))
    found: list[list[list[str]]] = []
    for count in (7, 19):
        settings = pretraining.write_part(tmp_path, tmp_path / str(count), count)
        assert settings[0] == f"data.train.source={tmp_path / str(count) / 'train.en'}"
        found.append([(tmp_path / str(count) / f"train.{end}").read_text().splitlines() for end in ("en", "de")])
    for source, target in found:
        assert [line.removeprefix("en ") for line in source] == [line.removeprefix("de ") for line in target]
    assert [len(source) for source, _ in found] == [7, 19]
    assert set(found[0][0]) < set(found[1][0])


def test_what_stands_in_the_journal_is_not_measured_again(tmp_path: Path) -> None:
    cases = [pretraining.Case("nothing", pairs, 1, 5e-3, 1.0) for pairs in (1000, 5000)]
    (tmp_path / "journal.jsonl").write_text(json.dumps({**cases[0]._asdict(), "bleu": 12.5}) + "\n")
    measured: list[pretraining.Case] = []

    def measure(case: pretraining.Case) -> dict[str, float]:
        measured.append(case)
        return {"bleu": 20.0}

    for _ in range(2):
        Trainings(tmp_path, 1).measure(cases, measure, at_once=2)
    assert measured == cases[1:]
    lines = [json.loads(line) for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
    assert [(line["pairs"], line["bleu"]) for line in lines] == [(1000, 12.5), (5000, 20.0)]


def test_a_comparison_whose_time_is_over_says_so(tmp_path: Path) -> None:
    def measure(case: pretraining.Case) -> dict[str, float]:
        trainings.saccade(name_of(case), case.start)
        return {}

    trainings = Trainings(tmp_path, 0)
    with pytest.raises(InputError, match=r"the time is over in the midst of doctor-.*; run the same command to go on"):
        trainings.measure([pretraining.Case("doctor", 1, 1, 1.0, 1.0)], measure)
    trainings = Trainings(tmp_path, 1)
    with pytest.raises(InputError, match="saccade nonsense ended with code 2"):
        trainings.measure([pretraining.Case("nonsense", 1, 1, 1.0, 1.0)], measure)
    assert not (tmp_path / "journal.jsonl").exists()


def test_the_better_learning_rate_is_taken_for_each_start(tmp_path: Path) -> None:
    def case(start: str, seed: int, lr: float, valid: float) -> dict[str, object]:
        made = few_labels.Case("sst2", 2_000, "lstm", start, seed, lr)
        return {**made._asdict(), "valid": valid, "accuracy": 100 - valid}

    tries = [case("nothing", 100, 5e-3, 70.0), case("nothing", 100, 2e-3, 72.0), case("pretrained", 100, 2e-3, 80.0)]
    lines = [*tries, case("nothing", 1, 5e-3, 99.0)]
    (tmp_path / "journal.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    trainings = Trainings(tmp_path, 1)
    assert few_labels.chosen_rate(trainings, "lstm", "nothing") == 2e-3
    assert few_labels.chosen_rate(trainings, "lstm", "pretrained") == 2e-3


def test_language_models_that_are_compared_have_as_many_parameters() -> None:
    sizes: dict[str, int] = {}
    for name, (recipe, *settings) in char_rnn.MODELS.items():
        model = load_recipe(recipe, [*settings, f"model.max_length={char_rnn.CONTEXT}"]).model_dump()["model"]
        found = check_settings(LanguageModelSettings, {"model": model, "vocabulary": {}}, where=name)
        sizes[name] = count_parameters(make_language_net(found.model, size=69))
    assert max(sizes.values()) < 1.02 * min(sizes.values()), sizes


def test_a_rung_is_trained_and_asked_for_dates_that_it_has_not_seen(tmp_path: Path) -> None:
    small = ["data.pairs=40", "data.validation_size=5", "model.dim=8", "model.embedding=4", "train.batch_tokens=256"]
    case, dates, trainings = rungs.Case("static", 1, 2), rungs.held_out_dates(7), Trainings(tmp_path, 5)
    trainings.measure([case], lambda case: rungs.measure(case, dates, trainings, small))
    (line,) = trainings.lines()
    assert line["dates"] == sum(group["dates"] for group in line["by_length"]) == 7
    assert line["exact_match"] == 0
    recipe = yaml.safe_load((tmp_path / name_of(case) / "recipe.yaml").read_text())
    assert (recipe["model"]["score"], recipe["train"]["steps"], recipe["data"]["pairs"]) == ("static", 2, 40)
    splits = load_splits(DataSettings(make="dates", pairs=20_000, validation_size=1_000))
    assert not {date.source for date in dates} & {pair.source for pair in (*splits.train, *splits.valid)}


def test_dates_of_a_length_are_counted_together() -> None:
    found = rungs.right_by_length([10, 1, 5, 11, 6], [True, False, True, True, False], width=5)
    assert found == [
        {"letters": [1, 5], "dates": 2, "exact_match": 50.0},
        {"letters": [6, 10], "dates": 2, "exact_match": 50.0},
        {"letters": [11, 15], "dates": 1, "exact_match": 100.0},
    ]


def test_rungs_are_drawn_as_means_over_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def line(rung: str, seed: int, *right: float) -> dict[str, Any]:
        groups = [
            {"letters": [5 * number + 1, 5 * number + 5], "dates": 10 + number, "exact_match": value}
            for number, value in enumerate(right)
        ]
        return {"rung": rung, "seed": seed, "by_length": groups}

    drawn: list[Any] = []
    monkeypatch.setattr(plots, "save", lambda figure, name: drawn.append(figure) or tmp_path / name)
    lines = [line("last", 1, 80, 40), line("last", 2, 60, 20), line("additive", 1, 99, 97)]
    (tmp_path / "rungs.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    assert plots.PICTURES["rungs"]([str(tmp_path / "rungs.jsonl")]) == tmp_path / "rungs.svg"
    (axes,) = drawn[0].axes
    means = {one.get_label(): list(one.get_ydata()) for one in axes.lines if not one.get_label().startswith("_")}
    assert means == {"last": [70, 30], "additive": [99, 97]}
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1-5\nn=10", "6-10\nn=11"]


def test_a_text_is_timed_from_the_start_of_its_process(tmp_path: Path) -> None:
    model = small_model("gru")
    with torch.no_grad():
        model.net.output.bias[END] = -100.0
    model.save(tmp_path / "model")
    chosen = argparse.Namespace(model=tmp_path / "model", prompt="ab", tokens=70, threads=1, turns=1, others=[])
    found = generate.measure(chosen)
    assert (found["characters"], found["turns"], found["left_out"], found["context"]) == (70, 1, 0, 8)
    assert isinstance(found["first"], float)
    assert found["first"] > 0
    chosen.others = ["--temperature", "-1"]
    with pytest.raises(SystemExit, match="ended with code 2"):
        generate.write(chosen, 0)


@pytest.mark.parametrize("case", hard.CASES)
def test_hard_and_local_attention_are_timed_on_their_own_ways(case: str) -> None:
    lines = hard.measure(case, [50, 400], dim=8, turns=1, seconds=0.001)
    paths = {line["weighting"]: line["path"] for line in lines}
    soft = "fused" if "general" in case else "plain"
    assert paths == {"soft": soft, "hard": "gathered", "local-m": "windowed", "local-p": "windowed"}
    assert lines[0]["times_as_fast"] == 1
    assert all(len(line["milliseconds"]) == 2 and min(line["milliseconds"]) > 0 for line in lines)
