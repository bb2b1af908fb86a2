"""Attention maps of any torch module: what `nn.MultiheadAttention` and torch's fused attention weighed within it.

Letters: `B` batch, `H` heads, `T` queries, `S` keys, `D` size of a head.
"""

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from saccade.base.errors import InputError
from saccade.look.maps import MOST_CELLS, AttentionMap, Grid, Kind

_FUSED = F.scaled_dot_product_attention
_MULTI_HEAD = F.multi_head_attention_forward
_CROSS = ("cross", "multihead_attn", "encoder_attn", "encoder_decoder")  # in names of modules that look elsewhere


class Call(NamedTuple):
    """One attention that was computed."""

    name: str  # of the module in which it was
    weights: Tensor  # [H, T, S]


def from_module(
    module: nn.Module,
    inputs: Sequence[Any] | Mapping[str, Any],
    *,
    source: Sequence[str] | Grid | None = None,
    target: Sequence[str] | None = None,
    item: int = 0,
) -> list[AttentionMap]:
    """Run the module once, and give the maps of each attention that it computes, layers of one kind in one map.

    inputs  what the module is called with: positional arguments, or arguments by name
    source  the labels of keys (and of queries that are as many): words, or the grid of an image
    target  the labels of queries that are others
    item    of the batch, the one that is shown

    Seen is what goes through `nn.MultiheadAttention` or `F.scaled_dot_product_attention`; weights are computed from
    what goes in there, and the module's own output is what it would be anyway. torch's fast path through whole
    `nn.TransformerEncoderLayer`s, which computes no weights, is not taken meanwhile.
    """
    capture = Capture(item)
    named = inputs if isinstance(inputs, Mapping) else {}
    with torch.no_grad(), _names_of(module, capture), capture:
        module(*(() if named else inputs), **named)
    if not capture.calls:
        raise InputError(
            "module: found no attention in it; only nn.MultiheadAttention and F.scaled_dot_product_attention are seen."
            " Of others, hand over the weights: AttentionMap(rows, columns, weights)"
        )
    return [_as_map(name, kind, layers, source, target) for (name, kind), layers in _grouped(capture.calls).items()]


class Capture(TorchFunctionMode):
    """While it is entered, the weights of each attention are computed beside what the caller wants, and kept."""

    def __init__(self, item: int) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self.path: list[str] = []  # of the modules that are being run
        self._item, self._cells = item, 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is _FUSED:
            self._keep(func, fused_weights, args, kwargs)
        elif func is _MULTI_HEAD:
            self._keep(func, _multi_head_weights, args, kwargs)
        return func(*args, **kwargs)

    def _keep(self, func: Any, weigh: Callable[..., Tensor], args: Any, kwargs: Any) -> None:
        query, key = (args[index] if len(args) > index else kwargs[name] for index, name in enumerate(("query", "key")))
        if func is _MULTI_HEAD:  # [T, B, H D] or [T, H D]
            queries, keys = query.shape[0], key.shape[0]
            heads = args[4] if len(args) > 4 else kwargs["num_heads"]
            rows = heads * query.shape[:-1].numel()
        else:  # [B, H, T, D], or any other number of axes before the last two
            queries, keys = query.shape[-2], key.shape[-2]
            rows = query.shape[:-1].numel()
        self._cells += rows * keys
        if self._cells > MOST_CELLS:
            raise InputError(
                f"module: more than {MOST_CELLS:,} weights, with {queries:,} queries and {keys:,} keys; give it shorter"
                " inputs, fewer at a time"
            )
        weights = weigh(*args, **kwargs)  # [B, H, T, S], or some of the first two axes
        batched = weights.reshape(-1, *(1,) * (3 - weights.dim()), *weights.shape[-3:])
        if not -len(batched) <= self._item < len(batched):
            raise InputError(f"item: found {self._item}, wanted less than {len(batched)}, which the batch has")
        self.calls.append(Call(self.path[-1] if self.path else "", batched[self._item].float().cpu()))


def fused_weights(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,  # noqa: FBT001, FBT002 - torch's own signature
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: FBT001, FBT002
) -> Tensor:
    """The weights `[..., H, T, S]` that `F.scaled_dot_product_attention` has for the same arguments, before dropout."""
    if enable_gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], dim=-3)
    scores = query.float() @ key.float().mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        scores = scores.masked_fill(~scores.new_ones(scores.shape[-2:], dtype=torch.bool).tril(), -torch.inf)
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = scores.masked_fill(~attn_mask, -torch.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    return scores.softmax(-1).nan_to_num(0.0)  # a row that may look nowhere looks nowhere


def _multi_head_weights(*args: Any, **kwargs: Any) -> Tensor:
    """The same for `nn.MultiheadAttention`, which can give its weights by itself."""
    call = inspect.signature(_MULTI_HEAD).bind(*args, **kwargs)
    call.arguments |= {"training": False, "need_weights": True, "average_attn_weights": False}
    weights = _MULTI_HEAD(*call.args, **call.kwargs)[1]
    assert weights is not None
    return weights.nan_to_num(0.0)


@contextmanager
def _names_of(module: nn.Module, capture: Capture) -> Iterator[None]:
    """While it is run, the capture knows within which module."""
    hooks: list[Any] = []
    for name, part in module.named_modules():

        def enter(_: nn.Module, args: Any, name: str = name) -> None:
            capture.path.append(name)

        def leave(*_: Any) -> None:
            capture.path.pop()

        hooks += [part.register_forward_pre_hook(enter), part.register_forward_hook(leave, always_call=True)]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _grouped(calls: Sequence[Call]) -> dict[tuple[str, Kind], list[Tensor]]:
    """The weights of layers that can be one map: of one kind and one shape, by the name of the first."""
    found: dict[tuple[Any, ...], list[Call]] = {}
    for call in calls:
        found.setdefault((_kind(call), *call.weights.shape), []).append(call)
    return {(group[0].name, key[0]): [call.weights for call in group] for key, group in found.items()}


def _kind(call: Call) -> Kind:
    _, rows, columns = call.weights.shape
    if rows != columns or any(part in call.name.lower() for part in _CROSS):
        return "cross"
    is_causal = rows > 1 and not bool(call.weights.triu(1).any())
    return "decoder" if is_causal else "encoder"


def _as_map(
    name: str,
    kind: Kind,
    layers: Sequence[Tensor],
    source: Sequence[str] | Grid | None,
    target: Sequence[str] | None,
) -> AttentionMap:
    _, rows, columns = layers[0].shape
    looked_at = _labels(columns, source if kind != "decoder" or target is None else target, target)
    looks = _labels(rows, target if kind != "encoder" else source, source)
    return AttentionMap(
        looks.labels() if isinstance(looks, Grid) else looks, looked_at, torch.stack(list(layers)).numpy(), kind, name
    )


def _labels(count: int, *choices: Sequence[str] | Grid | None) -> Sequence[str] | Grid:
    """The first labels of which there are so many, or numbers from 1."""
    for labels in choices:
        if labels is not None and count == (labels.height * labels.width if isinstance(labels, Grid) else len(labels)):
            return labels
    return [str(number) for number in range(1, count + 1)]
