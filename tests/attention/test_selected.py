"""Local windows and hard attention in use: what looks at a few keys gives what looks at all of them gives."""

import math

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from saccade.attention import (
    Additive,
    Attention,
    AttentionOutput,
    General,
    Hard,
    LocalMonotonic,
    LocalPredictive,
    MultiHead,
    Score,
    State,
    Weighting,
    attend,
    attention_path,
    causal_mask,
    padding_mask,
    recall,
    remember,
)
from saccade.attention import functional as paths
from tests.attention.helpers import DIM, STATELESS, relative_error, score_named, tensors, weighting_named

KEYS = 271  # a window of 2 names 6 keys for each of 2 queries: far fewer

SELECTIVE = ["hard", "local-m", "local-p"]
every_score = pytest.mark.parametrize("score_name", STATELESS)
every_weighting = pytest.mark.parametrize("weighting_name", SELECTIVE)


def mechanism(score_name: str, weighting_name: str, *, keys: int = KEYS) -> tuple[Score, Weighting]:
    score = score_named(score_name, dtype=torch.float64)
    if score_name in {"location", "mix"}:  # the tests' own know too few positions
        for name, table in score.named_parameters():
            if name.endswith("weight") and len(table) == 13:
                owner = score.get_submodule(name.rpartition(".")[0])
                owner.weight = torch.nn.Parameter(torch.randn(keys, DIM, dtype=torch.float64))
    return score, weighting_named(weighting_name, dtype=torch.float64).eval()


def in_both_ways(
    score: Score, weighting: Weighting, inputs: tuple[Tensor, ...], **options: object
) -> tuple[AttentionOutput, AttentionOutput]:
    """With few keys, and with all of them, which is how weights come."""
    shape = (*inputs[0].shape[:-1], inputs[1].shape[-2])
    assert attention_path(score, weighting, shape=shape) in {"windowed", "gathered"}
    few = attend(*inputs, score=score, weighting=weighting, **options)
    everything = attend(*inputs, score=score, weighting=weighting, need_weights=True, **options)
    return few, everything


@every_weighting
@every_score
@pytest.mark.parametrize("masked", ["nothing", "padding", "each its own", "blind rows"])
def test_context_and_gradients(score_name: str, weighting_name: str, masked: str) -> None:
    score, weighting = mechanism(score_name, weighting_name)
    inputs = tensors(dtype=torch.float64, queries=2, keys=KEYS, grad=True)
    mask = {
        "nothing": None,
        "padding": padding_mask(torch.tensor([KEYS, 197])),
        "each its own": torch.rand(2, 2, KEYS) > 0.4,
        "blind rows": torch.tensor([[True], [False]]).expand(2, KEYS),
    }[masked]
    few, everything = in_both_ways(score, weighting, inputs, mask=mask)
    assert few.weights is None
    torch.testing.assert_close(few.context, everything.context)
    assert few.context.any()
    direction = torch.randn_like(few.context)
    learned = (*inputs, *score.parameters(), *weighting.parameters())
    for mine, theirs in zip(
        *(
            torch.autograd.grad(one.context, learned, direction, allow_unused=True, materialize_grads=True)
            for one in (few, everything)
        ),
        strict=True,
    ):
        torch.testing.assert_close(mine, theirs)


@every_weighting
def test_queries_one_by_one(weighting_name: str) -> None:
    """Far enough for the window of local-m to come to the end of the shorter source, and to stay."""
    score, weighting = mechanism("additive", weighting_name)
    query, key, value = tensors(dtype=torch.float64, queries=KEYS, keys=KEYS)
    mask = padding_mask(torch.tensor([KEYS, 197]))
    wanted = attend(query, key, value, score=score, weighting=weighting, mask=mask, need_weights=True)
    memory, state, steps = remember(key, value, score=score, mask=mask), State(), []
    for one in query.split(1, dim=1):
        step = recall(one, memory, score=score, weighting=weighting, state=state)
        steps.append(step.context)
        state = step.state
    torch.testing.assert_close(torch.cat(steps, dim=1), wanted.context)
    assert (state.weighting is None) == (wanted.state.weighting is None)
    if state.weighting is not None:
        assert state.weighting.tolist() == [KEYS, KEYS]


@every_weighting
def test_a_memory_that_grows_and_one_that_is_chosen_from(weighting_name: str) -> None:
    score, weighting = mechanism("general", weighting_name)
    query, key, value = tensors(dtype=torch.float64, queries=1, keys=KEYS)
    mask = padding_mask(torch.tensor([KEYS, 31]))
    first, last = slice(0, 29), slice(29, None)
    memory = remember(key[:, first], value[:, first], score=score, mask=mask[..., first])
    memory = remember(key[:, last], value[:, last], score=score, mask=mask[..., last], before=memory)
    assert memory.last is not None
    assert memory.last.tolist() == [[KEYS - 1], [30]]
    index = torch.tensor([1, 0, 1])
    found = recall(query[index], memory.select(index), score=score, weighting=weighting)
    wanted = attend(query, key, value, score=score, weighting=weighting, mask=mask, need_weights=True)
    torch.testing.assert_close(found.context, wanted.context[index])


