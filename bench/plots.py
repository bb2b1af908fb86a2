"""The pictures of docs/, from the JSON lines of benchmarks and trainings: `python -m bench.plots PICTURE FILE ...`.

speed    train.jsonl decode.jsonl        docs/speed.svg, how many times as fast saccade is
lengths  NAME=evaluation.json ...        docs/bleu-by-length.svg, from `saccade evaluate --by-length N --json`
quality  quality.jsonl                   docs/quality-by-time.svg
solve    NAME=RUN,RUN ...                docs/sequences-to-solve.svg, of `saccade train ntm-copy`, by bits a sequence
right    NAME=RUN,RUN ...                docs/sequences-to-right.svg, the same by wrong bits, of ntm-recall and its like
past     char-rnn.jsonl                  docs/char-rnn.svg, of `python -m bench.char_rnn`
labels   few-labels.jsonl                docs/few-labels.svg, of `python -m bench.few_labels`
pairs    pretraining.jsonl               docs/pretraining.svg, of `python -m bench.pretraining`
rungs    rungs.jsonl                     docs/rungs.svg, of `python -m bench.rungs`
"""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import yaml
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from saccade.base.errors import InputError

DOCS = Path(__file__).parent.parent / "docs"
# Okabe and Ito's colours, which people see apart however they see colours
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", choices=PICTURES)
    parser.add_argument("files", nargs="+", metavar="FILE")
    chosen = parser.parse_args()
    mpl.rcParams.update(
        {"svg.hashsalt": "saccade", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
    )
    path = PICTURES[chosen.picture](chosen.files)
    print(path)


def speed(files: list[str]) -> Path:
    """One bar for each peer in each case: how many times its rate saccade's is."""
    cases = [case for file in files for case in read_json_lines(file)]
    bars = [(_title(case), name, ratio) for case in cases for name, ratio in case["times_as_fast"].items()]
    bars = [(case, name, ratio) for case, name, ratio in bars if not name.startswith("saccade")]
    names = list(dict.fromkeys(name for _, name, _ in bars))
    figure, axes = plt.subplots(figsize=(7, 0.22 * len(bars) + 0.9), layout="constrained")
    labels = [case if index == 0 or bars[index - 1][0] != case else "" for index, (case, _, _) in enumerate(bars)]
    for name in names:
        indices = [index for index, bar in enumerate(bars) if bar[1] == name]
        colour = COLOURS[names.index(name) % len(COLOURS)]
        axes.barh(indices, [bars[index][2] for index in indices], color=colour, label=name, height=0.75)
    for index, (_, _, ratio) in enumerate(bars):
        axes.text(ratio, index, f" {ratio:.1f}", va="center", fontsize=7)
    axes.set_yticks(range(len(bars)), labels)
    axes.invert_yaxis()
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel("times as fast as the peer (medians of turns in one run)")
    figure.legend(frameon=False, loc="outside upper center", ncols=3)
    return save(figure, "speed.svg")


def _title(case: dict[str, Any]) -> str:
    return f"{'training' if 'tokens' in case['unit'] else 'decoding'}: {case['case']}"


def lengths(files: list[str]) -> Path:
    """BLEU against the length of the source, one line for each model."""
    figure, axes = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
    for colour, file in zip(COLOURS, files, strict=False):
        name, _, path = file.partition("=")
        if not path:
            raise InputError(f"{file}: wanted NAME=FILE")
        groups = json.loads(Path(path).read_text())["by_length"]
        middles = [sum(group["words"]) / 2 for group in groups]
        axes.plot(middles, [group["bleu_lower"] for group in groups], marker="o", color=colour, label=name)
        ticks = [f"{group['words'][0]}-{group['words'][1]}\nn={group['sentences']}" for group in groups]
        axes.set_xticks(middles, ticks)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("words of the source")
    axes.set_ylabel("BLEU, lower-cased")
    axes.legend(frameon=False)
    return save(figure, "bleu-by-length.svg")


def quality(files: list[str]) -> Path:
    """Validation BLEU against minutes, one line for each side."""
    points = [point for file in files for point in read_json_lines(file)]
    figure, axes = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
    for colour, side in zip(COLOURS, dict.fromkeys(point["side"] for point in points), strict=False):
        _line(axes, [point for point in points if point["side"] == side], colour, side)
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.set_xlabel("minutes, one core each")
    axes.set_ylabel("validation BLEU, greedy")
    axes.legend(frameon=False)
    return save(figure, "quality-by-time.svg")


def solve(files: list[str]) -> Path:
    """How many sequences each training saw until they cost less than `SOLVED` bits; a point for each seed."""
    figure, axes = _points(files, sequences_to_solve)
    for label, count in REPORTED.items():
        axes.axvline(count, color="0.6", linestyle=":", linewidth=1)
        axes.text(count, -0.75, label, fontsize=7, rotation=20, ha="left", va="bottom", color="0.4")
    axes.set_xlabel(f"sequences until fewer than {SOLVED} bits a sequence (| is the median; x: not within its steps)")
    return save(figure, "sequences-to-solve.svg")


def right(files: list[str]) -> Path:
    """How many sequences each training saw until `RIGHT` percent of the bits of its validation were right."""
    figure, axes = _points(files, sequences_to_right)
    axes.set_xlabel(f"sequences until {RIGHT} % of the bits are right (| is the median; x: not within its steps)")
    return save(figure, "sequences-to-right.svg")


def _points(files: list[str], measure: Callable[[Path], tuple[int, bool]]) -> tuple[Figure, Axes]:
    """A row for each kind of training, a point for each of its seeds, and their median."""
    figure, axes = plt.subplots(figsize=(6.5, 0.5 * len(files) + 1.2), layout="constrained")
    names: list[str] = []
    for row, file in enumerate(files):
        name, _, runs = file.partition("=")
        if not runs:
            raise InputError(f"{file}: wanted NAME=RUN,RUN")
        seen = [measure(Path(run)) for run in runs.split(",")]
        done = sorted(count for count, solved in seen if solved)
        names.append(f"{name}\n{len(done)} of {len(seen)} seeds")
        for count, solved in seen:
            axes.plot(count, row, marker="o" if solved else "x", color=COLOURS[0] if solved else COLOURS[5])
        if done:
            axes.plot([done[0], done[-1]], [row, row], color=COLOURS[0], linewidth=1, zorder=0)
            axes.plot(done[len(done) // 2], row, marker="|", markersize=16, color="black")
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xscale("log")
    return figure, axes


def sequences_to_solve(run: Path) -> tuple[int, bool]:
    """Sequences that a training saw until those of a whole window of its journal were solved, and whether they were."""
    return _sequences(run, [(line["step"], line["loss"] < SOLVED) for line in _journal(run) if "rate" in line])


def sequences_to_right(run: Path) -> tuple[int, bool]:
    """Sequences that a training saw until its validation was right, and whether it ever was."""
    return _sequences(
        run, [(line["step"], line["valid"]["accuracy"] >= RIGHT) for line in _journal(run) if "valid" in line]
    )


def _journal(run: Path) -> list[dict[str, Any]]:
    return read_json_lines(str(run / "metrics.jsonl"))


def _sequences(run: Path, points: list[tuple[int, bool]]) -> tuple[int, bool]:
    """Up to the first step that was good, or to the last."""
    batch = int(yaml.safe_load((run / "recipe.yaml").read_text())["train"]["batch_size"])
    step, good = next((point for point in points if point[1]), points[-1])
    return step * batch, good


SOLVED = 0.05  # bits a sequence
RIGHT = 99  # percent of the bits
# what others report for copying to that level
REPORTED = {"Graves, feed-forward": 5_000, "Graves, LSTM": 10_000, "pytorch-ntm": 17_000}


def _line(axes: Axes, points: list[dict[str, Any]], colour: str, label: str) -> None:
    minutes, bleu = [point["minutes"] for point in points], [point["bleu"] for point in points]
    axes.plot(minutes, bleu, marker=".", color=colour, label=label)


def past(files: list[str]) -> Path:
    """Loss against time of each seed, and what each model saves of the LSTM's loss at each kind of character."""
    cases = [case for file in files for case in read_json_lines(file)]
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.5, 3.4), layout="constrained")
    models = list(dict.fromkeys(case["model"] for case in cases))
    for colour, model in zip(COLOURS, models, strict=False):
        for number, case in enumerate(case for case in cases if case["model"] == model):
            minutes, losses = zip(*case["points"], strict=True)
            left.plot(minutes, losses, marker=".", color=colour, label=model if number == 0 else None)
    left.set_xlabel("minutes, one core each")
    left.set_ylabel("validation loss, nats a character")
    left.legend(frameon=False)
    kinds = [kind for kind, found in cases[0]["by_kind"].items() if found["characters"] >= ENOUGH]
    base = _mean_by_kind(cases, models[0])
    height = 0.8 / (len(models) - 1)
    for number, model in enumerate(models[1:]):
        found = _mean_by_kind(cases, model)
        places = [row + (number - (len(models) - 2) / 2) * height for row in range(len(kinds))]
        right.barh(places, [base[kind] - found[kind] for kind in kinds], height, color=COLOURS[number + 1], label=model)
    right.set_yticks(range(len(kinds)), kinds)
    right.invert_yaxis()
    right.axvline(0, color="black", linewidth=0.8)
    right.locator_params(axis="x", nbins=5)
    right.set_xlabel(f"nats a character less than {models[0]}")
    return save(figure, "char-rnn.svg")


def _mean_by_kind(cases: list[dict[str, Any]], model: str) -> dict[str, float]:
    of_model = [case["by_kind"] for case in cases if case["model"] == model]
    return {kind: sum(found[kind]["nats"] for found in of_model) / len(of_model) for kind in of_model[0]}


def labels(files: list[str]) -> Path:
    """Accuracy against the number of labelled sentences, a panel for each set: means over seeds, and each seed."""
    cases = [case for file in files for case in read_json_lines(file) if case["seed"] < TRIES]
    sets = list(dict.fromkeys(case["texts"] for case in cases))
    figure, panels = plt.subplots(1, len(sets), figsize=(7.5, 3.2), layout="constrained", squeeze=False)
    for axes, name in zip(panels[0], sets, strict=True):
        mine = [case for case in cases if case["texts"] == name]
        nets = dict.fromkeys((case["net"], case["start"]) for case in mine)
        for colour, (net, start) in zip(COLOURS, nets, strict=False):
            points = [
                (case["labels"] or ALL_LABELS[name], case["accuracy"])
                for case in mine
                if (case["net"], case["start"]) == (net, start)
            ]
            _means(axes, points, colour, f"{net}, {start}", "-" if start == "pretrained" else "--")
        _amounts(axes, [500, 2_000, ALL_LABELS[name]], "labelled sentences")
        axes.set_title(name)
        axes.set_ylabel("accuracy on the test sentences, %")
    panels[0][-1].legend(frameon=False)
    return save(figure, "few-labels.svg")


def pairs(files: list[str]) -> Path:
    """BLEU against the number of pairs, a line for each start."""
    cases = [case for file in files for case in read_json_lines(file)]
    figure, axes = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
    for colour, start in zip(COLOURS, dict.fromkeys(case["start"] for case in cases), strict=False):
        points = [(case["pairs"], case["bleu"]) for case in cases if case["start"] == start]
        _means(axes, points, colour, start, "-")
    _amounts(axes, sorted({case["pairs"] for case in cases}), "pairs of sentences")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("BLEU, test_2016_flickr")
    axes.legend(frameon=False)
    return save(figure, "pretraining.svg")


def rungs(files: list[str]) -> Path:
    """Percent exactly right against the length of the source, a line for each rung: means over seeds, and each seed."""
    cases = [case for file in files for case in read_json_lines(file)]
    figure, axes = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
    for colour, rung in zip(COLOURS, dict.fromkeys(case["rung"] for case in cases), strict=False):
        groups = [group for case in cases if case["rung"] == rung for group in case["by_length"]]
        _means(axes, [(_middle(group), group["exact_match"]) for group in groups], colour, rung, "-")
    groups = {_middle(group): group for case in cases for group in case["by_length"]}
    ticks = [f"{group['letters'][0]}-{group['letters'][1]}\nn={group['dates']}" for group in groups.values()]
    axes.set_xticks(list(groups), ticks)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("letters of the source")
    axes.set_ylabel("exactly right, %")
    axes.legend(frameon=False)
    return save(figure, "rungs.svg")


def _middle(group: dict[str, Any]) -> float:
    return sum(group["letters"]) / 2


ENOUGH = 1_000  # characters of a kind, to be drawn
TRIES = 100  # seeds from here on were for choosing a learning rate
ALL_LABELS = {"sst2": 6_920, "trec": 4_952}


def _means(axes: Axes, points: Sequence[tuple[float, float]], colour: str, label: str, line: str) -> None:
    """A line through the means, and each point."""
    amounts = sorted({amount for amount, _ in points})
    found = {amount: [value for where, value in points if where == amount] for amount in amounts}
    axes.plot(amounts, [sum(found[one]) / len(found[one]) for one in amounts], line, color=colour, label=label)
    axes.plot(*zip(*points, strict=True), ".", color=colour, markersize=4)


def _amounts(axes: Axes, amounts: list[int], label: str) -> None:
    axes.set_xscale("log")
    axes.set_xticks(amounts, [f"{amount:,}" for amount in amounts])
    axes.minorticks_off()
    axes.set_xlabel(label)


def read_json_lines(file: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(file).read_text().splitlines()]


def save(figure: Any, name: str) -> Path:
    DOCS.mkdir(exist_ok=True)
    figure.savefig(DOCS / name, metadata={"Date": None})
    return DOCS / name


PICTURES = {
    "speed": speed,
    "lengths": lengths,
    "quality": quality,
    "solve": solve,
    "right": right,
    "past": past,
    "labels": labels,
    "pairs": pairs,
    "rungs": rungs,
}

if __name__ == "__main__":
    main()
