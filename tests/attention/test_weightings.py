"""What is particular to one weighting."""

import itertools
import math

import pytest
import torch

from saccade.attention import Attention, LocalMonotonic, LocalPredictive, Monotonic, sparsemax
from saccade.attention.weightings.monotonic import walk
from tests.attention.helpers import DIM, score_named, tensors

NO_QUERY = torch.zeros(1, 1, 1)


def test_local_m_moves_with_the_queries_and_stays_at_the_end() -> None:
    weighting, scores = LocalMonotonic(1), torch.zeros(1, 5, 4)
    output = weighting(scores, mask=None, query=NO_QUERY)
    half, third = 1 / 2, 1 / 3
    wanted = [
        [half, half, 0, 0],
        [third, third, third, 0],
        [0, third, third, third],
        [0, 0, half, half],
        [0, 0, half, half],  # there is no fifth key
    ]
    torch.testing.assert_close(output.weights, torch.tensor([wanted]))
    assert output.state.tolist() == [5]


def test_local_m_stays_at_the_last_key_that_is_real() -> None:
    mask = torch.tensor([[[True, True, False, False]]])
    weights = LocalMonotonic(1)(torch.zeros(1, 4, 4), mask=mask, query=NO_QUERY).weights
    assert weights[0, 3].tolist() == [0.5, 0.5, 0.0, 0.0]


def test_local_p_learns_its_position() -> None:
    """Only the Gaussian carries this gradient: scores are all alike."""
    weighting = LocalPredictive(DIM, 5).double()
    query = torch.randn(1, 1, DIM, dtype=torch.float64)
    optimizer = torch.optim.Adam(weighting.parameters(), lr=0.05)
    for _ in range(200):
        weights = weighting(torch.zeros(1, 1, 20, dtype=torch.float64), mask=None, query=query).weights
        optimizer.zero_grad()
        (-weights[0, 0, 13]).backward()
        optimizer.step()
    assert weighting.positions(query, mask=None, keys=20).item() == pytest.approx(13, abs=0.6)


def test_local_p_is_zero_outside_its_window_and_at_most_a_gaussian_inside() -> None:
    weighting, query = LocalPredictive(DIM, 3), torch.randn(2, 4, DIM)
    weights = weighting(torch.randn(2, 4, 30), mask=None, query=query).weights
    centre = weighting.positions(query, mask=None, keys=30)
    assert ((centre > 0) & (centre < 30)).all()
    distance = (torch.arange(30) - centre[..., None]).abs()
    assert (weights[distance > 3] == 0).all()
    assert (weights <= torch.exp(-(distance**2) / (2 * 1.5**2)) + 1e-6).all()


def test_monotonic_by_counting_all_walks() -> None:
    """The probability of every series of stops, added up over all series: no recursion at all."""
    queries, keys = 3, 4
    stop = torch.rand(queries, keys, dtype=torch.float64)
    wanted = torch.zeros(queries, keys, dtype=torch.float64)
    for stops in itertools.product([*range(keys), None], repeat=queries):  # None: ran off the end
        probability, at = 1.0, 0
        for t, s in enumerate(stops):
            if at is None:
                probability *= s is None
                continue
            passed = range(at, keys if s is None else s)
            probability *= math.prod(1 - stop[t, k].item() for k in passed)
            probability *= 1.0 if s is None else (stop[t, s].item() if s >= at else 0.0)
            at = s
        for t, s in enumerate(stops):
            if s is not None:
                wanted[t, s] += probability
    weighting = Monotonic(bias=0.0, noise=0.0).double().train()
    found = weighting(torch.logit(stop)[None], mask=None, query=NO_QUERY).weights[0]
    torch.testing.assert_close(found, wanted)


