"""The corpora of `saccade data make` that models from text to text learn from."""

import argparse

from saccade.base.counts import counted
from saccade.console.making import add_size, progress
from saccade.console.options import TakesOptions
from saccade.tasks.kind import MadeCorpus
from saccade.tasks.translation.dates import DATE_LOCALES, Dates
from saccade.tasks.translation.made import TSV, Corpus, Form, expect_free, split_corpus, write_splits
from saccade.tasks.translation.made_answers import Answers
from saccade.tasks.translation.made_summaries import Summaries
from saccade.tasks.translation.numbers import NUMBER_LANGUAGES, Numbers
from saccade.text import SEPARATOR, Pair


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


def _article(pair: Pair) -> dict[str, object]:
    return {"article": pair.source, "highlights": pair.target}


def _question(pair: Pair) -> dict[str, object]:
    question, _, passage = pair.source.partition(f" {SEPARATOR} ")
    return {"question": question, "passage": passage, "answers": [pair.target]}


def _write(chosen: argparse.Namespace, corpus: Corpus, form: Form = TSV) -> None:
    sizes = {"train": chosen.pairs, "valid": chosen.valid, "test": chosen.test}
    if not chosen.overwrite:
        expect_free(chosen.out, list(sizes), form)  # before the work, not after it
    splits = split_corpus(corpus, sizes, progress=progress())
    paths = write_splits(splits, chosen.out, form, overwrite=chosen.overwrite)
    for path, pairs in zip(paths, splits.values(), strict=True):
        print(f"{path}: {counted(len(pairs), 'pair')}, such as {pairs[0].source!r} -> {pairs[0].target!r}")


def _write_dates(chosen: argparse.Namespace) -> None:
    _write(chosen, Dates(chosen.seed, locales=chosen.locales))


def _write_numbers(chosen: argparse.Namespace) -> None:
    _write(chosen, Numbers(chosen.seed, source=chosen.source, target=chosen.target, max_number=chosen.max_number))


def _write_summaries(chosen: argparse.Namespace) -> None:
    _write(chosen, Summaries(chosen.seed), Form("jsonl", _article))


def _write_answers(chosen: argparse.Namespace) -> None:
    _write(chosen, Answers(chosen.seed), Form("jsonl", _question))


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
    MadeCorpus(
        "summaries",
        "reports and their summaries",
        "Reports of eight sentences, each with its one right summary, as JSON lines with article and highlights.",
        _add_sizes,
        _write_summaries,
    ),
    MadeCorpus(
        "answers",
        "questions about passages",
        "Facts about three people and a question about one, as JSON lines with question, passage and answers.",
        _add_sizes,
        _write_answers,
    ),
)
