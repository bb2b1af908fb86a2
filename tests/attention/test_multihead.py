"""Multi-head attention against torch's, and its cache against no cache."""

import pytest
import torch
from torch import Tensor, nn

from saccade.attention import (
    SCORES,
    WEIGHTINGS,
    AttentionOutput,
    LocalMonotonic,
    Memory,
    MultiHead,
    Rotary,
    State,
    causal_mask,
    padding_mask,
)
from tests.attention.helpers import STATELESS, score_named, weighting_named

DIM, HEADS = 12, 3
LENGTHS = torch.tensor([5, 2])


def copy_of(torch_layer: nn.MultiheadAttention) -> MultiHead:
    """A MultiHead with the weights of torch's layer."""
    layer = MultiHead(DIM, HEADS, key_dim=torch_layer.kdim, value_dim=torch_layer.vdim)
    separate = (torch_layer.q_proj_weight, torch_layer.k_proj_weight, torch_layer.v_proj_weight)
    weights = separate if torch_layer.in_proj_weight is None else torch_layer.in_proj_weight.chunk(3)
    biases = torch_layer.in_proj_bias.chunk(3)
    projections = (layer.query_projection, layer.key_projection, layer.value_projection)
    with torch.no_grad():
        for projection, weight, bias in zip(projections, weights, biases, strict=True):
            projection.weight.copy_(weight)
            projection.bias.copy_(bias)
        layer.output_projection.weight.copy_(torch_layer.out_proj.weight)
        layer.output_projection.bias.copy_(torch_layer.out_proj.bias)
    return layer


def torch_layer(*, key_dim: int | None = None, value_dim: int | None = None) -> nn.MultiheadAttention:
    layer = nn.MultiheadAttention(DIM, HEADS, batch_first=True, kdim=key_dim, vdim=value_dim)
    nn.init.normal_(layer.in_proj_bias)
    nn.init.normal_(layer.out_proj.bias)
    return layer


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("padded", [True, False])
def test_self_attention_is_torch_s(need_weights: bool, causal: bool, padded: bool) -> None:  # noqa: FBT001
    theirs = torch_layer()
    ours = copy_of(theirs)
    x = torch.randn(2, 5, DIM, requires_grad=True)
    wanted, wanted_weights = theirs(
        x,
        x,
        x,
        key_padding_mask=~padding_mask(LENGTHS)[:, 0] if padded else None,  # torch's True means "may not"
        attn_mask=~causal_mask(5) if causal else None,
        average_attn_weights=False,
    )
    found = ours(x, mask=padding_mask(LENGTHS) if padded else None, causal=causal, need_weights=need_weights)
    torch.testing.assert_close(found.context, wanted)
    if need_weights:
        torch.testing.assert_close(found.weights, wanted_weights)
    grads = [torch.autograd.grad(context.square().sum(), x)[0] for context in (found.context, wanted)]
    torch.testing.assert_close(*grads)


def test_cross_attention_with_other_sizes_is_torch_s() -> None:
    theirs = torch_layer(key_dim=7, value_dim=5)
    ours = copy_of(theirs)
    query, key, value = torch.randn(2, 4, DIM), torch.randn(2, 5, 7), torch.randn(2, 5, 5)
    wanted, wanted_weights = theirs(query, key, value, average_attn_weights=False)
    found = ours(query, key, value, need_weights=True)
    torch.testing.assert_close(found.context, wanted)
    torch.testing.assert_close(found.weights, wanted_weights)


def test_a_fully_masked_sentence_gives_the_bias_where_torch_gives_nan() -> None:
    layer = torch_layer()
    ours = copy_of(layer)
    x = torch.randn(2, 5, DIM)
    mask = padding_mask(torch.tensor([5, 0]))
    assert layer(x, x, x, key_padding_mask=~mask[:, 0])[0][1].isnan().all()
    found = ours(x, mask=mask).context[1]
    torch.testing.assert_close(found, ours.output_projection.bias.expand(5, -1))


def test_masks_of_two_three_and_four_dimensions() -> None:
    layer, x = MultiHead(DIM, HEADS), torch.randn(2, 5, DIM)
    mask = causal_mask(5)
    contexts = [layer(x, mask=mask.expand(*batch, 5, 5)).context for batch in ((), (2,), (2, 1), (2, HEADS))]
    for context in contexts[1:]:
        torch.testing.assert_close(context, contexts[0])
    per_head = torch.stack([torch.eye(5).bool(), torch.ones(5, 5).bool(), mask]).expand(2, HEADS, 5, 5)
    weights = layer(x, mask=per_head, need_weights=True).weights
    assert weights is not None
    torch.testing.assert_close(weights[:, 0], torch.eye(5).expand(2, 5, 5))
    assert (weights[~per_head] == 0).all()


