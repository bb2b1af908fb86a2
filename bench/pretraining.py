"""Does pretraining pay? `python -m bench.pretraining --data data/multi30k --out pretraining --minutes 60`.

English to German on Multi30k with 1,000, 5,000 and 29,000 pairs, the Transformer of the recipe `multi30k-transformer`,
with the same settings from three starts:

    nothing     weights and a vocabulary of its own, learnt from its pairs
    vocabulary  the vocabulary of all 29,000 English and German sentences as plain text, and no weights worth the name:
                it starts from a denoiser of one step
    pretrained  that vocabulary, and the weights of a denoiser of the same sentences (recipe `denoise`)

Smaller sets are parts of the larger ones, drawn by a seed. The model with the best BLEU on the validation set is scored
on test_2016_flickr with beam 5. `DIR/journal.jsonl` has a line for each run that is done. What was begun goes on when
the same command is run again; `--minutes` ends it in the midst, and it says so. Other settings want another DIR.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import saccade
from saccade.base.errors import InputError
from saccade.base.files import make_folder, read_lines, write_file
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

    @property
    def name(self) -> str:
        return "-".join(map(str, self))


class Budget:
    """How long this command may take."""

    def __init__(self, minutes: float) -> None:
        self.end = time.monotonic() + 60 * minutes

    def run(self, arguments: Sequence[str], log: Path) -> None:
        """`saccade ARGUMENTS`; when the time is over, it is interrupted, which saves what it did."""
        command = [sys.executable, "-m", "saccade", *arguments]
        with (
            log.open("ab") as file,
            subprocess.Popen(command, stdout=file, stderr=file) as process,  # noqa: S603
        ):
            try:
                code = process.wait(max(self.end - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
                process.wait()
                raise InputError(
                    f"the time is over in the midst of {log.stem}; run the same command to go on"
                ) from None
        if code:
            last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
            raise InputError(f"saccade {arguments[0]} ended with code {code}: {' '.join(last)}; more in {log}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--data", type=Path, required=True, metavar="DIR", help="as `saccade data get multi30k` leaves it"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="for runs, logs and journal.jsonl")
    parser.add_argument("--minutes", type=float, default=60, help="how long to go on at most (60)")
    parser.add_argument("--share", type=float, default=1, help="of the steps of all trainings, for a quick try (1)")
    parser.add_argument("--lr", type=float, default=5e-3, help="the highest learning rate of translators (5e-3)")
    parser.add_argument("--pairs", type=int, nargs="+", choices=STEPS, default=list(STEPS))
    parser.add_argument("--starts", nargs="+", choices=STARTS, default=list(STARTS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE", help="settings for all trainings")
    chosen = parser.parse_args()
    cases = [
        Case(start, pairs, seed, chosen.lr, chosen.share)
        for seed in chosen.seeds
        for pairs in sorted(chosen.pairs)
        for start in chosen.starts
    ]
    data, out, budget = chosen.data.resolve(), chosen.out.resolve(), Budget(chosen.minutes)
    make_folder(out)
    try:
        for case in left_to_do(cases, out / "journal.jsonl"):
            line = measure(case, data, out, budget, chosen.set)
            with (out / "journal.jsonl").open("a", encoding="utf-8") as journal:
                journal.write(f"{json.dumps(line)}\n")
            print(json.dumps(line), flush=True)
    except InputError as error:
        sys.exit(str(error))


def left_to_do(cases: Sequence[Case], journal: Path) -> Iterator[Case]:
    """The cases that have no line in the journal yet."""
    lines = read_lines(journal) if journal.exists() else []
    done = {Case(**{name: record[name] for name in Case._fields}) for record in map(json.loads, lines)}
    return (case for case in cases if case not in done)


def measure(case: Case, data: Path, out: Path, budget: Budget, settings: Sequence[str]) -> dict[str, Any]:
    """Train as the case says, and score the model on the test set."""
    steps = scaled(STEPS[case.pairs], case.share)
    start = [f"vocabulary.size={VOCABULARY[case.pairs]}"]
    if case.start != "nothing":
        denoiser = pretrain(None if case.start == "vocabulary" else case.share, data, out, budget, settings)
        start = [f"train.start_from={denoiser}"]
    files = write_part(data, out / f"{case.pairs}-pairs", case.pairs)
    valid = files_of(data, "val", "valid")
    chosen = [f"train.lr={case.lr}", f"train.seed={case.seed}", *schedule(steps)]
    run = out / case.name
    arguments = ["train", "multi30k-transformer", *files, *valid, *start, *chosen, *settings, "--run", str(run)]
    budget.run(arguments, out / f"{case.name}.log")
    test = read_aligned(data / "test_2016_flickr.en", data / "test_2016_flickr.de")
    outputs = saccade.load(run, saccade.Translator).translate([pair.source for pair in test], beam=BEAM)
    scores = score_translations([output.text for output in outputs], [pair.target for pair in test])
    figures = {name: round(score.value, 2) for name, score in scores.items()}
    return {**case._asdict(), "steps": steps, "settings": list(settings), **figures}


def pretrain(share: float | None, data: Path, out: Path, budget: Budget, settings: Sequence[str]) -> Path:
    """The run of a denoiser of both sides of the training set; without a share, of one step, for its vocabulary."""
    steps = 1 if share is None else scaled(PRETRAINING_STEPS, share)
    run = out / f"denoiser-{steps}"
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
    arguments = ["train", "denoise", *texts, *same, f"train.lr={PRETRAINING_LR}", *schedule(steps), *settings]
    budget.run([*arguments, "--run", str(run)], out / f"{run.name}.log")
    return run


def schedule(steps: int) -> list[str]:
    """How long, and how the rate goes up and down; the same for all trainings."""
    return [
        f"train.steps={steps}",
        "train.schedule=cosine",
        f"train.warmup_steps={max(steps // 10, 1)}",
        f"train.validate_every={max(steps // VALIDATIONS, 1)}",
        "train.select_checkpoint=best",
        "train.patience=null",
    ]


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
