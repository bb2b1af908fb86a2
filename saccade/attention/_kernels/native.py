"""The C loops of `additive.c`, as functions of tensors."""

import ctypes
from pathlib import Path

import torch
from torch import Tensor

from saccade.native import call, library_for, load_library

_SOURCE = Path(__file__).with_name("additive.c")


class NativeLoops:
    """The loops over contiguous tensors of one dtype. `N` batch, `T` queries, `S` keys, `D` dim."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def scores(self, query: Tensor, key: Tensor, v: Tensor) -> Tensor:
        """`[N, T, D]`, `[N, D, S]`, `[D]` -> `[N, T, S]`."""
        scores = query.new_empty(*query.shape[:2], key.shape[2])
        call(self._library.additive_scores, (query, key, v, scores), *_sizes(query, key))
        return scores

    def backward(self, query: Tensor, key: Tensor, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """`[N, T, D]`, `[N, D, S]`, `[N, T, S]` -> slopes of query and key, each in its shape, and the level `[D]`."""
        slope_q, slope_k = torch.empty_like(query), torch.empty_like(key)
        level = query.new_empty(*key.shape[:2])
        call(self._library.additive_backward, (query, key, grad, slope_q, slope_k, level), *_sizes(query, key))
        return slope_q, slope_k, level.sum(0)


def _sizes(query: Tensor, key: Tensor) -> tuple[int, int, int, int]:
    batch, queries, dim = query.shape
    return batch, queries, key.shape[2], dim


def native_loops(tensor: Tensor) -> NativeLoops | None:
    """The loops that can work on `tensor`, or None where torch's own operations must do."""
    library = library_for(tensor, _SOURCE)
    return None if library is None else NativeLoops(library)


def additive_backend() -> str:
    """What computes additive scores on this machine's CPU, and why: "native: ..." or "torch: ..."."""
    library = load_library(_SOURCE, "float")
    return f"{'torch' if library.functions is None else 'native'}: {library.reason}"
