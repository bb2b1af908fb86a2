"""The cross-entropy of a projection, without the `[tokens, vocabulary]` tensor of its logits.

    logits = features Wᵀ + b,    loss_n = log Σ_v e^logits[n, v] - (1 - ε) logits[n, target_n] - ε mean_v logits[n, v]

with label smoothing ε (Szegedy 2016). The gradient of the sum of the losses is known as soon as they are:

    ∂/∂logits[n, v] = softmax(logits[n])_v - (1 - ε) [v = target_n] - ε / V

so a few hundred tokens go through it at a time: their logits turn into that gradient in place, while they are in the
cache, and are used up for the gradients of features, W and b at once. What stays for the backward pass has the size of
features and W. Tokens whose target is to be ignored cost nothing. A second derivative is refused.

The part of ε is the same for all logits, and so needs none of them: mean_v logits[n, v] is the product with the mean
of W's rows, and what ε / V adds to a gradient is a sum over all tokens, or over all of W.

Letters: `N` tokens, `D` dim, `V` vocabulary.
"""

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function

from saccade.runtime.bfloat16 import trains_in_bfloat16
from saccade.runtime.kernel_conditions import is_eager, is_plain
from saccade.runtime.operators import expect, first_order_only

# Logits that are worked on at a time: large enough for fast products, small enough for a processor's cache (20 MB).
_CHUNK = 5 << 20


class Losses(NamedTuple):
    """The losses of tokens."""

    total: Tensor  # their sum, with its gradient
    each: Tensor  # [N], without one; 0 for ignored tokens


def projected_cross_entropy(
    features: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor, *, smoothing: float = 0.0, ignore: int
) -> Losses:
    """The losses of features `[N, D]` under the projection `[V, D]`, `[V]`, for the targets `[N]`."""
    tensors = [features, weight] if bias is None else [features, weight, bias]
    if not (is_eager() and all(map(is_plain, (*tensors, target))) and len({one.dtype for one in tensors}) == 1):
        return plain_projected_cross_entropy(features, weight, bias, target, smoothing=smoothing, ignore=ignore)
    _expect_shapes(features, weight, bias, target)
    expect(0 <= smoothing <= 1, f"smoothing: found {smoothing}, wanted 0 to 1")
    product_dtype = torch.bfloat16 if trains_in_bfloat16() else weight.dtype
    return Losses(
        *_ProjectedCrossEntropy.apply(features, weight, bias, target.long(), smoothing, ignore, product_dtype)
    )


def plain_projected_cross_entropy(
    features: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor, *, smoothing: float = 0.0, ignore: int
) -> Losses:
    """The same, by torch's own loss of all logits: what the fast path is held to."""
    logits = F.linear(features, weight, bias)
    losses = F.cross_entropy(logits, target.long(), ignore_index=ignore, label_smoothing=smoothing, reduction="none")
    return Losses(losses.sum(), losses.detach())


def _expect_shapes(features: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor) -> None:
    expect(features.dim() == 2, f"features: found shape {list(features.shape)}, wanted [tokens, dim]")
    tokens, dim = features.shape
    expect(
        weight.dim() == 2 and weight.shape[1] == dim and len(weight) > 0,
        f"weight: found shape {list(weight.shape)}, wanted [vocabulary, {dim}]",
    )
    expect(bias is None or tuple(bias.shape) == (len(weight),), f"bias: wanted shape [{len(weight)}]")
    whole = not (target.is_floating_point() or target.dtype == torch.bool)
    expect(
        whole and tuple(target.shape) == (tokens,),
        f"target: found shape {list(target.shape)} of {target.dtype}, wanted [{tokens}] of whole numbers",
    )


def _expect_in_vocabulary(target: Tensor, vocabulary: int) -> None:
    if target.numel():
        lowest, highest = (int(number) for number in target.aminmax())
        expect(
            lowest >= 0 and highest < vocabulary,
            f"target: found {lowest if lowest < 0 else highest}, wanted 0 to {vocabulary - 1}, or what is ignored",
        )


