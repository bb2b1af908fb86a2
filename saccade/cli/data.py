"""`saccade data`: Make a corpus with exact answers, or get a public one."""

import argparse
import sys
from pathlib import Path

from saccade.base.errors import InputError
from saccade.base.files import make_folder
from saccade.tasks.story_qa.made import make_stories
from saccade.tasks.story_qa.stories import write_stories
from saccade.tasks.translation.dates import DATE_LOCALES, Dates
from saccade.tasks.translation.made import Corpus, expect_free, split_corpus, write_splits
from saccade.tasks.translation.numbers import NUMBER_LANGUAGES, Numbers
from saccade.tasks.translation.public import SETS, get_public_set
from saccade.vision import make_scenes, write_scenes
from saccade.vision.shapes import CAPTIONS, expect_free_for_scenes

# They are held in memory, to know what stood there before.
_MOST_PAIRS = 10_000_000
_LEAST_SIDE, _MOST_SIDE = 16, 1024


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the corpora that can be made, each with its options."""
    kinds = parser.add_subparsers(metavar="COMMAND", required=True)
    make = kinds.add_parser("make", help="make a corpus with exact answers, from a seed")
    corpora = make.add_subparsers(metavar="CORPUS", required=True)

    dates = corpora.add_parser(
        "dates",
        help="dates as people write them, to ISO dates",
        description='Dates as people write them, to ISO dates: "le 9 novembre 2026" to "2026-11-09".',
    )
    dates.add_argument(
        "--locales",
        type=lambda names: tuple(filter(None, names.split(","))),
        default=DATE_LOCALES,
        metavar="A,B,...",
        help=f"whose dates (all of {', '.join(DATE_LOCALES)})",
    )
    dates.set_defaults(run=lambda chosen: make_corpus(chosen, Dates(chosen.seed, locales=chosen.locales)))

    numbers = corpora.add_parser(
        "numbers",
        help="numbers in words, from one language to another",
        description='Numbers in words, from one language to another: "forty-two" to "quarante-deux".',
    )
    numbers.add_argument(
        "--source", default="en", metavar="LANG", help=f"the language to read, of {', '.join(NUMBER_LANGUAGES)} (en)"
    )
    numbers.add_argument("--target", default="fr", metavar="LANG", help="the language to write, of the same (fr)")
    numbers.add_argument("--highest", type=int, default=999_999, metavar="N", help="the highest number (999999)")
    numbers.set_defaults(
        run=lambda chosen: make_corpus(
            chosen, Numbers(chosen.seed, source=chosen.source, target=chosen.target, highest=chosen.highest)
        )
    )

    shapes = corpora.add_parser(
        "shapes",
        help="scenes of coloured shapes, with captions and the box of every noun",
        description='Scenes of coloured shapes, with captions ("a large red circle above a small blue star") and the'
        " box of every noun: images, and captions.jsonl.",
    )
    shapes.add_argument("--side", type=_side, default=64, metavar="N", help="pixels of a side (64)")
    shapes.add_argument("--scenes", type=_count, default=1_000, metavar="N", help="how many (1000)")
    shapes.set_defaults(run=make_shapes)

    stories = corpora.add_parser(
        "stories",
        help="stories of people, rooms and things, with questions",
        description='Stories of people who walk from room to room and carry things, with questions ("Where is the'
        ' milk?") and the sentences that each answer rests on, in the format of bAbI.',
    )
    stories.add_argument("--stories", type=_count, default=1_000, metavar="N", help="to train on (1000)")
    stories.add_argument("--test", type=_count, default=200, metavar="N", help="for the test (200)")
    stories.set_defaults(run=make_story_files)

    for corpus in (dates, numbers):
        corpus.add_argument("--pairs", type=_count, default=20_000, metavar="N", help="pairs to train on (20000)")
        corpus.add_argument("--valid", type=_count, default=1_000, metavar="N", help="pairs for validation (1000)")
        corpus.add_argument("--test", type=_count, default=1_000, metavar="N", help="pairs for the test (1000)")
    for corpus in (dates, numbers, shapes, stories):
        corpus.add_argument("--seed", type=int, default=0, metavar="N", help="another seed gives others (0)")
        corpus.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the files go")
        corpus.add_argument("--overwrite", action="store_true", help="write over files that stand there already")

    get = kinds.add_parser("get", help="get a public data set, from the network or from a folder, and check it")
    get.add_argument("name", choices=SETS, metavar="SET", help=f"one of: {', '.join(SETS)}")
    get.add_argument("--out", type=Path, metavar="DIR", help="where the files go (data/SET)")
    get.add_argument("--from", dest="source", type=Path, metavar="DIR", help="a folder that has them, packed or not")
    get.set_defaults(run=get_set)


def get_set(chosen: argparse.Namespace) -> None:
    """Get the files, and say where they are."""
    out = Path("data", chosen.name) if chosen.out is None else chosen.out
    paths = get_public_set(chosen.name, out, source=chosen.source, progress=lambda path: print(path, file=sys.stderr))
    print(f"{out}: {len(paths)} files, as published")


def _count(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted a whole number") from None
    if not 1 <= number <= _MOST_PAIRS:
        raise argparse.ArgumentTypeError(f"found {number}, wanted 1 to {_MOST_PAIRS}")
    return number


def make_corpus(chosen: argparse.Namespace, corpus: Corpus) -> None:
    """Make the three splits, write them, and say where they are."""
    sizes = {"train": chosen.pairs, "valid": chosen.valid, "test": chosen.test}
    if not chosen.overwrite:
        expect_free(chosen.out, list(sizes))  # before the work, not after it
    splits = split_corpus(corpus, sizes, progress=_show_progress if sys.stderr.isatty() else None)
    for path, pairs in zip(write_splits(splits, chosen.out, overwrite=chosen.overwrite), splits.values(), strict=True):
        print(f"{path}: {len(pairs)} pairs, such as {pairs[0].source!r} -> {pairs[0].target!r}")


def make_shapes(chosen: argparse.Namespace) -> None:
    """Draw the scenes, write them, and say where they are."""
    if not chosen.overwrite:
        expect_free_for_scenes(chosen.scenes, chosen.out)  # before the work, not after it
    scenes = make_scenes(chosen.scenes, seed=chosen.seed, side=chosen.side)
    write_scenes(scenes, chosen.out, progress=_show_progress if sys.stderr.isatty() else None)
    images = chosen.out / "images"
    print(f"{chosen.out / CAPTIONS}: {len(scenes)} scenes, such as {scenes[0].caption!r}; the images are in {images}")


def make_story_files(chosen: argparse.Namespace) -> None:
    """Make stories to train on and others for the test, write them, and say where they are."""
    paths = {split: chosen.out / f"qa1_made_{split}.txt" for split in ("train", "test")}
    standing = [str(path) for path in paths.values() if path.exists()]
    if standing and not chosen.overwrite:
        raise InputError(f"{standing[0]} stands there already; choose another folder, or pass --overwrite")
    make_folder(chosen.out)
    for split, count in (("train", chosen.stories), ("test", chosen.test)):
        questions = make_stories(count, seed=f"{split} {chosen.seed}")
        write_stories(paths[split], questions)
        example = f"{' '.join(questions[0].question)}? {questions[0].answer}"
        print(f"{paths[split]}: {count} stories, {len(questions)} questions, such as {example!r}")


def _side(text: str) -> int:
    number = _count(text)
    if not _LEAST_SIDE <= number <= _MOST_SIDE:
        raise argparse.ArgumentTypeError(f"found {number}, wanted {_LEAST_SIDE} to {_MOST_SIDE}")
    return number


def _show_progress(done: int, total: int) -> None:
    if done == total or done % 1000 == 0:
        print(f"\r{done} of {total}", end="\n" if done == total else "", file=sys.stderr, flush=True)
