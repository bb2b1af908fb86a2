"""Does pretraining pay where labels are few? `python -m bench.few_labels --data DIR --out few-labels --minutes 60`.

Classifiers of sentences (SST-2, positive or negative; TREC, six kinds of questions) that learn from 500, 2,000 and all
labelled sentences, an LSTM and a Transformer, from two starts with the same net and the same number of steps:

    nothing     random weights; words of its own
    pretrained  the weights and subwords of a language model

The language model learns from Tiny Shakespeare, War and Peace, the English of Multi30k and of Europarl, and the sets'
own training sentences without their labels. Learning rates are the better of two for each net and start, by accuracy on
SST-2's validation sentences, with 2,000 labels and a seed of its own. The model with the best validation accuracy is
scored on the test sentences. What was begun goes on (bench/trainings.py).
"""

import argparse
import gzip
import json
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import saccade
from bench.trainings import Trainings, add_options, journal_of, name_of, schedule, trainings_in
from saccade.base.files import read_lines, write_file
from saccade.tasks.text_classification.data import read_labelled_texts

STEPS = {500: 200, 2_000: 400, 0: 1_000}  # of a training with so many labels; 0 means all
PRETRAINING_STEPS = 4_000
CONTEXT, PRETRAINING_BATCH = 96, 32
PRETRAINING_RATES = {"lstm": 5e-3, "transformer": 2e-3}
NETS = {
    "lstm": ["model.layers=1", "model.embedding=192", "model.dim=192"],
    "transformer": [
        *("model.layers=4", "model.dim=192", "model.heads=4", "model.feed_forward=768"),
        *("model.positions=rotary", "model.dropout=0.1"),
    ],
}
RECIPES = {"lstm": "char-rnn", "transformer": "gpt"}
KINDS = {"lstm": "model.kind=rnn", "transformer": "model.kind=transformer"}
STARTS = ("nothing", "pretrained")
RATES = {  # the ones to choose from
    ("lstm", "nothing"): (5e-3, 2e-3),
    ("lstm", "pretrained"): (2e-3, 5e-4),
    ("transformer", "nothing"): (1e-3, 3e-4),
    ("transformer", "pretrained"): (1e-3, 3e-4),
}
CHOICE_SEED = 100


class Case(NamedTuple):
    """One training, as the journal knows it."""

    texts: str
    labels: int
    net: str
    start: str
    seed: int
    lr: float


class Texts(NamedTuple):
    """A set: its training sentences, those for validation if it has some, and its test sentences."""

    train: Path
    valid: Path | None
    test: Path

    def settings(self) -> list[str]:
        return [f"data.train={self.train}", *([] if self.valid is None else [f"data.valid={self.valid}"])]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--data", type=Path, required=True, metavar="DIR", help="with classify/, text/, multi30k/ and europarl/"
    )
    add_options(parser)
    parser.add_argument("--nets", nargs="+", choices=NETS, default=list(NETS))
    parser.add_argument("--texts", nargs="+", choices=("sst2", "trec"), default=["sst2", "trec"])
    parser.add_argument("--labels", type=int, nargs="+", choices=STEPS, default=list(STEPS), help="0: all (500 2000 0)")
    chosen = parser.parse_args()
    folder = chosen.data.resolve() / "classify"
    sets = {
        "sst2": Texts(folder / "sst2.train.tsv", folder / "sst2.dev.tsv", folder / "sst2.test.tsv"),
        "trec": Texts(folder / "trec.train.tsv", None, folder / "trec.test.tsv"),
    }
    with trainings_in(chosen.out, chosen.minutes) as trainings:
        text = trainings.out / "plain.jsonl"
        if not text.exists():
            texts = list(plain_texts(chosen.data))
            random.Random("a tenth of each kind is for validation").shuffle(texts)
            write_file(text, "".join(f"{json.dumps({'text': one})}\n" for one in texts).encode())
        with ThreadPoolExecutor(chosen.at_once) as pool:
            runs = pool.map(lambda net: pretrain(net, text, trainings), chosen.nets)
            starts = dict(zip(chosen.nets, runs, strict=True))

        def measured(case: Case) -> dict[str, Any]:
            return measure(case, sets[case.texts], starts[case.net], trainings)

        tries = [
            Case("sst2", 2_000, net, start, CHOICE_SEED, lr)
            for net in chosen.nets
            for start in STARTS
            for lr in RATES[net, start]
        ]
        trainings.measure(tries, measured, at_once=chosen.at_once)
        cases = [
            Case(texts, labels, net, start, seed, chosen_rate(trainings, net, start))
            for seed in chosen.seeds
            for texts in chosen.texts
            for labels in chosen.labels
            for net in chosen.nets
            for start in STARTS
        ]
        trainings.measure(cases, measured, at_once=chosen.at_once)


