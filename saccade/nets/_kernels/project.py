"""The output layer of a decoder's step."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from saccade.runtime.kernel_conditions import is_bare, is_eager, is_plain
from saccade.runtime.linear import highest_outputs, is_quantized, linear
from saccade.text import END

_MAX_UNTRANSPOSED_ROWS = 16


def project(features: Tensor, output: nn.Linear, *, best: int | None = None) -> Tensor:
    """`output(features)` without a gradient: `[R, D]` -> `[R, V]`, perhaps laid out token by token, `[V, R]`.

    best    only so many of each row, the highest, will be looked at one by one, and END; None: any of them may be

    A matrix product of a few dozen rows with a large matrix is up to 1.6 times as fast with the large one first; one
    of up to 16 rows is as fast or faster the usual way.
    """
    if torch.is_grad_enabled() or not is_eager() or not is_bare(output, nn.Linear):
        return output(features)
    weight, bias = output.weight, output.bias
    if features.dtype != weight.dtype or not is_plain(features) or not is_plain(weight):
        return output(features)
    if is_quantized():
        return linear(features, weight, bias)
    logits = None if best is None else highest_outputs(features, weight, bias, count=best, always=END + 1)
    if logits is not None:
        return logits
    if len(features) <= _MAX_UNTRANSPOSED_ROWS:
        return F.linear(features, weight, bias)
    transposed = features.t()
    return (torch.mm(weight, transposed) if bias is None else torch.addmm(bias[:, None], weight, transposed)).t()
