"""The output layer of a decoder's step, in the way that suits the number of rows."""

from pathlib import Path

import torch
from torch import Tensor, nn

from saccade.native import call, library_for
from saccade.precision import highest_outputs, linear, products_are_rounded

_SOURCE = Path(__file__).with_name("project.c")

# Measured on two cores with a vocabulary of 10,000: up to here the loop is faster than the library's product.
_FEW_ROWS = 8


def project(features: Tensor, output: nn.Linear, *, best: int | None = None) -> Tensor:
    """`output(features)` without a gradient: `[R, D]` -> `[R, V]`, perhaps laid out token by token, `[V, R]`.

    best    only so many of each row, the highest, will be looked at one by one; None: any of them may be

    A matrix product of a few dozen rows with a large matrix is up to 1.6 times as fast with the large one first.
    """
    if torch.is_grad_enabled() or features.dtype != output.weight.dtype:
        return output(features)
    if products_are_rounded():
        return linear(features, output.weight, output.bias)
    if best is not None:
        logits = highest_outputs(features, output.weight, output.bias, count=best)
        if logits is not None:
            return logits
    library = library_for(features, _SOURCE) if features.dtype == torch.float32 else None
    if len(features) <= _FEW_ROWS and library is not None:
        logits = features.new_empty(len(features), output.out_features)
        call(library.project, (features, output.weight, output.bias, logits), *features.shape, output.out_features)
        return logits
    if output.bias is None:
        return torch.mm(output.weight, features.t()).t()
    return torch.addmm(output.bias[:, None], output.weight, features.t()).t()