def chosen_rate(trainings: Trainings, net: str, start: str) -> float:
    """The learning rate with which the net was best on the sentences that are for validation."""
    tries = [line for line in trainings.lines() if line["seed"] == CHOICE_SEED]
    mine = [line for line in tries if (line["net"], line["start"]) == (net, start)]
    return max(mine, key=lambda line: line["valid"])["lr"]


def pretrain(net: str, text: Path, trainings: Trainings) -> Path:
    """The run of a language model of that net."""
    run = trainings.out / f"language-{net}"
    settings = [
        *NETS[net],
        f"data.text={text}",
        *("vocabulary.kind=subwords", "vocabulary.size=8000"),
        f"model.max_length={CONTEXT}",
        "model.tie_embeddings=output",
        f"train.batch_size={PRETRAINING_BATCH}",
        f"train.lr={PRETRAINING_RATES[net]}",
        *("train.precision=bfloat16", "train.threads=1"),
        *schedule(PRETRAINING_STEPS, 8),
    ]
    trainings.saccade(run.name, "train", RECIPES[net], *settings, "--run", str(run))
    return run


def measure(case: Case, texts: Texts, start: Path, trainings: Trainings) -> dict[str, Any]:
    """Train as the case says, and score the model on the test sentences."""
    run = trainings.out / name_of(case)
    steps = STEPS[case.labels]
    settings = [
        *texts.settings(),
        *([f"data.limit={case.labels}"] if case.labels else []),
        *(KINDS[case.net], *NETS[case.net], f"model.max_length={CONTEXT}"),
        *([f"train.start_from={start}", "vocabulary.kind=subwords"] if case.start == "pretrained" else []),
        *(f"train.lr={case.lr}", f"train.seed={case.seed}", "train.threads=1"),
        *schedule(steps, 8),
    ]
    trainings.saccade(run.name, "train", "labels", *settings, "--run", str(run))
    valid = max(line["valid"]["accuracy"] for line in journal_of(run) if "valid" in line)
    test = read_labelled_texts(texts.test)
    found = saccade.load(run, saccade.TextClassifier).classify([one.text for one in test])
    right = sum(output.label == one.label for output, one in zip(found, test, strict=True))
    return {"steps": steps, "valid": valid, "accuracy": round(100 * right / len(test), 2)}


def plain_texts(data: Path) -> Iterator[str]:
    """Sentences and paragraphs, each a document, without labels and without what is for validation or test."""
    for name in ("tinyshakespeare", "warandpeace"):
        written = (data / "text" / f"{name}.txt").read_text(encoding="utf-8")
        yield from (" ".join(part.split()) for part in written.split("\n\n") if part.strip())
    yield from read_lines(data / "multi30k" / "train.en")
    with gzip.open(data / "europarl" / "train.en-fr.tsv.gz", "rt", encoding="utf-8") as file:
        yield from (line.partition("\t")[0] for line in file)
    for name in ("sst2", "trec"):
        yield from (one.text for one in read_labelled_texts(data / "classify" / f"{name}.train.tsv"))


if __name__ == "__main__":
    main()
