"""What must hold for every score with every weighting, over random shapes, masks and numbers."""

import math
from typing import NamedTuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from saccade.attention import (
    QUERY_SCORES,
    SCORES,
    WEIGHTINGS,
    Attention,
    AttentionOutput,
    LocalPredictive,
    Memory,
    MultiHead,
    Score,
    State,
    Weighting,
    WindowedSoftmax,
    attend,
    padding_mask,
    recall,
    remember,
)
from tests.attention.helpers import DIM, POSITIONS, VALUE_DIM, score_named, weighting_named

TOLERANCE = 1e-9  # everything here is float64

every_mechanism = [
    pytest.param(score, weighting, id=f"{score}-{weighting}") for score in SCORES for weighting in WEIGHTINGS
]
mechanisms = pytest.mark.parametrize(("score_name", "weighting_name"), every_mechanism)


class Scene(NamedTuple):
    """Inputs of an attention."""

    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor
    training: bool


@st.composite
def scenes(draw: st.DrawFn, *, blind_rows: bool = False) -> Scene:
    batch, queries, keys = draw(st.integers(1, 3)), draw(st.integers(1, 5)), draw(st.integers(1, POSITIONS - 4))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))

    def numbers(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    mask = torch.rand(batch, queries, keys, generator=generator) < draw(st.sampled_from([0.2, 0.6, 1.0]))
    mask[..., 0] |= ~mask.any(-1)
    if blind_rows:
        mask[draw(st.integers(0, batch - 1)), draw(st.integers(0, queries - 1))] = False
    return Scene(
        query=numbers(batch, queries, DIM),
        key=numbers(batch, keys, DIM),
        value=numbers(batch, keys, VALUE_DIM),
        mask=mask,
        training=draw(st.booleans()),
    )


def mechanism(score_name: str, weighting_name: str, *, training: bool) -> tuple[Score, Weighting]:
    """The two parts. Hard attention is set to inference, because its draws would differ from call to call."""
    torch.manual_seed(7)
    score = score_named(score_name, dtype=torch.float64)
    weighting = weighting_named(weighting_name, dtype=torch.float64)
    return score, weighting.train(training and weighting_name not in {"hard", "straight-through"})


def weights_of(output: AttentionOutput) -> Tensor:
    assert output.weights is not None
    return output.weights


def close(found: Tensor, wanted: Tensor) -> None:
    torch.testing.assert_close(found, wanted, rtol=TOLERANCE, atol=TOLERANCE)


@mechanisms
@given(scene=scenes())
def test_weights_are_shares_of_what_may_be_seen(score_name: str, weighting_name: str, scene: Scene) -> None:
    score, weighting = mechanism(score_name, weighting_name, training=scene.training)
    weights = weights_of(attend(*scene[:3], score=score, weighting=weighting, mask=scene.mask, need_weights=True))
    assert (weights >= 0).all()
    assert (weights[~scene.mask] == 0).all()
    sums = weights.sum(-1)
    visible: Tensor | None = scene.mask
    if isinstance(weighting, WindowedSoftmax):
        visible, _ = weighting.narrow(visible, shape=weights.shape, device=weights.device, state=None)
    assert visible is not None
    if weighting.sums_to_one:
        close(sums, visible.any(-1).double())
    else:
        assert (sums <= 1 + TOLERANCE).all()


@mechanisms
@given(scene=scenes(), seed=st.integers(0, 2**32))
def test_self_attention_commutes_with_permutations(
    score_name: str, weighting_name: str, scene: Scene, seed: int
) -> None:
    score, weighting = mechanism(score_name, weighting_name, training=scene.training)
    items = scene.key
    order = torch.randperm(items.shape[1], generator=torch.Generator().manual_seed(seed))
    straight = attend(items, items, scene.value, score=score, weighting=weighting).context[:, order]
    permuted = attend(items[:, order], items[:, order], scene.value[:, order], score=score, weighting=weighting).context
    if not (score.order_matters or weighting.order_matters):
        close(permuted, straight)
        one_query = attend(scene.query[:, :1], items, scene.value, score=score, weighting=weighting).context
        same_query = attend(
            scene.query[:, :1], items[:, order], scene.value[:, order], score=score, weighting=weighting
        ).context
        close(same_query, one_query)


@pytest.mark.parametrize("score_name", [name for name in SCORES if score_named(name).order_matters])
def test_scores_that_claim_to_know_the_order_do(score_name: str) -> None:
    """The other side of the permutation test: nobody escapes it by a wrong claim."""
    score = score_named(score_name, dtype=torch.float64)
    items, order = torch.randn(1, 5, DIM, dtype=torch.float64), torch.tensor([4, 2, 0, 1, 3])
    straight = attend(items, items, score=score).context[:, order]
    permuted = attend(items[:, order], items[:, order], score=score).context
    assert not torch.allclose(permuted, straight, rtol=1e-3)


@pytest.mark.parametrize("score_name", SCORES)
def test_scores_follow_the_query_where_they_say_so(score_name: str) -> None:
    score = score_named(score_name, dtype=torch.float64)
    query, key = (torch.randn(1, items, DIM, dtype=torch.float64) for items in (2, 5))
    weights = attend(query, key, score=score, need_weights=True).weights
    assert weights is not None
    assert score.follows_query == (score_name in QUERY_SCORES) == (not torch.allclose(weights[:, 0], weights[:, 1]))


@mechanisms
@given(scene=scenes(), seed=st.integers(0, 2**32))
def test_a_masked_key_has_no_influence(score_name: str, weighting_name: str, scene: Scene, seed: int) -> None:
    """Neither on the output, nor on the gradient of anything; and it gets no gradient itself."""
    score, weighting = mechanism(score_name, weighting_name, training=scene.training)
    keys = scene.key.shape[1]
    hidden = int(torch.randint(keys, (1,), generator=torch.Generator().manual_seed(seed)))
    mask = scene.mask.clone()
    mask[..., hidden] = False
    disturbed_key, disturbed_value = scene.key.clone(), scene.value.clone()
    disturbed_key[:, hidden] += 100.0
    disturbed_value[:, hidden] -= 100.0

    results: list[tuple[Tensor, ...]] = []
    for key, value in ((scene.key, scene.value), (disturbed_key, disturbed_value)):
        inputs = [x.clone().requires_grad_() for x in (scene.query, key, value)]
        context = attend(*inputs, score=score, weighting=weighting, mask=mask).context
        grads = torch.autograd.grad(context.square().sum(), inputs, allow_unused=True, materialize_grads=True)
        assert (grads[1][:, hidden] == 0).all()
        assert (grads[2][:, hidden] == 0).all()
        results.append((context, *grads))
    for before, after in zip(*results, strict=True):
        close(after, before)


@mechanisms
@given(scene=scenes(blind_rows=True))
def test_a_row_that_may_look_nowhere(score_name: str, weighting_name: str, scene: Scene) -> None:
    """Zeros, forward and backward, with and without weights, and nothing that is not finite anywhere."""
    score, weighting = mechanism(score_name, weighting_name, training=scene.training)
    blind = ~scene.mask.any(-1)
    for mask in (scene.mask, torch.zeros_like(scene.mask)):
        for need_weights in (True, False):
            inputs = [x.clone().requires_grad_() for x in scene[:3]]
            output = attend(*inputs, score=score, weighting=weighting, mask=mask, need_weights=need_weights)
            assert (output.context[blind] == 0).all()
            if need_weights:
                assert (weights_of(output)[blind] == 0).all()
            parameters = [*inputs, *score.parameters(), *weighting.parameters()]
            grads = torch.autograd.grad(
                output.context.square().sum(), parameters, allow_unused=True, materialize_grads=True
            )
            assert all(grad.isfinite().all() for grad in grads)
            if not (score.order_matters or weighting.order_matters):
                assert (grads[0][blind] == 0).all()


@mechanisms
@given(scene=scenes(), extra=st.integers(1, 4))
def test_padding_changes_nothing(score_name: str, weighting_name: str, scene: Scene, extra: int) -> None:
    score, weighting = mechanism(score_name, weighting_name, training=scene.training)
    batch, keys = scene.key.shape[:2]
    lengths = torch.full((batch,), keys)
    bare = attend(*scene[:3], score=score, weighting=weighting, need_weights=True)
    padded = attend(
        scene.query,
        *(
            torch.cat((x, torch.full_like(x[:, :1], 3.0).expand(-1, extra, -1)), dim=1)
            for x in (scene.key, scene.value)
        ),
        score=score,
        weighting=weighting,
        mask=padding_mask(lengths, size=keys + extra),
        need_weights=True,
    )
    close(padded.context, bare.context)
    close(weights_of(padded)[..., :keys], weights_of(bare))


@mechanisms
@given(scene=scenes(blind_rows=True))
def test_a_sequence_does_not_notice_its_neighbours(score_name: str, weighting_name: str, scene: Scene) -> None:
    score, weighting = mechanism(score_name, weighting_name, training=scene.training)
    together = attend(*scene[:3], score=score, weighting=weighting, mask=scene.mask).context
    for b in range(len(scene.query)):
        one = slice(b, b + 1)
        inputs = (x[one] for x in scene[:3])
        alone = attend(*inputs, score=score, weighting=weighting, mask=scene.mask[one]).context
        close(alone, together[one])


@mechanisms
@given(scene=scenes(blind_rows=True))
def test_asking_for_weights_changes_nothing(score_name: str, weighting_name: str, scene: Scene) -> None:
    score, weighting = mechanism(score_name, weighting_name, training=scene.training)
    without, with_them = (
        attend(*scene[:3], score=score, weighting=weighting, mask=scene.mask, need_weights=need_weights)
        for need_weights in (False, True)
    )
    assert without.weights is None
    close(with_them.context, without.context)
    close(weights_of(with_them) @ scene.value, without.context)


@mechanisms
@given(scene=scenes())
def test_queries_one_by_one_give_what_they_give_together(score_name: str, weighting_name: str, scene: Scene) -> None:
    """What a mechanism remembers goes in and comes out, and nothing stays in the module."""
    score, weighting = mechanism(score_name, weighting_name, training=scene.training)
    together = attend(*scene[:3], score=score, weighting=weighting, need_weights=True)
    memory = remember(scene.key, scene.value, score=score)
    state: State | None = None
    steps: list[AttentionOutput] = []
    for query in scene.query.split(1, dim=1):
        steps.append(recall(query, memory, score=score, weighting=weighting, state=state, need_weights=True))
        state = steps[-1].state
    close(torch.cat([step.context for step in steps], dim=1), together.context)
    close(torch.cat([weights_of(step) for step in steps], dim=1), weights_of(together))
    for last, wanted in zip(steps[-1].state, together.state, strict=True):
        assert (last is None) == (wanted is None)
        if last is not None and wanted is not None:
            close(last.double(), wanted.double())


@mechanisms
@given(scene=scenes(), at=st.integers(0, POSITIONS))
def test_a_memory_in_two_pieces_is_one_memory(score_name: str, weighting_name: str, scene: Scene, at: int) -> None:
    score, weighting = mechanism(score_name, weighting_name, training=scene.training)
    at = min(at, scene.key.shape[1])
    keys_mask = scene.mask[:, :1]
    whole = remember(scene.key, scene.value, score=score, mask=keys_mask)
    pieces: Memory | None = None
    for piece in (slice(0, at), slice(at, None)):
        pieces = remember(
            scene.key[:, piece], scene.value[:, piece], score=score, mask=keys_mask[..., piece], before=pieces
        )
    assert pieces is not None
    found, wanted = (recall(scene.query, memory, score=score, weighting=weighting) for memory in (pieces, whole))
    close(found.context, wanted.context)


@mechanisms
@given(scene=scenes(), seed=st.integers(0, 2**32))
def test_state_and_memory_follow_a_selection(score_name: str, weighting_name: str, scene: Scene, seed: int) -> None:
    """A beam search picks sequences of the batch, some of them twice; they go on as if nothing had happened."""
    score, weighting = mechanism(score_name, weighting_name, training=scene.training)
    batch = len(scene.query)
    index = torch.randint(batch, (batch + 1,), generator=torch.Generator().manual_seed(seed))
    memory = remember(scene.key, scene.value, score=score, mask=scene.mask[:, :1])
    first = recall(scene.query, memory, score=score, weighting=weighting)
    wanted = recall(scene.query, memory, score=score, weighting=weighting, state=first.state).context[index]
    found = recall(
        scene.query[index], memory.select(index), score=score, weighting=weighting, state=first.state.select(index)
    ).context
    close(found, wanted)


@pytest.mark.parametrize("score_name", SCORES)
@given(scene=scenes(blind_rows=True))
def test_local_p_with_an_endless_window_is_soft(score_name: str, scene: Scene) -> None:
    score, _ = mechanism(score_name, "soft", training=True)
    endless = LocalPredictive(DIM, math.inf).double()
    found, wanted = (
        attend(*scene[:3], score=score, weighting=weighting, mask=scene.mask).context for weighting in (endless, None)
    )
    close(found, wanted)


@mechanisms
@given(scene=scenes())
def test_causal_means_a_causal_mask(score_name: str, weighting_name: str, scene: Scene) -> None:
    score, weighting = mechanism(score_name, weighting_name, training=scene.training)
    queries, keys = scene.query.shape[1], scene.key.shape[1]
    lower_right = torch.tensor([[s - keys <= t - queries for s in range(keys)] for t in range(queries)])
    found = attend(*scene[:3], score=score, weighting=weighting, causal=True).context
    wanted = attend(*scene[:3], score=score, weighting=weighting, mask=lower_right).context
    close(found, wanted)


@mechanisms
def test_in_heads(score_name: str, weighting_name: str) -> None:
    """Heads are one more batch dimension: each gives what it gives alone."""
    score, weighting = mechanism(score_name, weighting_name, training=True)
    layer = MultiHead(3 * DIM, 3, score=score, weighting=weighting).double()
    x = torch.randn(2, 4, 3 * DIM, dtype=torch.float64)
    output = layer(x, causal=True, need_weights=True)
    assert weights_of(output).shape == (2, 3, 4, 4)
    alone = []
    for head in range(3):
        columns = slice(head * DIM, (head + 1) * DIM)
        projections = (layer.query_projection, layer.key_projection, layer.value_projection)
        query, key, value = (projection(x)[..., columns] for projection in projections)
        alone.append(attend(query, key, value, score=score, weighting=weighting, causal=True).context)
    close(output.context, layer.output_projection(torch.cat(alone, dim=-1)))


@mechanisms
def test_the_layer_keeps_nothing(score_name: str, weighting_name: str) -> None:
    score, weighting = mechanism(score_name, weighting_name, training=False)
    layer = Attention(score, weighting).eval()
    query, key, value = (torch.randn(2, 4, DIM, dtype=torch.float64) for _ in range(3))
    before = {name: tensor.clone() for name, tensor in layer.state_dict().items()}
    first, second = layer(query, key, value), layer(query, key, value)
    torch.testing.assert_close(first.context, second.context, rtol=0, atol=0)
    torch.testing.assert_close(dict(layer.state_dict()), before, rtol=0, atol=0)
