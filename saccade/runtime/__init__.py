"""All that is about speed on a processor: C kernels, quantized products, precision, memory, threads.

Nothing here knows what attention or a model is. The names below are loaded when they are first asked for: `threads` has
to come before torch, and lies in this room.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from saccade.runtime.kernel_conditions import torch_only

_WHERE = {"torch_only": "saccade.runtime.kernel_conditions"}

__all__ = ["torch_only"]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_WHERE[name]), name)
