"""Monotonic attention: a head that only moves forward."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from saccade.attention._past import pad_past
from saccade.attention.weightings.weighting import Weighting, WeightingOutput


class Monotonic(Weighting):
    """From the key where the last query stopped, go on key by key, and stop at each with probability `p` (Raffel 2017).

    p[t, s] = sigmoid(e[t, s] + bias + noise)
    a[t, s] = p[t, s] · m[t, s],    m[t, s] = (1 - p[t, s-1]) m[t, s-1] + a[t-1, s],    a[-1] = (1, 0, 0, ...)

    `m` is the probability that the walk comes by. In training `a` is this expectation, with Gaussian `noise` of the
    given size to make `p` choose sides; at inference the same recursion runs with `p` rounded to 0 or 1, and one key is
    chosen. A walk that reaches the end has nothing more to look at: its weights are 0 from there on, and in training
    the weights sum to less than one by the probability of that.

    `bias` is learned; below 0 it lets the walk begin slowly. The state is the last weights, `[B, S]`. A query that may
    look nowhere gets zeros, and the walk waits.
    """

    def __init__(self, *, bias: float = -1.0, noise: float = 1.0) -> None:
        super().__init__()
        if noise < 0:
            raise ValueError(f"noise: found {noise}, wanted 0 or more")
        self.bias = nn.Parameter(torch.tensor(float(bias)))
        self.noise = noise

    def extra_repr(self) -> str:
        return f"noise={self.noise}"

    @property
    def sums_to_one(self) -> bool:
        return False

    @property
    def order_matters(self) -> bool:
        return True

    def forward(
        self, scores: Tensor, *, mask: Tensor | None, query: Tensor, state: Tensor | None = None
    ) -> WeightingOutput:
        logits = scores + self.bias
        if self.training:
            if self.noise:
                logits = logits + self.noise * torch.randn_like(logits)
            stop, go = logits.sigmoid(), (-logits).sigmoid()  # 1 - sigmoid(x), without its rounding
        else:
            stop = (logits > 0).to(scores.dtype)
            go = 1 - stop
        if mask is not None:
            hidden = ~mask
            stop, go = stop.masked_fill(hidden, 0.0), go.masked_fill(hidden, 1.0)  # the walk passes by what is hidden

        last = _at_first_key(scores) if state is None else pad_past(state, scores.shape[-1], batch=scores.dim() - 2)
        sees = None if mask is None else mask.any(-1, keepdim=True).expand(*scores.shape[:-1], 1).unbind(-2)
        rows: list[Tensor] = []
        for t, (stop_here, go_on) in enumerate(zip(stop.unbind(-2), go.unbind(-2), strict=True)):
            row = stop_here * walk(go_on, last)
            last = row if sees is None else torch.where(sees[t], row, last)  # a blind query leaves no trace
            rows.append(row)
        weights = torch.stack(rows, dim=-2)
        # zero there already; this keeps gradients out, which may be infinite
        return WeightingOutput(weights if mask is None else weights.masked_fill(~mask, 0.0), last)


def walk(go: Tensor, start: Tensor) -> Tensor:
    """`m[s] = go[s-1] m[s-1] + start[s]` over the last dimension, in `log2 S` steps and without a division.

    Each step doubles how far back a sum reaches: `m[s]` over the last `2n` keys is `m[s]` over the last `n` keys plus
    what comes on from `m[s-n]`. Raffel's form with a cumulative product divides by it, and fails where that is 0.
    """
    passed = torch.cat((torch.zeros_like(go[..., :1]), go[..., :-1]), dim=-1)  # into s from s - 1
    reached, reach = start, 1
    while reach < go.shape[-1]:
        reached = reached + _delayed(reached, reach) * passed
        passed = passed * _delayed(passed, reach)
        reach *= 2
    return reached


def _delayed(x: Tensor, steps: int) -> Tensor:
    """`x[s - steps]`, zero before the beginning."""
    return F.pad(x, (steps, 0))[..., : x.shape[-1]]


def _at_first_key(scores: Tensor) -> Tensor:
    """The walk's beginning, (1, 0, 0, ...): `[B, S]`."""
    first = scores.new_zeros(*scores.shape[:-2], scores.shape[-1])
    first[..., 0] = 1.0
    return first