@every_weighting
def test_in_heads_and_causal(weighting_name: str) -> None:
    score, weighting = mechanism("scaled-dot", weighting_name)
    layer = MultiHead(3 * DIM, 3, score=score, weighting=weighting).double().eval()
    x = torch.randn(2, KEYS, 3 * DIM, dtype=torch.float64)
    memory = layer.remember(x, mask=padding_mask(torch.tensor([KEYS, 197])))
    for causal in (False, True):
        found, wanted = (
            layer.recall(x[:, -2:], memory, causal=causal, need_weights=need).context for need in (False, True)
        )
        torch.testing.assert_close(found, wanted)
    last_two = causal_mask(2, KEYS)
    explicit = layer.recall(x[:, -2:], memory, mask=last_two).context
    torch.testing.assert_close(explicit, layer.recall(x[:, -2:], memory, causal=True).context)


@pytest.mark.parametrize("window", [1, 2.5, 7, 1000, math.inf])
def test_windows_of_any_size(window: float) -> None:
    """Positions near both ends, and windows larger than all there is, for which all keys are compared."""
    torch.manual_seed(2)
    score, weighting = General(DIM, DIM).double(), LocalPredictive(DIM, window).double().eval()
    query, key, value = tensors(dtype=torch.float64, queries=1, keys=KEYS, batch=31)
    with torch.no_grad():
        weighting.v.mul_(30)  # some at the first key, some at the last
    centre = weighting.positions(query, mask=None, keys=KEYS)
    assert centre.min() < 1
    assert centre.max() > KEYS - 1
    found, wanted = (
        attend(query, key, value, score=score, weighting=weighting, need_weights=need) for need in (False, True)
    )
    torch.testing.assert_close(found.context, wanted.context)


@every_weighting
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_other_precisions(weighting_name: str, dtype: torch.dtype) -> None:
    score = score_named("additive").to(dtype)
    weighting = weighting_named(weighting_name).to(dtype).eval()
    inputs = tuple(one.to(dtype) for one in tensors(queries=2, keys=KEYS))
    few, everything = in_both_ways(score, weighting, inputs)
    assert few.context.dtype == dtype
    assert relative_error(few.context, everything.context) < (1e-5 if dtype == torch.float32 else 0.02)


@every_weighting
def test_padding_may_be_anything(weighting_name: str) -> None:
    score, weighting = mechanism("general", weighting_name)
    query, key, value = tensors(dtype=torch.float64, queries=1, keys=KEYS)
    mask = padding_mask(torch.tensor([KEYS, 197]))
    wanted = attend(query, key, value, score=score, weighting=weighting, mask=mask).context
    key[1, 197:], value[1, 197:] = math.inf, math.nan
    torch.testing.assert_close(attend(query, key, value, score=score, weighting=weighting, mask=mask).context, wanted)


def test_dropout_is_not_for_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys that are dropped are drawn of all; so all are compared."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(paths, "attend_to_window", refuse)
    monkeypatch.setattr(paths, "attend_to_one", refuse)
    query, key, _ = tensors(queries=2, keys=KEYS)
    for weighting in (LocalMonotonic(2).eval(), Hard().eval()):
        assert attend(query, key, score=score_named("dot"), weighting=weighting, dropout=0.5).context.isfinite().all()
        with pytest.raises(AssertionError):
            attend(query, key, score=score_named("dot"), weighting=weighting)


class Results(TorchDispatchMode):
    """The sizes of all that torch's operations write, views left out."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # pyright: ignore[reportMissingParameterType]
        result = func(*args, **(kwargs or {}))
        given = {one.untyped_storage().data_ptr() for one in args if isinstance(one, Tensor)}
        for one in result if isinstance(result, tuple) else (result,):
            if isinstance(one, Tensor) and one.untyped_storage().data_ptr() not in given:
                self.sizes.append(one.numel())
        return result


def sizes_of_a_step(weighting: Weighting, keys: int, *, score: Score) -> list[int]:
    layer = Attention(score, weighting).eval()
    memory = layer.remember(torch.randn(1, keys, DIM), mask=padding_mask(torch.tensor([keys - 3]), size=keys))
    query = torch.randn(1, 1, DIM)
    with torch.no_grad(), Results() as results:
        layer.recall(query, memory)
    return results.sizes


@pytest.mark.parametrize("score", [Additive(DIM, DIM), General(DIM, DIM)], ids=["additive", "general"])
def test_a_step_of_local_attention_writes_as_much_whatever_the_length(score: Score) -> None:
    for weighting in (LocalMonotonic(3), LocalPredictive(DIM, 3)):
        short, long = (sizes_of_a_step(weighting, keys, score=score) for keys in (211, 1009))
        assert short == long
        assert max(long) < 211


def test_a_step_of_hard_attention_writes_scores_and_no_more() -> None:
    short, long = (sizes_of_a_step(Hard(), keys, score=General(DIM, DIM)) for keys in (211, 1009))
    assert max(short) == 211
    assert max(long) == 1009
    # the scores and what is done to them grow with the keys, all else stays
    assert [size for size in short if size != 211] == [size for size in long if size != 1009]