class _ProjectedCrossEntropy(Function):
    @staticmethod
    def forward(
        ctx: Any,
        features: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        target: Tensor,
        smoothing: float,
        ignore: int,
        product_dtype: torch.dtype,
    ) -> tuple[Tensor, Tensor]:
        wanted = any(ctx.needs_input_grad)
        real = (target != ignore).nonzero().flatten()  # [n]
        chosen, targets = features.index_select(0, real), target.index_select(0, real)
        _expect_in_vocabulary(targets, len(weight))
        grad_features = torch.empty_like(chosen) if wanted else None
        grad_weight = torch.zeros_like(weight) if wanted else None
        grad_bias = torch.zeros_like(bias) if wanted and bias is not None else None
        # The factors as they are multiplied; the same tensors unless they are to be coarser.
        rows_in, weight_in = chosen.to(product_dtype), weight.to(product_dtype)
        bias_in = None if bias is None else bias.to(product_dtype)
        losses: list[Tensor] = []
        rows = max(1, _CHUNK // len(weight))
        for first in range(0, len(chosen), rows):
            part = slice(first, first + rows)
            logits = F.linear(rows_in[part], weight_in, bias_in).to(features.dtype)
            losses.append(losses_and_gradient(logits, targets[part], smoothing))
            if grad_bias is not None:
                grad_bias.add_(logits.sum(0))
            if grad_features is not None and grad_weight is not None:
                grad_logits = logits.to(product_dtype)
                grad_features[part] = grad_logits @ weight_in
                if product_dtype == weight.dtype:
                    grad_weight.addmm_(grad_logits.t(), rows_in[part])
                else:  # sums stay exact
                    grad_weight.add_(grad_logits.t() @ rows_in[part])
        each = features.new_zeros(len(features))
        if losses:
            total = torch.cat(losses)
            if smoothing:
                uniform = smoothing / len(weight)
                sum_of_weights = weight_in.sum(0, dtype=features.dtype)  # [D]
                total -= uniform * (rows_in.to(features.dtype) @ sum_of_weights)
                total -= 0.0 if bias is None else uniform * bias.sum()
                if grad_features is not None and grad_weight is not None:
                    grad_features -= uniform * sum_of_weights
                    grad_weight -= uniform * rows_in.sum(0, dtype=features.dtype)
                if grad_bias is not None:
                    grad_bias -= uniform * len(chosen)
            each.index_copy_(0, real, total)
        if grad_features is not None:
            grad_features = torch.zeros_like(features).index_copy_(0, real, grad_features)
        ctx.save_for_backward(grad_features, grad_weight, grad_bias, features, weight, bias)
        ctx.mark_non_differentiable(each)
        return each.sum(), each

    @staticmethod
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        *gradients, features, weight, bias = ctx.saved_tensors
        with torch.no_grad():
            scaled = [None if part is None else part * grad for part in gradients]
        return (
            *first_order_only("projected_cross_entropy", scaled, features, weight, bias, grad),
            None,
            None,
            None,
            None,
        )


def losses_and_gradient(logits: Tensor, target: Tensor, smoothing: float) -> Tensor:
    """Of logits `[n, V]`, all but the part of ε / V: of the losses, `[n]`, and of their gradient, to which they change.

    By torch's softmax, which takes a row in one go, and from which log Σ e^logits follows: the likeliest has a
    probability that is never 0. `logsumexp` takes twice as long as all of this.
    """
    at_target = target[:, None]
    wanted, highest = logits.gather(1, at_target)[:, 0], logits.amax(-1)
    torch.softmax(logits, -1, out=logits)
    lead = highest - wanted  # first, so that what all logits have in common costs no digits
    log_of_highest = logits.amax(-1).log()
    logits.scatter_add_(1, at_target, logits.new_full(at_target.shape, smoothing - 1))
    return lead - log_of_highest + smoothing * wanted
