"""What stands in padding does not matter, whatever it is: neither to what comes out, nor to any gradient.

The fused path promises that for a mask that was given to `remember`, and for no other.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from saccade.attention import (
    SCORES,
    WEIGHTINGS,
    Additive,
    Attention,
    AttentionOutput,
    General,
    MultiHead,
    attend,
    attention_path,
    causal_mask,
    padding_mask,
    recall,
    remember,
)
from tests.attention.helpers import DIM, KEYS, VALUE_DIM, score_named, tensors, weighting_named

LENGTHS = torch.tensor([3, 5])
OF_KEYS = padding_mask(LENGTHS)
OF_QUERIES = OF_KEYS & (torch.arange(KEYS) != torch.tensor([1, 2, 0])[:, None])  # [B, T, S]: no row is like another
PADDING = slice(3, None)  # of the first sequence

# What may be left in memory: the largest that a dtype holds, and what is no number at all.
LEFT_OVERS = {torch.float16: (6e4, math.inf, math.nan), torch.float32: (3e38, -math.inf, math.nan)}

mechanisms = pytest.mark.parametrize(
    ("score_name", "weighting_name"), [(score, weighting) for score in SCORES for weighting in WEIGHTINGS]
)


def with_left_over(tensor: Tensor, left_over: float) -> Tensor:
    filled = tensor.detach().clone()
    filled[0, PADDING] = left_over
    return filled.requires_grad_()


def gradients(output: AttentionOutput, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
    return torch.autograd.grad(output.context.float().square().sum(), inputs, allow_unused=True, materialize_grads=True)


def results(
    output: AttentionOutput, query: Tensor, key: Tensor, value: Tensor, parameters: Sequence[Tensor]
) -> list[Tensor]:
    """All numbers that come out, and all that come back."""
    weights = [] if output.weights is None else [output.weights]
    return [output.context, *weights, *gradients(output, [query, key, value, *parameters])]


@mechanisms
@pytest.mark.parametrize("dtype", LEFT_OVERS, ids=str)
def test_in_any_mechanism(score_name: str, weighting_name: str, dtype: torch.dtype) -> None:
    score, weighting = score_named(score_name, dtype=dtype), weighting_named(weighting_name, dtype=dtype)
    weighting.train(weighting_name not in {"hard", "straight-through"})  # whose draws would differ
    query, key, value = tensors(dtype=dtype, grad=True)
    parameters = [*score.parameters(), *weighting.parameters()]
    for mask in (OF_KEYS, OF_QUERIES):
        for need_weights in (True, False):
            how: dict[str, Any] = {"score": score, "weighting": weighting, "need_weights": need_weights}
            fused = attention_path(score, weighting, shape=OF_QUERIES.shape, need_weights=need_weights) == "fused"

            def look(
                key: Tensor,
                value: Tensor,
                mask: Tensor = mask,
                how: dict[str, Any] = how,
                fused: bool = fused,  # noqa: FBT001
            ) -> list[Tensor]:
                if fused:
                    output = recall(query, remember(key, value, score=score, mask=OF_KEYS), mask=mask, **how)
                else:
                    output = attend(query, key, value, mask=mask, **how)
                return results(output, query, key, value, parameters)

            wanted = look(with_left_over(key, 0.0), with_left_over(value, 0.0))
            assert all(one.isfinite().all() for one in wanted)
            for left_over in LEFT_OVERS[dtype]:
                for found in (
                    look(with_left_over(key, left_over), with_left_over(value, 0.0)),
                    look(with_left_over(key, 0.0), with_left_over(value, left_over)),
                ):
                    torch.testing.assert_close(found, wanted, rtol=0, atol=0)


@mechanisms
@pytest.mark.parametrize("dtype", LEFT_OVERS, ids=str)
def test_of_what_only_some_queries_may_not_see(score_name: str, weighting_name: str, dtype: torch.dtype) -> None:
    """Here the value stays as large as it is: its weight is 0, and what would come to that weight is infinite."""
    score, weighting = score_named(score_name, dtype=dtype), weighting_named(weighting_name, dtype=dtype).train()
    query, key, value = tensors(dtype=dtype, grad=True)
    memory = remember(key, with_left_over(value, LEFT_OVERS[dtype][0]), score=score)
    output = recall(query, memory, score=score, weighting=weighting, mask=OF_QUERIES, need_weights=True)
    assert output.context.isfinite().all()
    inputs = [query, key, *score.parameters(), *weighting.parameters()]
    assert all(gradient.isfinite().all() for gradient in gradients(output, inputs))


LAYERS: dict[str, Callable[[], Attention | MultiHead]] = {
    "one": lambda: Attention(General(DIM, DIM), key_projection=nn.Linear(DIM, DIM)),
    "additive": lambda: Attention(Additive(DIM, DIM)),
    "heads": lambda: MultiHead(DIM, 1, value_dim=VALUE_DIM),
    "additive heads": lambda: MultiHead(DIM, 1, value_dim=VALUE_DIM, score=Additive(DIM, DIM)),
}


@pytest.mark.parametrize("left_over", [3e38, math.inf, math.nan], ids=str)
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *itertools.product(LAYERS, ["keys", "queries", "remembered"]),
        *itertools.product(["heads", "additive heads"], ["heads"]),
    ],
)
def test_in_layers_whose_projections_could_go_beyond_all_numbers(name: str, kind: str, left_over: float) -> None:
    layer, (query, key, value) = LAYERS[name](), tensors(grad=True)
    mask = {"keys": OF_KEYS, "queries": OF_QUERIES, "heads": OF_QUERIES[:, None], "remembered": OF_KEYS}[kind]

    def look(left_over: float, *, need_weights: bool) -> list[Tensor]:
        keys, values = with_left_over(key, left_over), with_left_over(value, left_over)
        if kind == "remembered":
            output = layer.recall(query, layer.remember(keys, values, mask=mask), need_weights=need_weights)
        else:
            output = layer(query, keys, values, mask=mask, need_weights=need_weights)
        return results(output, query, keys, values, list(layer.parameters()))

    for need_weights in (True, False) if kind == "remembered" or "additive" in name else (True,):
        found, wanted = (look(content, need_weights=need_weights) for content in (left_over, 0.0))
        torch.testing.assert_close(found, wanted, rtol=0, atol=0)


def test_in_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that some queries may see and others not, which no gradient of those may feel."""
    score, (query, key, value) = score_named("additive"), tensors(grad=True)
    values = with_left_over(value, 3e38)
    mask = OF_QUERIES.clone()
    mask[0, 1, 3:] = True  # one that sees them
    plain, tiled = [], []
    for found, tile in ((plain, 1 << 20), (tiled, 8)):
        monkeypatch.setattr("saccade.attention.functional.TILE", tile)
        output = attend(query, key, values, score=score, mask=mask)
        others = output.context[:, [0, 2]].sum()
        found += [others, *torch.autograd.grad(others, [query, key, *score.parameters()])]
    assert all(one.isfinite().all() for one in plain)
    torch.testing.assert_close(tiled, plain)


def test_a_causal_mask_on_top_changes_nothing() -> None:
    """The usual mask of a language model: padded, and causal."""
    x = torch.randn(2, KEYS, DIM)
    left, mask = with_left_over(x, math.nan), OF_KEYS & causal_mask(KEYS)
    query = x.clone().requires_grad_()
    layer, clean = MultiHead(DIM, 1), with_left_over(x, 0.0)
    found = results(layer(query, left, mask=mask, need_weights=True), query, left, left, [])
    wanted = results(layer(query, clean, mask=mask, need_weights=True), query, clean, clean, [])
    torch.testing.assert_close(found, wanted, rtol=0, atol=0)
