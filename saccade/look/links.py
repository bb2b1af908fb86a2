"""Hard alignments: which word belongs to which, read off an attention map."""

from collections.abc import Iterable
from typing import Literal, get_args

import numpy as np

from saccade.base.errors import InputError
from saccade.look.maps import END_LABEL, AttentionMap

Method = Literal["argmax", "mutual", "entropy"]
METHODS: tuple[Method, ...] = get_args(Method)
Symmetrization = Literal["intersection", "union", "grow-diag"]
SYMMETRIZATIONS: tuple[Symmetrization, ...] = get_args(Symmetrization)


def links(
    attention: AttentionMap,
    method: Method = "argmax",
    *,
    layer: int | None = None,
    head: int | None = None,
    sure: float = 0.5,
) -> list[tuple[int, int]]:
    """Pairs `(column, row)`, that is source and target word, in order.

    argmax   each row with the column that it looked at most
    mutual   of these, the ones where no other row looked more at that column
    entropy  of argmax, the rows whose weights are less spread than `sure` of what they could be: with entropy
             `-Σ w log w` below `sure · log(columns)`

    Ends of sentences are linked with nothing: a row that looks most at the end has no link, as words without a
    counterpart do. Of equal weights the first counts.
    """
    if method not in METHODS:
        raise InputError(f"method: found {method!r}, wanted one of {', '.join(METHODS)}")
    weights = attention.matrix(layer=layer, head=head).astype(np.float64)
    total = weights.sum(1, keepdims=True)
    shares = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    surprise = -(shares * np.log(np.where(shares > 0, shares, 1.0))).sum(1)
    spread_at_most = sure * np.log(weights.shape[1])
    columns = attention.column_labels
    found: list[tuple[int, int]] = []
    for row, column in enumerate(weights.argmax(1).tolist()):
        if END_LABEL in {attention.rows[row], columns[column]} or weights[row, column] == 0:
            continue
        if method == "mutual" and weights[:, column].argmax() != row:
            continue
        if method == "entropy" and surprise[row] >= spread_at_most:
            continue
        found.append((column, row))
    return sorted(found)


def as_pharaoh(pairs: Iterable[tuple[int, int]]) -> str:
    """Links as other tools write and read them: `0-0 1-2`, source first, from 0."""
    return " ".join(f"{source}-{target}" for source, target in pairs)


def symmetrize(
    forward: Iterable[tuple[int, int]], backward: Iterable[tuple[int, int]], how: Symmetrization
) -> list[tuple[int, int]]:
    """One alignment from those of two models, one for each direction; both as `(source, target)`.

    intersection  what both found: few and sure
    union         what either found
    grow-diag     the intersection, and step by step what either found beside or diagonally to a link already there,
                  if one of its two words has no link yet (Koehn 2003)
    """
    one, other = set(forward), set(backward)
    if how == "union":
        return sorted(one | other)
    joined = one & other
    if how == "intersection":
        return sorted(joined)
    if how != "grow-diag":
        raise InputError(f"how: found {how!r}, wanted one of {', '.join(SYMMETRIZATIONS)}")
    beside = [(down, across) for down in (-1, 0, 1) for across in (-1, 0, 1) if down or across]
    grows = True
    while grows:
        grows = False
        for source, target in sorted(joined):
            for down, across in beside:
                link = source + down, target + across
                if link not in one | other or link in joined:
                    continue
                if all(link[0] != s for s, _ in joined) or all(link[1] != t for _, t in joined):
                    joined.add(link)
                    grows = True
    return sorted(joined)