def test_monotonic_inference_is_one_step_forward_at_a_time() -> None:
    scores = torch.tensor([[[-1.0, 1, -1, 1, -1], [1, -1, -1, 1, 1], [1, 1, 1, -1, -1], [1, 1, 1, 1, 1]]])
    weights = Monotonic(bias=0.0).eval()(scores, mask=None, query=NO_QUERY).weights[0]
    wanted = [
        [0, 1, 0, 0, 0],  # the first above zero
        [0, 0, 0, 1, 0],  # from there on
        [0, 0, 0, 0, 0],  # nothing any more: the walk is over
        [0, 0, 0, 0, 0],
    ]
    assert weights.tolist() == wanted


def test_monotonic_stays_exact_where_the_published_form_divides_by_zero() -> None:
    """Keys that are certain to stop make the cumulative product of 1 - p zero."""
    scores = torch.full((1, 2, 6), -200.0)
    scores[0, 0, 2] = 200.0
    scores[0, 1, 4] = 200.0
    scores.requires_grad_()
    weights = Monotonic(bias=0.0, noise=0.0).train()(scores, mask=None, query=NO_QUERY).weights
    torch.testing.assert_close(weights[0], torch.eye(6)[[2, 4]])
    (grad,) = torch.autograd.grad(weights[0, 1, 5], scores)
    assert grad.isfinite().all()


def test_monotonic_noise_is_for_training() -> None:
    weighting, scores = Monotonic(noise=1.0), torch.randn(1, 3, 4)
    drawn = [weighting.train()(scores, mask=None, query=NO_QUERY).weights for _ in range(2)]
    assert not torch.equal(*drawn)
    taken = [weighting.eval()(scores, mask=None, query=NO_QUERY).weights for _ in range(2)]
    assert torch.equal(*taken)


def test_monotonic_waits_for_a_query_that_may_look_nowhere() -> None:
    scores, weighting = torch.randn(1, 3, 4), Monotonic(bias=0.0, noise=0.0).train()
    mask = torch.ones(1, 3, 4, dtype=torch.bool)
    mask[0, 0] = False
    found = weighting(scores, mask=mask, query=NO_QUERY).weights
    assert (found[0, 0] == 0).all()
    torch.testing.assert_close(found[:, 1:], weighting(scores[:, 1:], mask=None, query=NO_QUERY).weights)


@pytest.mark.parametrize("keys", [1, 2, 3, 7, 8, 9])
def test_walk_is_its_recursion(keys: int) -> None:
    go, start = torch.rand(2, keys), torch.rand(2, keys)
    rows = [start[:, 0]]
    for s in range(1, keys):
        rows.append(go[:, s - 1] * rows[-1] + start[:, s])
    torch.testing.assert_close(walk(go, start), torch.stack(rows, dim=1))


def test_sparsemax_worked_values() -> None:
    """Two scores that differ by d < 1 share as (1 ± d) / 2; by more, the higher takes all (Martins 2016)."""
    torch.testing.assert_close(sparsemax(torch.tensor([0.4, 0.0])), torch.tensor([0.7, 0.3]))
    torch.testing.assert_close(sparsemax(torch.tensor([5.0, 3.9, -8.0])), torch.tensor([1.0, 0.0, 0.0]))
    torch.testing.assert_close(sparsemax(torch.tensor([1e6, 1e6])), torch.tensor([0.5, 0.5]))


def test_sparsemax_of_what_is_not_a_number_is_not_an_exception() -> None:
    assert not sparsemax(torch.tensor([1.0, math.nan])).isfinite().all()
    assert not sparsemax(torch.tensor([1.0, math.inf])).isfinite().all()


def test_local_p_counts_far_in_half_precision() -> None:
    weighting, query = LocalPredictive(DIM, 3).bfloat16(), torch.randn(2, 4, DIM).bfloat16()
    found = weighting(torch.zeros(2, 4, 1000).bfloat16(), mask=None, query=query).weights
    distance = torch.arange(1000) - weighting.positions(query, mask=None, keys=1000).double()[..., None]
    near = distance.abs() <= 3
    wanted = near / near.sum(-1, keepdim=True) * torch.exp(-(distance**2) / (2 * 1.5**2))
    torch.testing.assert_close(found.double(), wanted, atol=0.005, rtol=0)


