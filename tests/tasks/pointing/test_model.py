"""The pointer as a person uses it: plain lists in, orders out."""

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import Tensor

import saccade
from saccade.base.errors import InputError
from saccade.base.settings import check_settings
from saccade.decode import beam_search
from saccade.nets import Encoded, Searchable, Step, repeat_rows
from saccade.tasks.pointing.model import PointerNetwork, rescaled
from saccade.tasks.pointing.problems import make_problems
from saccade.tasks.pointing.settings import PointerSettings
from saccade.text import END, START

NUMBERS = [[3, 1, 2], [0.5, 0.25, 0.125, 8, 1, 7, 3], [4], [2, 2]]


def make(kind: str = "transformer", *, input_size: int = 1, **settings: Any) -> PointerNetwork:
    """A pointer that has learnt nothing, but is sure of what it says."""
    torch.manual_seed(6)
    model = {"kind": kind, "input_size": input_size, "dim": 12, **settings}
    if kind == "transformer":
        model |= {"heads": 3, "feed_forward": 7}
    problem = "sort" if input_size == 1 else "hull"
    values = {"problem": problem, "min_length": 2, "max_length": 7, "model": model}
    pointer = PointerNetwork.make(check_settings(PointerSettings, values, where="small"))
    with torch.no_grad():
        for parameter in pointer.net.parameters():
            parameter.mul_(3.0 if parameter.dim() > 1 else 1.0)
    return pointer


@pytest.mark.parametrize("kind", ["lstm", "transformer"])
@pytest.mark.parametrize("beam", [1, 4])
def test_an_answer_does_not_depend_on_its_neighbours(kind: str, beam: int) -> None:
    pointer = make(kind)
    together = pointer.point(NUMBERS, beam=beam, attention=True)
    for problem, one in zip(NUMBERS, together, strict=True):
        (alone,) = pointer.point([problem], beam=beam, attention=True)
        assert alone.order == one.order
        assert alone.score == pytest.approx(one.score, abs=1e-4)
        assert alone.attention is not None
        assert one.attention is not None
        np.testing.assert_allclose(alone.attention, one.attention, atol=1e-5)
    assert [one.order for one in pointer.point(NUMBERS, beam=beam, batch_size=2)] == [one.order for one in together]


def test_the_attention_is_the_answer() -> None:
    """Each step looks most at what it points at, END last; the score is the log of what it saw there."""
    problems = [problem.inputs for problem in make_problems("hull", 20, seed=1, min_length=3, max_length=9)]
    for problem, found in zip(problems, make(input_size=2).point(problems, attention=True), strict=True):
        assert found.attention is not None
        assert found.attention.shape == (1, 1, len(found.order) + 1, len(problem) + 1)
        weights = found.attention[0, 0]
        np.testing.assert_allclose(weights.sum(1), 1, atol=1e-5)
        indices = [*found.order, len(problem)]
        if len(found.order) < len(problem):  # otherwise END is all that is left
            assert weights.argmax(1).tolist() == indices
        probabilities = weights[range(len(indices)), indices]
        assert np.log(probabilities).sum() == pytest.approx(found.score, abs=1e-3)
        for step, index in enumerate(found.order):  # what was pointed at is out of sight
            assert not weights[step + 1 :, index].any()


def log_prob(pointer: PointerNetwork, problem: list[list[float]], order: Sequence[int]) -> float:
    """Of a whole answer, by reading it at once: nothing of the search is used."""
    ids = [END + 1 + index for index in order]
    with torch.no_grad(), pointer.running():
        encoded = pointer.net.encode(*pointer.collate([problem]))
        shares = pointer.net.decoder(encoded, torch.tensor([[START, *ids]])).log_softmax(-1)[0]
    return sum(float(row[token - END]) for row, token in zip(shares, [*ids, END], strict=True))


@pytest.mark.parametrize("kind", ["lstm", "transformer"])
def test_a_wide_beam_finds_the_best_of_all_orders(kind: str) -> None:
    """Of all of them, also of some of the inputs, by the log probability over ((5 + n) / 6), END among the n."""
    pointer = make(kind)
    problems = [one.inputs for one in make_problems("sort", 12, seed=2, min_length=1, max_length=4)]
    better = 0
    for problem, found, greedy in zip(problems, pointer.point(problems, beam=70), pointer.point(problems), strict=True):
        orders = [order for count in range(len(problem) + 1) for order in permutations(range(len(problem)), count)]
        score = {order: log_prob(pointer, problem, order) for order in orders}
        worth = {order: score[order] / ((5 + len(order) + 1) / 6) for order in orders}
        best = max(orders, key=worth.__getitem__)
        assert tuple(found.order) == best
        assert found.score == pytest.approx(score[best], abs=1e-3)
        better += worth[best] > worth[tuple(greedy.order)] + 1e-4
    assert better  # a beam has something to find


