"""What all operators have in common: `saccade.runtime.operators.define`."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils import _pytree

from saccade.runtime.kernels import additive, best, dropout, turing_step
from saccade.runtime.native import library_for

OPERATORS = torch.ops.saccade
DEFINED_BY = additive, best, dropout, turing_step  # whose import makes them


def arguments() -> dict[str, tuple[Any, ...]]:
    """For each operator, right ones, none of them contiguous that need not be."""
    torch.manual_seed(0)
    query, key = torch.rand(2, 4, 3).transpose(1, 2), torch.rand(2, 5, 4).transpose(1, 2)
    memory, last, raw = (
        torch.randn(2, 4, 7).transpose(1, 2),
        torch.rand(2, 7, 2).transpose(1, 2),
        torch.randn(28, 2).t(),
    )
    heads = 1, 1, 3, 0.0
    weights, reads, after, saved = (
        torch.rand(2, 2, 7),
        torch.randn(2, 1, 4),
        torch.randn(2, 7, 4),
        torch.randn(2, 2, 4, 7),
    )
    return {
        "additive_scores": (query, key, torch.randn(4)),
        "additive_backward": (query, key, torch.randn(2, 5, 3).transpose(1, 2)),
        "best_tokens": (torch.randn(9, 3).t(), 2, 1),
        "drop": (torch.randn(4, 3).t(), torch.randn(4), 0.3, 1, 2),
        "turing_step": (memory, last, raw, *heads),
        "turing_backward": (memory, last, raw, weights, saved, weights, reads, after, *heads),
    }


NAMES = tuple(arguments())


def computed(name: str) -> Callable[..., Any]:
    """The operator of that name, if it can do without what is not there."""
    if name.startswith("turing") and library_for(turing_step.SOURCE, torch.empty(0)) is None:
        pytest.skip("no C loops here")
    return getattr(OPERATORS, name)


def test_these_are_all() -> None:
    assert {
        name.split("::")[1] for name in torch._C._dispatch_get_all_op_names() if name.startswith("saccade::")
    } == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_promised_is_what_comes(name: str) -> None:
    """Shapes, dtypes and strides of the fake are those of the result, which compiled code relies on."""
    given = arguments()[name]
    with FakeTensorMode() as mode:
        fake = _pytree.tree_map(lambda one: mode.from_tensor(one) if isinstance(one, Tensor) else one, given)
        promised = _pytree.tree_leaves(getattr(OPERATORS, name)(*fake))
    came = _pytree.tree_leaves(computed(name)(*given))
    for one, other in zip(promised, came, strict=True):
        assert (one.shape, one.stride(), one.dtype) == (other.shape, other.stride(), other.dtype)


@pytest.mark.parametrize("name", NAMES)
def test_one_tensor_that_is_not_there_is_refused(name: str) -> None:
    """torch asks the fake then, and what that gives are no numbers, on the CPU or not."""
    given = arguments()[name]
    indices = [index for index, one in enumerate(given) if isinstance(one, Tensor)]
    for index in indices if len(indices) > 1 else ():
        mixed = tuple(one.to("meta") if number == index else one for number, one in enumerate(given))
        with pytest.raises(
            ValueError, match=rf"{name}: found tensors on cpu and meta, wanted all of them on one device"
        ):
            getattr(OPERATORS, name)(*mixed)
    away = tuple(one.to("meta") if isinstance(one, Tensor) else one for one in given)
    assert all(one.is_meta for one in _pytree.tree_leaves(getattr(OPERATORS, name)(*away)))


@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("name", NAMES)
def test_mapped_over_any_number_of_rows(name: str, rows: int) -> None:
    """Of no rows, too, there is a shape."""
    given = arguments()[name]
    operator = computed(name)
    wanted = _pytree.tree_leaves(operator(*given))
    dims = tuple(1 if isinstance(one, Tensor) else None for one in given)
    batch = tuple(
        one if dim is None else torch.stack([one] * 3, 1)[:, :rows] for one, dim in zip(given, dims, strict=True)
    )
    for one, other in zip(_pytree.tree_leaves(torch.vmap(operator, in_dims=dims)(*batch)), wanted, strict=True):
        torch.testing.assert_close(one, other.expand(rows, *other.shape))
