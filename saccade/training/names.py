"""Parameters by patterns of their names, as `train.freeze` and `train.lora.targets` have them."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from torch import nn

from saccade.base.errors import InputError

_MOST_SHOWN = 8


def matching(patterns: Sequence[str], net: nn.Module, *, setting: str) -> list[nn.Parameter]:
    """The parameters that any of the patterns means, in their order; each pattern has to mean at least one.

    In a pattern, `*` stands for anything, dots as well. It means a parameter by its whole name, or by that of a part
    that it is in: `encoder`, `encoder.*` and `*.bias` all do. One that is shared goes by any of its names.
    """
    named = list(net.named_parameters(remove_duplicate=False))
    found: set[int] = set()
    for pattern in patterns:
        meant = {id(parameter) for name, parameter in named if means(pattern, name)}
        if not meant:
            raise InputError(
                f"{setting}: nothing is called {pattern}; there is {some_names(name for name, _ in named)}"
            )
        found |= meant
    return [parameter for parameter in net.parameters() if id(parameter) in found]


def means(pattern: str, name: str) -> bool:
    """Whether a pattern means the parameter of that name."""
    parts = name.split(".")
    return any(fnmatchcase(".".join(parts[:count]), pattern) for count in range(1, len(parts) + 1))


def some_names(names: Iterable[str]) -> str:
    """A few of the names, with `*` for the numbers of layers."""
    found = list(dict.fromkeys(re.sub(r"(?<=\.)\d+(?=\.|$)", "*", name) for name in names))
    more = len(found) - _MOST_SHOWN
    return ", ".join(found[:_MOST_SHOWN]) + (f", and {more} more" if more > 0 else "")
