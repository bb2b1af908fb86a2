"""The corpus of `saccade data` that text classifiers learn from: reviews that are made."""

import argparse

from saccade.base.counts import counted
from saccade.base.errors import InputError
from saccade.base.files import make_folder
from saccade.console.making import add_size
from saccade.console.options import TakesOptions
from saccade.tasks.kind import MadeCorpus
from saccade.tasks.text_classification.labelled import write_labelled_texts
from saccade.tasks.text_classification.made import make_reviews


def _add_options(parser: TakesOptions) -> None:
    add_size(parser, "--texts", 2_000, "to train on")
    add_size(parser, "--valid", 500, "for validation")
    add_size(parser, "--test", 500, "for the test")


def _write(chosen: argparse.Namespace) -> None:
    sizes = {"train": chosen.texts, "valid": chosen.valid, "test": chosen.test}
    paths = {split: chosen.out / f"{split}.tsv" for split in sizes}
    standing = [str(path) for path in paths.values() if path.exists()]
    if standing and not chosen.overwrite:
        raise InputError(f"{standing[0]} stands there already; choose another folder, or pass --overwrite")
    make_folder(chosen.out)
    for split, size in sizes.items():
        texts = make_reviews(size, seed=f"{split} {chosen.seed}")
        write_labelled_texts(paths[split], texts)
        print(f"{paths[split]}: {counted(size, 'text')}, such as {texts[0].text!r}: {texts[0].label}")


REVIEWS = MadeCorpus(
    "reviews",
    "short reviews, good or bad, with words that are turned around",
    'Short reviews that are positive or negative ("the soup was not bad"), in which the order of the words counts:'
    " what follows `not` is turned around, and of two parts the one behind `but` decides.",
    _add_options,
    _write,
)
