"""Does attention help a char-RNN? `python -m bench.char_rnn --text FILE --out char-rnn --each 4 --seeds 1 2 3`.

Three language models of characters, with as many parameters as the recipe `gpt` has, each for the same time on one
thread, with the same rows and the same schedule:

    lstm        two layers, without attention
    attention   the same, looking back at all its states within the row (`model.score=general`)
    gpt         a Transformer, with rotary positions

How many steps fit into the time is found first, by a short training each. A line of the journal (bench/trainings.py)
has the validation losses with the minutes at which they came, and what the held-out text costs, in nats a character
of a window that slides, by what is to be foreseen (bench/characters.py).
"""

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import saccade
from bench.characters import kinds_of
from bench.trainings import Trainings, add_options, journal_of, name_of, schedule, trainings_in

CONTEXT, BATCH = 128, 16
VALIDATIONS = 10  # of a training
PROBE = 60  # steps, after which it is known how long one takes
HELD_OUT = 0.1  # of the text, its end, as `saccade train` keeps it for validation
MODELS = {
    "lstm": ["char-rnn", "model.layers=2", "model.embedding=136", "model.dim=224"],
    "attention": ["char-rnn", "model.layers=2", "model.embedding=144", "model.dim=208", "model.score=general"],
    "gpt": ["gpt", "model.positions=rotary"],
}


class Case(NamedTuple):
    """One training, as the journal knows it."""

    model: str
    seed: int
    each: float  # minutes
    lr: float


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--text", type=Path, required=True, metavar="FILE")
    add_options(parser)
    parser.add_argument("--each", type=float, default=4, metavar="MINUTES", help="how long each training takes (4)")
    parser.add_argument("--lr", type=float, default=4e-3, help="the highest learning rate (4e-3)")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    chosen = parser.parse_args()
    cases = [Case(model, seed, chosen.each, chosen.lr) for seed in chosen.seeds for model in chosen.models]
    with trainings_in(chosen.out, chosen.minutes) as trainings:
        speeds = {model: steps_a_minute(model, chosen.text.resolve(), trainings) for model in chosen.models}

        def measured(case: Case) -> dict[str, Any]:
            return measure(case, chosen.text.resolve(), speeds[case.model], trainings)

        trainings.measure(cases, measured, at_once=chosen.at_once)


def steps_a_minute(model: str, text: Path, trainings: Trainings) -> float:
    """Of a training of that model by itself."""
    run = trainings.out / f"probe-{model}"
    train(trainings, run, MODELS[model], text, [*schedule(PROBE, 1), f"train.log_every={PROBE // 2}"])
    first, last = (line["seconds"] for line in journal_of(run) if "rate" in line)
    return 60 * (PROBE - PROBE // 2) / (last - first)


def measure(case: Case, text: Path, speed: float, trainings: Trainings) -> dict[str, Any]:
    """Train as the case says, and score the held-out text by kinds of characters."""
    steps, run = round(speed * case.each), trainings.out / name_of(case)
    settings = [f"train.seed={case.seed}", f"train.lr={case.lr}", *schedule(steps, VALIDATIONS)]
    train(trainings, run, MODELS[case.model], text, settings)
    # minutes of training alone, at the pace that was found: others may be at work meanwhile
    points = [(line["step"] / speed, line["valid"]["loss"]) for line in journal_of(run) if "valid" in line]
    by_kind = loss_by_kind(saccade.load(run, saccade.LanguageModel), held_out(text))
    return {"steps": steps, "points": [(round(x, 3), round(y, 4)) for x, y in points], "by_kind": by_kind}


def train(trainings: Trainings, run: Path, model: list[str], text: Path, settings: list[str]) -> None:
    """A training of that model, of rows and optimizer that are the same for all."""
    recipe, *sizes = model
    shared = [
        f"data.text={text}",
        f"model.max_length={CONTEXT}",
        f"train.batch_size={BATCH}",
        "train.threads=1",
        "train.optimizer=adamw",
        "train.betas=[0.9,0.99]",
        "train.weight_decay=0.1",
    ]
    trainings.saccade(run.name, "train", recipe, *sizes, *shared, *settings, "--run", str(run))


def loss_by_kind(model: saccade.LanguageModel, text: str) -> dict[str, dict[str, float]]:
    """For each kind of character, how many there are and what each costs on average."""
    (scored,) = model.score([text])
    losses = -np.array(scored.log_probs, dtype=np.float64)
    found = {"all": {"characters": len(losses), "nats": round(float(losses.mean()), 4)}}
    for kind, where in kinds_of(text).items():
        found[kind] = {"characters": int(where.sum()), "nats": round(float(losses[where].mean()), 4)}
    return found


def held_out(text: Path) -> str:
    """The last tenth of a text."""
    written = text.read_text(encoding="utf-8")
    return written[len(written) - round(HELD_OUT * len(written)) :]


if __name__ == "__main__":
    main()
