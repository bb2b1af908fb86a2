"""Memory with nothing beside it: who touches the byte before the first or after the last ends the process.

A sanitizer does not see what vector instructions do that are written as such (`quantized.c`); the processor does.
"""

import ctypes
import mmap
import os
from typing import Any

import torch
from torch import Tensor

from saccade.runtime import native

_PAGE = mmap.PAGESIZE
_NOBODY = 0  # PROT_NONE
_calls = 0


def call_fenced(function: Any, tensors: tuple[Tensor | None, ...], *numbers: float) -> None:
    """`saccade.runtime.native.call` with copies of the tensors, by turns with a fence before and behind each."""
    global _calls  # noqa: PLW0603 - whose turn it is
    _calls += 1
    if os.name != "posix":
        native.call(function, tensors, *numbers)
        return
    copies = [one if one is None or not one.numel() else _fenced(one, behind=_calls % 2 == 0) for one in tensors]
    native.call(function, tuple(copies), *numbers)
    for one, copy in zip(tensors, copies, strict=True):
        if one is not None and copy is not None and copy is not one:
            one.copy_(copy)


def _fenced(tensor: Tensor, *, behind: bool) -> Tensor:
    if not tensor.is_contiguous():
        return tensor  # which the call refuses
    size = tensor.numel() * tensor.element_size()
    pages = -(-size // _PAGE)
    memory = mmap.mmap(-1, (pages + 2) * _PAGE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for page in (0, pages + 1):
        failed = _protect(ctypes.c_void_p(address + page * _PAGE), ctypes.c_size_t(_PAGE), _NOBODY)
        assert not failed
    first = (pages + 1) * _PAGE - size if behind else _PAGE
    numbers = torch.frombuffer(memory, dtype=tensor.dtype, count=tensor.numel(), offset=first)
    return numbers.view(tensor.shape).copy_(tensor.detach())


def _protect(address: ctypes.c_void_p, size: ctypes.c_size_t, access: int) -> int:
    return ctypes.CDLL(None).mprotect(address, size, access)
