"""What the steps and native loops of a Transformer know of its layers: weights, and whether these tell it all.

Letters: `L` layers, `D` dim, `R` rows.
"""

import ctypes
from collections.abc import Iterable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from saccade.attention import Dot, MultiHead, ScaledDot, Soft
from saccade.nets._kernels.layers import addresses_of
from saccade.nets.dropout import Dropout
from saccade.runtime.kernel_conditions import is_bare, is_eager, is_plain
from saccade.runtime.linear import linear, quantizes
from saccade.runtime.native import KERNELS, library_for

_SOURCE = KERNELS / "transformer_step.c"

# What the parts of a layer may be, for their weights to tell all that they do.
_PARTS = (MultiHead, nn.Linear, nn.LayerNorm, Dropout, nn.ReLU, nn.GELU, Dot, ScaledDot, Soft)

# Up to so many rows go through all layers in one call. With more, torch's matrix products make up for the many calls.
MAX_FUSED_ROWS = 64


def step_library(x: Tensor) -> ctypes.CDLL | None:
    """The loops of `transformer_step.c`, if they can work on such a tensor on this machine."""
    return library_for(_SOURCE, x) if x.dtype == torch.float32 else None


def fused_activation(activation: nn.Module) -> int | None:
    """The number that the loops know an activation by; None if they do not."""
    if isinstance(activation, nn.ReLU):
        return 0
    return 1 if isinstance(activation, nn.GELU) and activation.approximate == "none" else None


class LinearWeights(NamedTuple):
    """A linear map."""

    weight: Tensor  # [out, in]
    bias: Tensor  # [out]

    def __call__(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


class LayerNormWeights(NamedTuple):
    """A layer norm."""

    weight: Tensor
    bias: Tensor
    size: tuple[int, ...]
    eps: float

    def __call__(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, self.size, self.weight, self.bias, self.eps)


def fast_layer_norm(norm: nn.Module, x: Tensor) -> Tensor:
    """What a last norm gives for the rows `[R, D]` of a step.

    torch's layer norm wakes other threads for each few rows, which at a step's size takes longer than all of it.
    """
    if len(x) > MAX_FUSED_ROWS or torch.is_grad_enabled() or not is_bare(norm, nn.LayerNorm):
        return norm(x)
    assert isinstance(norm, nn.LayerNorm)
    variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    return torch.addcmul(norm.bias, (x - mean) * torch.rsqrt(variance + norm.eps), norm.weight)


class LayerWeights(NamedTuple):
    """What one decoder layer knows, in the order in which it is used."""

    self_norm: LayerNormWeights
    qkv: LinearWeights  # query, key and value of self-attention, one under the other
    self_output: LinearWeights
    cross_norm: LayerNormWeights | None  # these three where there is a source
    cross_query: LinearWeights | None
    cross_output: LinearWeights | None
    feed_forward_norm: LayerNormWeights
    inner: LinearWeights
    activation: nn.Module
    outer: LinearWeights


def stack(*linears: nn.Linear) -> LinearWeights:
    """Linear maps of one input as one map: their outputs side by side."""
    if len(linears) == 1:
        return LinearWeights(linears[0].weight.contiguous(), linears[0].bias.contiguous())
    return LinearWeights(torch.cat([one.weight for one in linears]), torch.cat([one.bias for one in linears]))


def norm_of(layer: nn.LayerNorm) -> LayerNormWeights:
    return LayerNormWeights(layer.weight.contiguous(), layer.bias.contiguous(), layer.normalized_shape, layer.eps)


def scale_for_steps(layers: Iterable[nn.Module], *frames: type[nn.Module], heads: int) -> float | None:
    """What all dot products of these layers are multiplied by, if they do nothing but what these steps compute.

    frames    the classes of the layers and of what holds their parts together

    None if one of them has another score, weighting or number of heads, or no bias; if its call does more than its
    weights say (hooks, parametrizations, adapters); if weights are of several dtypes or elsewhere; or if this is no
    time for it.
    """
    if torch.is_grad_enabled() or not is_eager():
        return None
    parts = [part for layer in layers for part in layer.modules()]
    attentions = [part for part in parts if isinstance(part, MultiHead)]
    if not all(is_bare(part, *_PARTS, *frames) for part in parts) or not all(map(_can_step, attentions)):
        return None
    if any(attention.heads != heads for attention in attentions):
        return None
    weights = [weight for part in parts for weight in part._parameters.values() if weight is not None]  # noqa: SLF001 - faster
    if len({weight.dtype for weight in weights}) != 1 or not all(map(is_plain, weights)):
        return None
    scales = {_scale(attention) for attention in attentions}
    return scales.pop() if len(scales) == 1 else None


def _scale(attention: MultiHead) -> float:
    size = attention.query_projection.out_features // attention.heads
    return size**-0.5 if isinstance(attention.score, ScaledDot) else 1.0


def _can_step(attention: MultiHead) -> bool:
    return (
        isinstance(attention.score, (Dot, ScaledDot))
        and isinstance(attention.weighting, Soft)
        and attention.rotary is None
        and attention.query_projection.bias is not None
    )


def any_quantized(layers: Iterable[Iterable[object]]) -> bool:
    """Whether products of these layers are computed in int8 now; the fused loops compute in float32 alone."""
    return any(quantizes(part.weight) for layer in layers for part in layer if isinstance(part, LinearWeights))


class StackWeights(NamedTuple):
    """What all layers know, and how they are put together."""

    layers: tuple[LayerWeights, ...]
    pre_norm: bool
    scale: float  # of the dot products
    addresses: Tensor | None  # [L, 18], where the tensors of the layers lie, for the native loop if there is one
    eps: Tensor  # [L, 3], of their norms
    fused: int | None  # the activation, if a few rows may go through all layers in one call


def gather(layers: tuple[LayerWeights, ...], *, pre_norm: bool, scale: float) -> StackWeights:
    """The weights of a stack. They must not change, nor move, while they are used."""
    addresses = addresses_of(layers)
    if len({type(layer.activation) for layer in layers}) > 1 or step_library(layers[0].qkv.weight) is None:
        addresses = None
    norms = ([layer.self_norm, layer.cross_norm, layer.feed_forward_norm] for layer in layers)
    eps = [[0.0 if norm is None else norm.eps for norm in three] for three in norms]
    fused = None if addresses is None or any_quantized(layers) else fused_activation(layers[0].activation)
    return StackWeights(layers, pre_norm, scale, addresses, torch.tensor(eps, dtype=torch.float64, device="cpu"), fused)
