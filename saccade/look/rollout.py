"""Attention through several layers at once."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from saccade.base.errors import InputError
from saccade.look.maps import AttentionMap


def rollout(attention: AttentionMap, *, source: AttentionMap | None = None) -> AttentionMap:
    """Attention rollout (Abnar and Zuidema 2020): what the last layer sees of the words that went into the first.

    For a map of a sentence on itself, with `A_l` the mean over the heads of layer l, and half of each position going
    around the attention on the residual path:

        R_0 = I,    R_l = ½ (A_l + I) R_{l-1}

    For a cross map, `source` is the encoder's map of the same sentence: what is looked at are then not the encoder's
    last states but the words that went into them, `C R` with `C` the mean over layers and heads.
    Gives a map of one layer and one head.
    """
    if attention.kind == "cross":
        if source is None or source.kind != "encoder" or list(source.rows) != list(attention.column_labels):
            raise InputError("source: a cross map is rolled out through the encoder's map of the same sentence")
        weights = attention.matrix().astype(np.float64) @ _through(source)
    elif attention.kind in {"encoder", "decoder"}:
        weights = _through(attention)
    else:
        raise InputError(f"kind: found {attention.kind}, wanted cross, encoder or decoder to roll out")
    return replace(attention, weights=weights.astype(np.float32))


def _through(attention: AttentionMap) -> NDArray[np.float64]:
    size = len(attention.rows)
    if size != len(attention.column_labels):
        raise InputError(f"weights: found {size} rows and {len(attention.column_labels)} columns, wanted as many")
    rolled = np.eye(size)
    for layer in attention.weights.mean(1, dtype=np.float64):
        rolled = (layer + np.eye(size)) / 2 @ rolled
    return rolled
