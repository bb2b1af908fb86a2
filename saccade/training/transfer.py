"""Weights of one net in another: by their names, with the rows of a vocabulary that has grown."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from saccade.base.errors import InputError
from saccade.training.reporter import Reporter
from saccade.training.settings import TrainSettings

Parts = Sequence[tuple[str, str]]  # a prefix of names in the net that is started from, and what it is in the new one
_MOST_NAMED = 8


class Transfer(NamedTuple):
    """What became of the tensors of a net that was started from another, by their names."""

    taken: Sequence[str] = ()
    grown: Sequence[str] = ()  # of those that are taken: with rows that are new
    new: Sequence[str] = ()
    left: Sequence[str] = ()  # in the other net, with no place in this one


class NamedRows(NamedTuple):
    """What the rows of a tensor stand for, such as the classes of an output: in the other net, and in this one."""

    before: Sequence[str]
    now: Sequence[str]


def transfer(
    net: nn.Module,
    start: nn.Module,
    parts: Parts,
    *,
    grown: Collection[tuple[int, int]] = (),
    rows: Mapping[str, NamedRows] | None = None,
    hint: str = "",
) -> Transfer:
    """Put the tensors of `start` into `net`, and say what was taken, what is new, and what was left out.

    A tensor called `theirs + rest` goes where `ours + rest` is, for each pair (theirs, ours) of `parts`. Shapes must be
    equal, but for rows:

    grown  how many rows there were and are where a vocabulary has grown; the first are the old ones
    rows   for prefixes of names in `net`, what the rows stand for: those of a name that was there before are taken
    hint   what to say besides, where shapes differ
    """
    given = {
        ours + name.removeprefix(theirs): tensor
        for theirs, ours in parts
        for name, tensor in start.state_dict(keep_vars=True).items()
        if name.startswith(theirs)
    }
    taken: dict[str, Tensor] = {}  # by the name in `net`, what was given
    partly: list[str] = []
    new: list[str] = []
    for name, (tensor, names) in _shared(net).items():
        found = next((given[one] for one in names if one in given), None)
        places = None if found is None else _rows(name, tensor, found, grown, rows or {}, hint)
        if found is None or places is None:
            new.append(name)
            continue
        taken[name] = found
        if len(places.now) == 0:  # a whole tensor
            tensor.detach().copy_(found)
        else:
            tensor.detach().index_copy_(0, places.now, found.detach()[places.before])
            partly += [name] if len(places.now) < len(tensor) else []
    used = {id(tensor) for tensor in taken.values()}
    left = [name for name, (tensor, _) in _shared(start).items() if id(tensor) not in used]
    return Transfer(list(taken), partly, new, left)


class _Rows(NamedTuple):
    """Which rows become which; none of them for all as they are."""

    before: Tensor
    now: Tensor


def _rows(
    name: str,
    tensor: Tensor,
    found: Tensor,
    grown: Collection[tuple[int, int]],
    rows: Mapping[str, NamedRows],
    hint: str,
) -> _Rows | None:
    """The rows of `found` that go into `tensor`; None if not one of its names is still there."""
    everything = _Rows(torch.arange(0), torch.arange(0))
    named = next((one for prefix, one in rows.items() if name.startswith(prefix)), None)
    if named is not None and list(named.before) != list(named.now):
        old = {text: row for row, text in enumerate(named.before)}
        pairs = [(old[text], row) for row, text in enumerate(named.now) if text in old]
        return _Rows(*torch.tensor(pairs).unbind(1)) if pairs else None
    if tensor.shape == found.shape:
        return everything
    if tensor.dim() == found.dim() > 0 and tensor.shape[1:] == found.shape[1:] and (len(found), len(tensor)) in grown:
        first = torch.arange(len(found))
        return _Rows(first, first)
    raise InputError(f"{name} is {list(found.shape)} there and {list(tensor.shape)} here{hint}")


def _shared(net: nn.Module) -> dict[str, tuple[Tensor, list[str]]]:
    """The tensors of a net by their first names, each with all names that it has."""
    found: dict[int, tuple[Tensor, list[str]]] = {}
    for name, tensor in net.state_dict(keep_vars=True).items():
        found.setdefault(id(tensor), (tensor, []))[1].append(name)
    return {names[0]: (tensor, names) for tensor, names in found.values()}


def short_names(names: Iterable[str], net: nn.Module) -> str:
    """The names of tensors in a few words: a part of which all tensors are among them goes by its own name.

    Numbers of layers are written as `*`: `decoder.layers.*.cross_attention`.
    """
    wanted = set(names)
    others = [name for name in net.state_dict() if name not in wanted]
    found: dict[str, None] = {}
    for name in sorted(wanted):
        parts = name.split(".")
        prefixes = (".".join(parts[:count]) for count in range(1, len(parts)))
        whole = next((one for one in prefixes if not any(other.startswith(f"{one}.") for other in others)), name)
        found[re.sub(r"(?<=\.)\d+(?=\.|$)", "*", whole)] = None
    shown = list(found)[:_MOST_NAMED]
    return ", ".join(shown) + (f", and {len(found) - len(shown)} more" if len(found) > len(shown) else "")


def tell_unknown(settings: TrainSettings, reporter: Reporter, *, unknown: int, tokens: int) -> None:
    """Say how much of what is learnt from the vocabulary of another model does not know."""
    if settings.start_from is not None and unknown and not settings.grow_vocabulary:
        reporter.say(
            f"{unknown:,} of {tokens:,} tokens to learn from are not in the vocabulary of train.start_from;"
            " train.grow_vocabulary=true adds what it lacks"
        )
