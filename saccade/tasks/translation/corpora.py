"""The corpora of `saccade data` that translators learn from: dates and numbers that are made, and public sets."""

import argparse

from saccade.console.making import add_size, progress
from saccade.console.options import TakesOptions
from saccade.tasks.kind import MadeCorpus, PublicSets
from saccade.tasks.translation.dates import DATE_LOCALES, Dates
from saccade.tasks.translation.made import Corpus, expect_free, split_corpus, write_splits
from saccade.tasks.translation.numbers import NUMBER_LANGUAGES, Numbers
from saccade.tasks.translation.public import SETS, get_public_set


def _add_sizes(parser: TakesOptions) -> None:
    add_size(parser, "--pairs", 20_000, "pairs to train on")
    add_size(parser, "--valid", 1_000, "pairs for validation")
    add_size(parser, "--test", 1_000, "pairs for the test")


def _add_date_options(parser: TakesOptions) -> None:
    parser.add_argument(
        "--locales",
        type=lambda names: tuple(filter(None, names.split(","))),
        default=DATE_LOCALES,
        metavar="A,B,...",
        help=f"whose dates (all of {', '.join(DATE_LOCALES)})",
    )
    _add_sizes(parser)


def _add_number_options(parser: TakesOptions) -> None:
    languages = ", ".join(NUMBER_LANGUAGES)
    parser.add_argument("--source", default="en", metavar="LANG", help=f"the language to read, of {languages} (en)")
    parser.add_argument("--target", default="fr", metavar="LANG", help="the language to write, of the same (fr)")
    parser.add_argument("--max-number", type=int, default=999_999, metavar="N", help="the highest number (999999)")
    _add_sizes(parser)


def _write(chosen: argparse.Namespace, corpus: Corpus) -> None:
    sizes = {"train": chosen.pairs, "valid": chosen.valid, "test": chosen.test}
    if not chosen.overwrite:
        expect_free(chosen.out, list(sizes))  # before the work, not after it
    splits = split_corpus(corpus, sizes, progress=progress())
    for path, pairs in zip(write_splits(splits, chosen.out, overwrite=chosen.overwrite), splits.values(), strict=True):
        print(f"{path}: {len(pairs)} pairs, such as {pairs[0].source!r} -> {pairs[0].target!r}")


def _write_dates(chosen: argparse.Namespace) -> None:
    _write(chosen, Dates(chosen.seed, locales=chosen.locales))


def _write_numbers(chosen: argparse.Namespace) -> None:
    _write(chosen, Numbers(chosen.seed, source=chosen.source, target=chosen.target, max_number=chosen.max_number))


MADE = (
    MadeCorpus(
        "dates",
        "dates as people write them, to ISO dates",
        'Dates as people write them, to ISO dates: "le 9 novembre 2026" to "2026-11-09".',
        _add_date_options,
        _write_dates,
    ),
    MadeCorpus(
        "numbers",
        "numbers in words, from one language to another",
        'Numbers in words, from one language to another: "forty-two" to "quarante-deux".',
        _add_number_options,
        _write_numbers,
    ),
)

PUBLIC = PublicSets(tuple(SETS), get_public_set)