class Hesitant(Searchable[Tensor]):
    """Knows the right order, but is never quite sure: six tenths go to what is right, and a twentieth to END."""

    def start(self, encoded: Encoded | None, *, prefix: Tensor | None = None, copies: int = 1) -> Tensor:
        assert encoded is not None
        return repeat_rows(len(encoded.states), copies)

    def step(self, tokens: Tensor, state: Tensor, *, need_weights: bool = False, best: int | None = None) -> Step[Any]:
        shares = torch.full((len(tokens), END + 11), 0.35 / 9)  # ten inputs
        shares[:, END] = 0.05
        after = torch.where(tokens == START, END + 1, tokens + 1)
        shares[torch.arange(len(tokens)), after.clamp(max=END + 10)] = 0.6
        shares[tokens == END + 10] = 0.02
        shares[tokens == END + 10, END] = 0.8
        shares[:, :END] = 0
        return Step(shares.log(), state, None)

    def reorder(self, state: Tensor, index: Tensor) -> Tensor:
        return state[index]


def test_who_is_not_quite_sure_does_not_stop_at_once() -> None:
    """Ten steps at six tenths each are 0.5 %; END at once is 5 %. By itself, the more likely would be the worse.

    So a beam was worse than greedy search, which looks at one step at a time, and finds the right order.
    """
    pointer = make()
    pointer.net.decoder = cast("Any", Hesitant())
    problem = [[float(number)] for number in range(10)]
    assert pointer.point([problem])[0].order == list(range(10))
    for beam in (2, 5, 20):
        assert pointer.point([problem], beam=beam)[0].order == list(range(10))
    encoded = Encoded(torch.zeros(1, 11, 2), torch.ones(1, 1, 11, dtype=torch.bool), ())
    ((likeliest,),) = beam_search(Hesitant(), encoded, beam=5, limits=[11], early_stopping=False)
    assert likeliest.ids == [END]


def test_attention_is_there_for_the_asking() -> None:
    assert make().point([[1, 2]])[0].attention is None
    assert make().point([[1, 2]], attention=True)[0].attention is not None


def test_saved_and_loaded_it_says_the_same(tmp_path: Path) -> None:
    for kind in ("lstm", "transformer"):
        pointer = make(kind)
        pointer.save(tmp_path / kind)
        loaded = saccade.load(tmp_path / kind)
        assert isinstance(loaded, PointerNetwork)
        assert loaded.settings == pointer.settings
        for one, other in zip(*(one.point(NUMBERS, attention=True) for one in (pointer, loaded)), strict=True):
            # to rounding: torch has another loop for an LSTM whose weights want no gradient, as those of loaded models
            assert one.order == other.order
            assert one.score == pytest.approx(other.score, abs=1e-5)
            assert one.attention is not None
            assert other.attention is not None
            np.testing.assert_allclose(one.attention, other.attention, atol=1e-6)


def test_size_and_origin_of_a_problem_do_not_matter_where_it_is_rescaled() -> None:
    points = np.array(make_problems("hull", 1, seed=3, min_length=9, max_length=9)[0].inputs)
    np.testing.assert_allclose(rescaled(points).min(0), -1)
    np.testing.assert_allclose(rescaled(points).max(0), 1)
    np.testing.assert_allclose(rescaled(points * [3, 500] + [7, -1e4]), rescaled(points), atol=1e-9)
    np.testing.assert_array_equal(rescaled(np.full((3, 1), 1e308)), 0)
    assert np.isfinite(rescaled(np.array([[-1.7e308], [1.7e308]]))).all()
    pointer, plain = make(input_size=2), make(input_size=2, rescale=False)
    large = (points * 50).tolist()
    assert pointer.point([points.tolist()])[0].score == pytest.approx(pointer.point([large])[0].score, abs=1e-4)
    assert plain.point([points.tolist()])[0].score != pytest.approx(plain.point([large])[0].score, abs=1e-2)


def test_where_inputs_may_come_again_an_answer_still_ends() -> None:
    torch.manual_seed(1)
    values = {"max_answer_length": 5, "model": {"kind": "lstm", "input_size": 1, "dim": 8, "mask_visited": False}}
    pointer = PointerNetwork.make(check_settings(PointerSettings, values, where="small"))
    with torch.no_grad():
        pointer.net.encoder.end.fill_(-9.0)
    assert all(len(found.order) <= 5 for found in pointer.point(NUMBERS))


@pytest.mark.parametrize(
    ("problems", "says"),
    [
        ("3 1 2", "problems: found no list"),
        ([3, 1, 2], "problem 1: found no list of inputs"),
        ([[1, 2], []], "problem 2: found no list of inputs"),
        ([[1, 2], [[1, 2], [3, 4]]], "problem 2: found inputs of 2 numbers each, wanted numbers"),
        ([[1, float("inf")]], "problem 1: found inf in input 1"),
        ([[1, "two"]], "problem 1: found 'two' in input 1"),
        ([list(range(20))], "problem 1: found 20 inputs, wanted at most 19"),
    ],
)
def test_what_it_cannot_take_is_named(problems: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make(max_length=20).point(problems)


def test_points_are_asked_for_where_points_were_learnt() -> None:
    with pytest.raises(InputError, match="wanted points of 2 numbers"):
        make(input_size=2).point([[1, 2]])
    with pytest.raises(InputError, match="beam: found 0"):
        make().point([[1, 2]], beam=0)


def test_no_problems_no_answers() -> None:
    assert make().point([]) == []
