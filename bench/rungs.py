"""What is each rung up to attention worth? `python -m bench.rungs --out rungs --seeds 1 2 3 --minutes 60`.

Translators of made dates (the recipe `dates`) that differ in nothing but what the decoder knows of the source at each
step (`model.score`):

    last      the encoder's last state, the same for each letter
    mean      the mean of all its states
    static    their sum by weights that are learnt, and the same for each letter
    additive  by other weights for each letter: attention

A line of the journal (bench/trainings.py) has how many of 2,000 dates that nobody has seen come out exactly right, by
greedy search: all of them, and by the length of the source. What was begun goes on; other settings want another DIR.
"""

import argparse
from collections.abc import Sequence
from typing import Any, NamedTuple

import saccade
from bench.trainings import Trainings, add_options, name_of, schedule, trainings_in
from saccade.attention import SCORES
from saccade.nets.context import FIXED_CONTEXTS
from saccade.tasks.find_recipe import load_recipe
from saccade.tasks.translation.dates import Dates
from saccade.tasks.translation.made import split_corpus
from saccade.tasks.translation.recipe import TranslationRecipe
from saccade.text import Pair

RUNGS = ("last", "mean", "static", "additive")
VALIDATIONS = 2  # of a training
HELD_OUT = 2_000  # dates
WIDTH = 5  # letters of source, of a group of dates


class Case(NamedTuple):
    """One training, as the journal knows it."""

    rung: str
    seed: int
    steps: int


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_options(parser)
    parser.add_argument("--rungs", nargs="+", choices=[*FIXED_CONTEXTS, *SCORES], default=list(RUNGS), metavar="SCORE")
    parser.add_argument("--steps", type=int, default=850, help="of each training (850)")
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE", help="settings for all trainings")
    chosen = parser.parse_args()
    cases = [Case(rung, seed, chosen.steps) for seed in chosen.seeds for rung in chosen.rungs]
    with trainings_in(chosen.out, chosen.minutes) as trainings:
        dates = held_out_dates(HELD_OUT)
        trainings.measure(cases, lambda case: measure(case, dates, trainings, chosen.set), at_once=chosen.at_once)


def held_out_dates(count: int) -> list[Pair]:
    """The dates that come after those that the recipe learns from and validates with."""
    recipe = load_recipe("dates")
    assert isinstance(recipe, TranslationRecipe)
    sizes = {"train": recipe.data.pairs, "valid": recipe.data.validation_size, "test": count}
    return split_corpus(Dates(recipe.data.seed), sizes)["test"]


def measure(case: Case, dates: Sequence[Pair], trainings: Trainings, settings: Sequence[str]) -> dict[str, Any]:
    """Train as the case says, and translate the dates."""
    run = trainings.out / name_of(case)
    how = [f"model.score={case.rung}", f"train.seed={case.seed}", *schedule(case.steps, VALIDATIONS), *settings]
    trainings.saccade(run.name, "train", "dates", *how, "--run", str(run))
    outputs = saccade.load(run, saccade.Translator).translate([date.source for date in dates], beam=1)
    right = [output.text == date.target for output, date in zip(outputs, dates, strict=True)]
    by_length = right_by_length([len(date.source) for date in dates], right, width=WIDTH)
    return {"settings": list(settings), "dates": len(dates), "exact_match": percent(right), "by_length": by_length}


def right_by_length(lengths: Sequence[int], right: Sequence[bool], *, width: int) -> list[dict[str, Any]]:
    """How many percent are right of those with 1 to `width` letters, and so on; lengths that none has are left out."""
    groups: dict[int, list[bool]] = {}
    for length, is_right in zip(lengths, right, strict=True):
        groups.setdefault((length - 1) // width, []).append(is_right)
    return [
        {"letters": [number * width + 1, (number + 1) * width], "dates": len(group), "exact_match": percent(group)}
        for number, group in sorted(groups.items())
    ]


def percent(right: Sequence[bool]) -> float:
    return round(100 * sum(right) / len(right), 2)


if __name__ == "__main__":
    main()
