"""How good word alignments are: the alignment error rate (Och and Ney 2003)."""

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from saccade.base.errors import InputError
from saccade.base.files import read_lines

Link = tuple[int, int]  # source word, target word, from 0

_LINK = re.compile(r"(\d{1,6})([-p])(\d{1,6})")


class Gold(NamedTuple):
    """What people linked: surely, and possibly; what is sure is possible, too."""

    sure: frozenset[Link]
    possible: frozenset[Link]


class AlignmentScore(NamedTuple):
    """Figures in percent."""

    aer: float
    precision: float
    recall: float


def read_links(path: Path) -> list[Gold]:
    """A line for each sentence: `i-j` is a sure link, `ipj` a possible one; source first, from 0."""
    return [_read_line(line, f"{path}, line {number}") for number, line in enumerate(read_lines(path), start=1)]


def _read_line(line: str, where: str) -> Gold:
    sure: set[Link] = set()
    possible: set[Link] = set()
    for word in line.split():
        match = _LINK.fullmatch(word)
        if match is None:
            raise InputError(f"{where}: found {word!r}, wanted links such as 0-0 (sure) or 0p1 (possible)")
        link = int(match[1]), int(match[3])
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return Gold(frozenset(sure), frozenset(possible))


def score_alignments(found: Sequence[Collection[Link]], gold: Sequence[Gold]) -> AlignmentScore:
    """The figures over all sentences together, with A the links found, S the sure and P ⊇ S the possible ones:

    precision = |A ∩ P| / |A|,  recall = |A ∩ S| / |S|,  AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)
    """
    if len(found) != len(gold):
        raise ValueError(f"gold: found {len(gold)} sentences, wanted {len(found)}, one for each alignment")
    links = sum(len(set(one)) for one in found)
    sure = sum(len(one.sure) for one in gold)
    in_sure = sum(len(set(ours) & theirs.sure) for ours, theirs in zip(found, gold, strict=True))
    in_possible = sum(len(set(ours) & theirs.possible) for ours, theirs in zip(found, gold, strict=True))
    if links + sure == 0:
        raise ValueError("found no links and no sure gold links, wanted at least one")
    return AlignmentScore(
        aer=100 * (1 - (in_sure + in_possible) / (links + sure)),
        precision=100 * in_possible / links if links else 0.0,
        recall=100 * in_sure / sure if sure else 0.0,
    )