@pytest.mark.parametrize("pieces", [[1, 1, 1, 1, 1], [2, 3], [4, 1], [5]], ids=str)
@pytest.mark.parametrize("score_name", STATELESS)
def test_with_a_cache_in_pieces_as_without(score_name: str, pieces: list[int]) -> None:
    layer = MultiHead(DIM, HEADS, score=score_named(score_name, dim=4), rotary=Rotary(4)).double()
    x = torch.randn(2, 5, DIM, dtype=torch.float64)
    wanted = layer(x, causal=True, need_weights=True)
    cache: Memory | None = None
    outputs: list[AttentionOutput] = []
    for piece in x.split(pieces, dim=1):
        cache = layer.remember(piece, before=cache)
        outputs.append(layer.recall(piece, cache, causal=True, need_weights=True))
    torch.testing.assert_close(torch.cat([output.context for output in outputs], dim=1), wanted.context)
    last, whole = outputs[-1].weights, wanted.weights
    assert last is not None
    assert whole is not None
    torch.testing.assert_close(last, whole[:, :, -pieces[-1] :])


@pytest.mark.parametrize("weighting_name", WEIGHTINGS)
@pytest.mark.parametrize("score_name", SCORES)
def test_every_mechanism_with_a_growing_cache(score_name: str, weighting_name: str) -> None:
    """State and cache together: what is remembered of few keys is carried on to more."""
    weighting = weighting_named(weighting_name, dim=4, dtype=torch.float64)
    layer = MultiHead(DIM, HEADS, score=score_named(score_name, dim=4), weighting=weighting).double().eval()
    x = torch.randn(2, 5, DIM, dtype=torch.float64)
    wanted = layer(x, causal=True).context
    cache: Memory | None = None
    state: State | None = None
    outputs: list[Tensor] = []
    for piece in x.split([2, 1, 2], dim=1):
        cache = layer.remember(piece, before=cache)
        output = layer.recall(piece, cache, causal=True, state=state)
        state = output.state
        outputs.append(output.context)
    torch.testing.assert_close(torch.cat(outputs, dim=1), wanted)


def test_the_cache_is_never_changed_in_place() -> None:
    layer, x = MultiHead(DIM, HEADS), torch.randn(2, 3, DIM)
    first = layer.remember(x)
    key = first.key.clone()
    layer.remember(x, before=first)
    assert first.key.shape[-2] == 3
    torch.testing.assert_close(first.key, key)


def test_a_memory_for_cross_attention_is_made_once() -> None:
    layer, query, source = MultiHead(DIM, HEADS), torch.randn(2, 4, DIM), torch.randn(2, 5, DIM)
    memory = layer.remember(source, mask=padding_mask(LENGTHS))
    steps = torch.cat([layer.recall(q, memory).context for q in query.split(1, dim=1)], dim=1)
    torch.testing.assert_close(steps, layer(query, source, mask=padding_mask(LENGTHS)).context)


def test_dropout_is_for_training_and_keeps_the_sum() -> None:
    layer, x = MultiHead(DIM, HEADS, dropout=0.5), torch.randn(2, 50, DIM)
    weights = layer.train()(x, need_weights=True).weights
    assert weights is not None
    assert 0.45 < (weights == 0).float().mean() < 0.55
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, HEADS, 50))
    first, second = layer.eval()(x), layer(x)
    torch.testing.assert_close(first.context, second.context, rtol=0, atol=0)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("score_name", ["dot", "additive", "coverage"])
def test_dropout_leaves_every_query_something_to_see(score_name: str, need_weights: bool) -> None:  # noqa: FBT001
    """Even the first of a causal row, which sees one key only, and the two keys of a narrow window."""
    weighting = LocalMonotonic(1)
    layer = MultiHead(4, 1, score=score_named(score_name, dim=4), weighting=weighting, dropout=0.9).train()
    nn.init.ones_(layer.value_projection.bias)
    nn.init.zeros_(layer.value_projection.weight)
    nn.init.eye_(layer.output_projection.weight)
    context = layer(torch.randn(20, 10, 4), causal=True, need_weights=need_weights).context
    torch.testing.assert_close(context, torch.ones_like(context))  # every value is 1, so this is the sum of weights


@pytest.mark.parametrize("need_weights", [True, False])
def test_dropout_does_not_move_a_window(need_weights: bool) -> None:  # noqa: FBT001
    layer = MultiHead(4, 1, weighting=LocalMonotonic(1), dropout=0.9).train()
    x = torch.randn(1, 50, 4, requires_grad=True)
    values = torch.eye(50)[None].requires_grad_()
    layer.value_projection = nn.Linear(50, 4)
    context = layer(x, x, values, need_weights=need_weights).context
    for t in (0, 7, 49):
        (grad,) = torch.autograd.grad(context[0, t].sum(), values, retain_graph=True)
        looked_at = grad[0].abs().sum(-1).nonzero().flatten()
        assert len(looked_at)
        assert ((looked_at - t).abs() <= 1).all()
