"""What is derived from weights for running a net: packed, quantized, gathered. Made once, and used by many threads.

    prepared = PreparedCache()
    with prepared.of(net, "int8").use():
        ...  # searches, one after the other or at the same time

Nobody can see all that changes a weight: a fused optimizer leaves no trace in it. So what is derived is kept from call
to call while no weight asks for a gradient, as `saccade.load` leaves them, and made anew for each call where one does,
and after any optimizer's step. Weights that were copied into, hooks and parts that were replaced are noticed as well.
"""

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, TypeVar, get_args

import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook

from saccade.runtime.kernel_conditions import is_eager
from saccade.runtime.modules import all_modules

Precision = Literal["float32", "int8", "exact"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)

T = TypeVar("T")

_Stamp = list[int]


class Prepared:
    """What is derived from weights for one precision. They must not change while it is used."""

    def __init__(self, precision: Precision) -> None:
        self.precision: Precision = precision
        self._made: dict[Hashable, Any] = {}
        self._rows: Counter[Hashable] = Counter()
        self._lock = threading.RLock()

    @contextmanager
    def use(self) -> Iterator[None]:
        """Let nets that run within find what is prepared, and prepare what is not."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gave when something was first asked for under this key."""
        if key not in self._made:
            with self._lock:
                if key not in self._made:
                    self._made[key] = make()
        return self._made[key]

    def rows_so_far(self, key: Hashable, rows: int) -> int:
        """How many rows have been asked of a weight, with these."""
        self._rows[key] += rows
        return self._rows[key]

    def __len__(self) -> int:
        return len(self._made)


class PreparedCache:
    """What was derived from a net, in each precision that was asked for."""

    def __init__(self) -> None:
        self._stamp: _Stamp = []
        self._by_precision: dict[Precision, Prepared] = {}
        self._lock = threading.Lock()

    def of(self, net: nn.Module, precision: Precision) -> Prepared:
        """What there is by now; nothing yet, if the net is learning, has changed, or is another one."""
        stamp = _stamp(net)
        if stamp is None:
            return Prepared(precision)
        with self._lock:
            if stamp != self._stamp:
                self._stamp, self._by_precision = stamp, {}
            return self._by_precision.setdefault(precision, Prepared(precision))


_steps = itertools.count(1)
_last_step = [0]  # of any optimizer


def _count_step(optimizer: torch.optim.Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    _last_step[0] = next(_steps)


register_optimizer_step_post_hook(_count_step)


def _stamp(net: nn.Module) -> _Stamp | None:
    """Numbers that change with the net, as far as that can be seen; None if a weight asks for a gradient."""
    stamp: _Stamp = [_last_step[0]]
    for module in all_modules(net):
        hooks = len(module._forward_hooks) + len(module._forward_pre_hooks)  # noqa: SLF001 - torch has no other name
        stamp += (id(module), id(type(module)), hooks)
        for weight in module._parameters.values():  # noqa: SLF001 - a fifth of the time of `parameters()`
            if weight is None:
                continue
            if weight.requires_grad:
                return None
            version = 0 if weight.is_inference() else weight._version  # noqa: SLF001 - counts what wrote into it
            stamp += (weight.data_ptr(), version)
    return stamp


_current: ContextVar[Prepared | None] = ContextVar("prepared", default=None)


@contextmanager
def running_in(precision: Precision) -> Iterator[None]:
    """Run in this precision: by what is in use already, or else by what is derived for as long as this lasts."""
    inside = _current.get()
    if inside is not None and inside.precision == precision:
        yield
        return
    with Prepared(precision).use():
        yield


def in_use() -> Prepared | None:
    """What is prepared for the net that is running, where a call computes numbers and no gradient."""
    # first what torch.compile can see through; it cannot see through a context variable
    if torch.compiler.is_compiling() or _current.get() is None or torch.is_grad_enabled() or not is_eager():
        return None
    return _current.get()


def derived(module: nn.Module, make: Callable[[], T]) -> T:
    """What `make` derives from a module: once where something is prepared, and anew for each call elsewhere."""
    prepared = in_use()
    if prepared is None:
        return make()
    return prepared.once(id(module), lambda: (module, make()))[1]  # the module stays, and so does its identity