# Rows with ties: within the support, at its threshold (a[s] = 0 exactly), below it, and all of these at once.
TIES = [
    [0.25, 0.25, 0.25, -3.0, -3.0],
    [1.0, 0.0, 0.0, -2.0, 0.0],
    [0.5, 0.5, 0.0, 0.0, -1.0],
    [2.0, 1.0, 1.0, 1.0, -4.0],
    [0.0, 0.0, 0.0, 0.0, 0.0],
    [0.75, 0.5, 0.5, -0.25, -0.25],
]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("masked", [False, True])
def test_sparsemax_s_gradient_is_what_is_left_of_its_mean(dtype: torch.dtype, masked: bool) -> None:  # noqa: FBT001
    """∂e = g - mean of g over the support, and 0 elsewhere, ties or not (Martins 2016, proposition 2)."""
    scores = torch.cat((torch.tensor(TIES), torch.randn(7, 5))).to(dtype).requires_grad_()
    mask = torch.rand(scores.shape) > 0.3 if masked else torch.ones(scores.shape, dtype=torch.bool)
    mask[-1] = not masked
    weights = sparsemax(scores, mask if masked else None)
    assert weights.dtype == dtype
    slope = torch.randn(scores.shape).to(dtype)
    (found,) = torch.autograd.grad(weights, scores, slope, retain_graph=True)
    for row in range(len(scores)):
        support = weights[row] > 0
        mean = slope[row, support].double().mean()
        wanted = torch.where(support, slope[row].double() - mean, 0.0)
        torch.testing.assert_close(found[row].double(), wanted, atol=4 * torch.finfo(dtype).eps, rtol=0)
    (of_sum,) = torch.autograd.grad(weights.sum(), scores)
    assert not of_sum.any()


def test_sparsemax_treats_equals_equally() -> None:
    """Scores whose threshold has to be rounded: those that are equal still weigh the same, and get the same."""
    for seed in range(200):
        generator = torch.Generator().manual_seed(seed)
        scores = (torch.rand(5, generator=generator) * 1.5).repeat(3)[torch.randperm(15, generator=generator)]
        scores.requires_grad_()
        weights = sparsemax(scores)
        (found,) = torch.autograd.grad(weights.square().sum(), scores)
        for level in scores.unique():
            assert len(weights[scores == level].unique()) == 1
            assert len(found[scores == level].unique()) == 1


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")  # by torch's own jvp
def test_sparsemax_is_differentiated_in_every_way() -> None:
    scores = torch.cat((torch.tensor(TIES), torch.randn(3, 5))).double()
    backward, forward = torch.func.jacrev(sparsemax), torch.func.jacfwd(sparsemax)
    torch.testing.assert_close(torch.func.vmap(backward)(scores), torch.func.vmap(forward)(scores))
    inner = torch.randn(6, 5, dtype=torch.double, requires_grad=True)  # no ties, where differences would see a bend
    assert torch.autograd.gradcheck(sparsemax, inner)
    assert torch.autograd.gradgradcheck(sparsemax, inner)


def test_sparsemax_of_many_in_half_precision_sums_to_one() -> None:
    for dtype in (torch.float16, torch.bfloat16):
        weights = sparsemax((torch.randn(3, 701) / 100).to(dtype))
        torch.testing.assert_close(weights.double().sum(-1), torch.ones(3).double(), atol=0.01, rtol=0)


def test_sparse_weights_are_sparse() -> None:
    layer = Attention(score_named("dot"), None)
    query, key, _ = tensors(keys=40)
    weights = sparsemax(3 * layer.score(query, key))
    assert (weights == 0).float().mean() > 0.5
