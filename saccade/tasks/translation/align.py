"""`saccade align`: Link the words of sentence pairs, by what a model looks at in forced decoding."""

import argparse
import json
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from saccade.base.errors import InputError
from saccade.base.files import write_file
from saccade.console.drawing import expect_layer_and_head
from saccade.console.outputs import expect_outputs
from saccade.console.parser import count
from saccade.look import METHODS, SYMMETRIZATIONS, as_pharaoh, links, symmetrize
from saccade.metrics import Gold, read_links, score_alignments
from saccade.tasks.load import load
from saccade.tasks.translation.maps import map_for_alignment
from saccade.tasks.translation.model import Translator
from saccade.tasks.translation.pair_options import add_pair_arguments, read_pairs
from saccade.text import Pair

Links = list[tuple[int, int]]

# Pairs whose maps are in memory at a time.
_CHUNK_BATCHES = 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    helps = ("sentences, one a line, words between spaces", "their translations, one a line")
    add_pair_arguments(parser, second="target", helps=helps)
    parser.add_argument(
        "--gold",
        type=Path,
        metavar="FILE",
        help="right links, the source's word first and from 0, i-j sure and ipj possible: score ours, and print that",
    )
    parser.add_argument(
        "--reverse", type=Path, metavar="MODEL", help="a model of the other direction, to symmetrize with"
    )
    parser.add_argument("--symmetrize", choices=SYMMETRIZATIONS, help="how, with --reverse (grow-diag)")
    parser.add_argument(
        "--method",
        choices=METHODS,
        default="argmax",
        help="which links: to where a word looked most (argmax, the default); of these, where no other word looked more"
        " (mutual), or where it looked at little else (entropy)",
    )
    parser.add_argument(
        "--shift",
        action="store_true",
        help="link a word by the attention of the step after the one that writes it, which has read it (SHIFT-ATT, Chen"
        " 2020)",
    )
    parser.add_argument("--layer", type=count, metavar="N", help="from 1; otherwise the mean of all")
    parser.add_argument("--head", type=count, metavar="N", help="from 1; otherwise the mean of all")
    parser.add_argument("--batch-size", type=count, default=64, metavar="N", help="sentences at a time (64)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the links there")
    parser.add_argument("--json", action="store_true", help="with --gold: the figures as one JSON object")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> None:
    """Print a line of links i-j for each pair; with --gold, print how good they are instead."""
    expect_outputs(others=[chosen.output])
    pairs = read_pairs(chosen, second="target")
    gold = None if chosen.gold is None else read_links(chosen.gold)
    if gold is not None and len(gold) != len(pairs):
        raise InputError(f"{chosen.gold} has {len(gold)} lines, wanted {len(pairs)}, one for each pair")
    if gold is not None and not any(line.sure for line in gold):
        raise InputError(f"{chosen.gold} has no sure links, wanted some, such as 0-0")
    if gold is None and chosen.json:
        raise InputError("--json: it is for the figures, and there are none without --gold FILE")
    if chosen.symmetrize is not None and chosen.reverse is None:
        raise InputError("--symmetrize: it is for two directions; name the other model with --reverse MODEL")
    found, sizes = _align(chosen.model, pairs, chosen)
    if gold is not None:
        _expect_words_for(gold, sizes, str(chosen.gold))
    if chosen.reverse is not None:
        turned, _ = _align(chosen.reverse, [Pair(pair.target, pair.source) for pair in pairs], chosen)
        backward = [[(source, target) for target, source in line] for line in turned]
        found = [
            symmetrize(one, other, chosen.symmetrize or "grow-diag") for one, other in zip(found, backward, strict=True)
        ]
    lines = "".join(f"{as_pharaoh(line)}\n" for line in found)
    if chosen.output is not None:
        write_file(chosen.output, lines.encode())
    if gold is not None:
        score = score_alignments(found, gold)
        figures = {name: round(value, 2) for name, value in score._asdict().items()}
        print(
            json.dumps(figures)
            if chosen.json
            else "\n".join(f"{name:<10} {value:6.2f}" for name, value in figures.items())
        )
    elif chosen.output is None:
        print(lines, end="")


def _expect_words_for(gold: list[Gold], sizes: list[tuple[int, int]], name: str) -> None:
    """Every link is between words that are there."""
    for number, (line, (sources, targets)) in enumerate(zip(gold, sizes, strict=True), start=1):
        for source, target in sorted(line.sure | line.possible):
            if source >= sources or target >= targets:
                raise InputError(
                    f"{name}, line {number}: found the link {source}-{target}, but the pair has {sources} and {targets}"
                    " words; they count from 0, the source's first"
                )


def _align(folder: Path, pairs: list[Pair], chosen: argparse.Namespace) -> tuple[list[Links], list[tuple[int, int]]]:
    """The links of each pair, and how many words it has."""
    translator = load(folder, Translator)
    for number, pair in enumerate(pairs, start=1):
        source = translator.tokenize(pair.source, f"pair {number}, source")
        translator.tokenize_target(pair.target, source, f"pair {number}, target")
    layer, head = (None if number is None else number - 1 for number in (chosen.layer, chosen.head))
    size = chosen.batch_size * _CHUNK_BATCHES
    found: list[Links] = []
    sizes: list[tuple[int, int]] = []
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("aligning", total=len(pairs))
        for first in range(0, len(pairs), size):
            part = pairs[first : first + size]
            decodings = translator.score(
                [pair.source for pair in part],
                [pair.target for pair in part],
                batch_size=chosen.batch_size,
                progress=lambda done: progress.advance(bar, done),
            )
            for decoding in decodings:
                sizes.append((len(decoding.source_words) - 1, len(decoding.target_words) - 1))
                if decoding.attention is None:
                    raise InputError(f"{folder}: this model looks at nothing; it has no attention to align by")
                if len(decoding.target_words) == 1:  # nothing but its end
                    found.append([])
                    continue
                attention = map_for_alignment(decoding, shift=chosen.shift)
                expect_layer_and_head(attention, chosen)
                found.append(links(attention, chosen.method, layer=layer, head=head))
    return found, sizes
