"""Corpora that the package makes: endless, from a seed, with exact answers; and how they become files."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from saccade.base.errors import InputError
from saccade.base.files import make_folder, write_file
from saccade.text import Pair, write_pairs

# Draws in a row that bring nothing new, after which a corpus counts as exhausted.
_PATIENCE = 10_000


class Corpus(ABC):
    """Pairs by number: the same seed and the same number give the same pair, on every machine."""

    @abstractmethod
    def pair(self, index: int) -> Pair:
        """Pair number `index`, of endlessly many."""


def split_corpus(
    corpus: Corpus, sizes: dict[str, int], *, progress: Callable[[int, int], None] | None = None
) -> dict[str, list[Pair]]:
    """Pairs for each named split, in the order of the names; no source stands twice, within a split or across them."""
    splits: dict[str, list[Pair]] = {}
    seen: set[str] = set()
    total, index, idle = sum(sizes.values()), 0, 0
    for name, size in sizes.items():
        splits[name] = []
        while len(splits[name]) < size:
            pair = corpus.pair(index)
            index += 1
            if pair.source in seen:
                idle += 1
                if idle == _PATIENCE:
                    raise InputError(
                        f"there are hardly more than {len(seen)} different pairs; ask for fewer than {total}"
                    )
                continue
            idle = 0
            seen.add(pair.source)
            splits[name].append(pair)
            if progress is not None:
                progress(len(seen), total)
    return splits


class Form(NamedTuple):
    """The files that a corpus becomes: TSV, or JSON lines with a record for each pair."""

    ending: str
    record: Callable[[Pair], dict[str, Any]] | None = None

    def write(self, path: Path, pairs: list[Pair]) -> None:
        if self.record is None:
            write_pairs(path, pairs)
        else:
            lines = (json.dumps(self.record(pair), ensure_ascii=False) for pair in pairs)
            write_file(path, "".join(f"{line}\n" for line in lines).encode())


TSV = Form("tsv")


def expect_free(folder: Path, names: list[str], form: Form = TSV) -> None:
    """Raise if a file of one of these splits stands in `folder` already."""
    standing = [str(path) for name in names if (path := folder / f"{name}.{form.ending}").exists()]
    if standing:
        raise InputError(f"{', '.join(standing)} stands there already; choose another folder, or pass --overwrite")


def write_splits(
    splits: dict[str, list[Pair]], folder: Path, form: Form = TSV, *, overwrite: bool = False
) -> list[Path]:
    """Write `folder/NAME.tsv` for each split, and say which files these are. The folder is made, if need be."""
    paths = {name: folder / f"{name}.{form.ending}" for name in splits}
    if not overwrite:
        expect_free(folder, list(splits), form)
    make_folder(folder)
    for name, path in paths.items():
        form.write(path, splits[name])
    return list(paths.values())
