"""Does pretraining pay? `python -m bench.pretraining --data data/multi30k --out pretraining --minutes 60`.

English to German on Multi30k with 1,000, 5,000 and 29,000 pairs, the Transformer of the recipe `multi30k-transformer`,
with the same settings from three starts:

    nothing     weights and a vocabulary of its own, learnt from its pairs
    vocabulary  the vocabulary of all 29,000 English and German sentences as plain text, and no weights worth the name:
                it starts from a denoiser of one step
    pretrained  that vocabulary, and the weights of a denoiser of the same sentences (recipe `denoise`)

Smaller sets are parts of the larger ones, drawn by a seed. The model with the best BLEU on the validation set is scored
on test_2016_flickr with beam 5. What was begun goes on (bench/trainings.py); other settings want another DIR.
"""

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import saccade
from bench.trainings import Trainings, add_options, name_of, schedule, trainings_in
from saccade.base.files import make_folder, write_file
from saccade.metrics import score_translations
from saccade.tasks.find_recipe import load_recipe
from saccade.text import read_aligned

STEPS = {1_000: 1_500, 5_000: 4_000, 29_000: 10_000}  # of a training with so many pairs
VOCABULARY = {1_000: 2_000, 5_000: 5_000, 29_000: 10_000}  # pieces of one's own: more would be whole words, seen once
STARTS = ("nothing", "vocabulary", "pretrained")
PRETRAINING_STEPS, PRETRAINING_LR = 20_000, 5e-3
VALIDATIONS = 20  # of a training
BEAM = 5


class Case(NamedTuple):
    """One training, as the journal knows it."""

    start: str
    pairs: int
    seed: int
    lr: float
    share: float  # of the steps


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--data", type=Path, required=True, metavar="DIR", help="as `saccade data get multi30k` leaves it"
    )
    add_options(parser)
    parser.add_argument("--share", type=float, default=1, help="of the steps of all trainings, for a quick try (1)")
    parser.add_argument("--lr", type=float, default=5e-3, help="the highest learning rate of translators (5e-3)")
    parser.add_argument("--pairs", type=int, nargs="+", choices=STEPS, default=list(STEPS))
    parser.add_argument("--starts", nargs="+", choices=STARTS, default=list(STARTS))
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE", help="settings for all trainings")
    chosen = parser.parse_args()
    data = chosen.data.resolve()
    cases = [
        Case(start, pairs, seed, chosen.lr, chosen.share)
        for seed in chosen.seeds
        for pairs in sorted(chosen.pairs)
        for start in chosen.starts
    ]
    with trainings_in(chosen.out, chosen.minutes) as trainings:
        denoisers = {start: pretrain(start, chosen.share, data, trainings, chosen.set) for start in chosen.starts}

        def measured(case: Case) -> dict[str, Any]:
            return measure(case, denoisers[case.start], data, trainings, chosen.set)

        trainings.measure(cases, measured, at_once=chosen.at_once)


def measure(
    case: Case, denoiser: Path | None, data: Path, trainings: Trainings, settings: Sequence[str]
) -> dict[str, Any]:
    """Train as the case says, and score the model on the test set."""
    steps = scaled(STEPS[case.pairs], case.share)
    start = f"train.start_from={denoiser}" if denoiser else f"vocabulary.size={VOCABULARY[case.pairs]}"
    files = write_part(data, trainings.out / f"{case.pairs}-pairs", case.pairs)
    valid = files_of(data, "val", "valid")
    chosen = [f"train.lr={case.lr}", f"train.seed={case.seed}", *schedule(steps, VALIDATIONS)]
    run = trainings.out / name_of(case)
    arguments = ["multi30k-transformer", *files, *valid, start, *chosen, *settings, "--run", str(run)]
    trainings.saccade(run.name, "train", *arguments)
    test = read_aligned(data / "test_2016_flickr.en", data / "test_2016_flickr.de")
    outputs = saccade.load(run, saccade.Translator).translate([pair.source for pair in test], beam=BEAM)
    scores = score_translations([output.text for output in outputs], [pair.target for pair in test])
    figures = {name: round(score.value, 2) for name, score in scores.items()}
    return {"steps": steps, "settings": list(settings), **figures}


def pretrain(start: str, share: float, data: Path, trainings: Trainings, settings: Sequence[str]) -> Path | None:
    """The run of a denoiser of both sides of the training set; of one step, where only its vocabulary is wanted."""
    if start == "nothing":
        return None
    steps = scaled(PRETRAINING_STEPS, share) if start == "pretrained" else 1
    run = trainings.out / f"denoiser-{steps}"
    translator = load_recipe("multi30k-transformer").model_dump(mode="json")
    same = [
        f"{group}.{name}={json.dumps(value)}"
        for group in ("model", "vocabulary")
        for name, value in translator[group].items()
        if name != "dropout"
    ]
    texts = [
        f"data.{name}=[{data / file}.en,{data / file}.de]" for name, file in (("text", "train"), ("valid_text", "val"))
    ]
    arguments = ["denoise", *texts, *same, f"train.lr={PRETRAINING_LR}", *schedule(steps, VALIDATIONS), *settings]
    trainings.saccade(run.name, "train", *arguments, "--run", str(run))
    return run


def scaled(steps: int, share: float) -> int:
    return max(round(steps * share), 1)


def files_of(folder: Path, file: str, name: str) -> list[str]:
    return [f"data.{name}.{side}={folder / file}.{end}" for side, end in (("source", "en"), ("target", "de"))]


def write_part(data: Path, folder: Path, count: int) -> list[str]:
    """So many of the training pairs, in a folder of their own; a smaller part is in every larger one."""
    pairs = read_aligned(data / "train.en", data / "train.de")
    order = list(range(len(pairs)))
    random.Random("parts of Multi30k").shuffle(order)
    part = [pairs[index] for index in sorted(order[:count])]
    make_folder(folder)
    for side, end in enumerate(("en", "de")):
        write_file(folder / f"train.{end}", "".join(f"{pair[side]}\n" for pair in part).encode())
    return files_of(folder, "train", "train")


if __name__ == "__main__":
    main()
