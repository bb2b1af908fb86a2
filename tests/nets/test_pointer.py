"""The pointer network against its equations, and what holds for it with every score."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from saccade.attention import QUERY_SCORES, Additive, make_score
from saccade.base.settings import check_settings
from saccade.decode import beam_search, greedy_search
from saccade.nets import Encoded, PointerDecoder, Searchable, Step
from saccade.nets.cells import cell_weights
from saccade.tasks.pointing.net import PointerEncoderDecoder, as_tokens
from saccade.tasks.pointing.problems import make_problems
from saccade.tasks.pointing.settings import PointerSettings
from saccade.text import END, START, pad

DIM = 10
SIZES = [7, 3, 5, 1]
ANSWERS = [[4, 0, 6], [2, 1, 0], [3], [0]]

every_score = pytest.mark.parametrize("score", list(QUERY_SCORES))
every_encoder = pytest.mark.parametrize("kind", ["lstm", "transformer"])


def net_of(kind: str = "lstm", *, sharpness: float = 2.0, **settings: Any) -> PointerEncoderDecoder:
    torch.manual_seed(3)
    values: dict[str, Any] = {"kind": kind, "input_size": 3, "dim": DIM, "layers": 2, **settings}
    if kind == "transformer":
        values |= {"heads": 2, "feed_forward": 7}
    net = PointerEncoderDecoder(check_settings(PointerSettings, {"model": values}, where="small").model)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(sharpness if parameter.dim() > 1 else 1.0)
    return net.eval()


def batch_of(sizes: list[int] = SIZES) -> tuple[Tensor, Tensor]:
    torch.manual_seed(4)
    inputs = torch.zeros(len(sizes), max(sizes), 3)
    for row, size in enumerate(sizes):
        inputs[row, :size] = torch.randn(size, 3)
    return inputs, torch.tensor(sizes)


def previous_of(answers: list[list[int]]) -> Tensor:
    return pad([[START, *as_tokens(answer)[:-1]] for answer in answers])


def sigmoid(x: Tensor) -> Tensor:
    return 1 / (1 + torch.exp(-x))


@torch.no_grad()
def test_steps_are_the_papers_equations() -> None:
    """An LSTM cell, u_i = vᵀ tanh(W1 e_i + W2 d), a softmax over what is left: one number at a time."""
    net, (inputs, lengths) = net_of(), batch_of([4])
    decoder = net.decoder
    assert isinstance(decoder.score, Additive)
    encoded = net.encode(inputs, lengths)
    positions = encoded.states[0]  # END first
    hidden, cell = F.linear(encoded.final[0], decoder.bridge.weight, decoder.bridge.bias)[0].split(DIM)
    hidden = torch.tanh(hidden)
    weights, score = cell_weights(decoder.rnn, 0), decoder.score
    state, read, left = decoder.start(encoded), decoder.first, [0, 1, 2, 3, 4]
    for token, position in ((START, None), (END + 3, 3), (END + 1, 1)):
        if position is not None:
            read = positions[position]
            left.remove(position)
        gates = weights.weight_ih @ read + weights.bias_ih + weights.weight_hh @ hidden + weights.bias_hh
        input_gate, forget_gate, candidate, output_gate = gates.split(DIM)
        cell = sigmoid(forget_gate) * cell + sigmoid(input_gate) * torch.tanh(candidate)
        hidden = sigmoid(output_gate) * torch.tanh(cell)
        u = [
            score.v @ torch.tanh(score.key_projection.weight @ positions[i] + score.query_projection.weight @ hidden)
            for i in range(5)
        ]
        powers = {i: torch.exp(u[i]) for i in left}
        wanted = torch.stack([powers[i] / sum(powers.values()) if i in left else torch.tensor(0.0) for i in range(5)])
        step = decoder.step(torch.tensor([token]), state, need_weights=True)
        assert step.weights is not None
        torch.testing.assert_close(step.weights[0, 0, 0], wanted, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(step.logits.softmax(-1)[0, END:], wanted, atol=1e-5, rtol=1e-4)
        assert not step.logits.softmax(-1)[0, :END].any()
        state = step.state


@every_score
@torch.no_grad()
def test_step_by_step_equals_the_whole_answer(score: str) -> None:
    net = net_of(score=score)
    encoded, previous = net.encode(*batch_of()), previous_of(ANSWERS)
    wanted = net.decoder(encoded, previous)
    state = net.decoder.start(encoded)
    for t in range(previous.shape[1]):
        step = net.decoder.step(previous[:, t], state, need_weights=True)
        state = step.state
        real = [row for row, answer in enumerate(ANSWERS) if t <= len(answer)]
        torch.testing.assert_close(step.logits[real, END:], wanted[real, t], atol=1e-4, rtol=1e-4)
        assert step.weights is not None
        torch.testing.assert_close(step.weights[real, 0, 0], wanted[real, t].softmax(-1), atol=1e-5, rtol=1e-4)


@every_encoder
@torch.no_grad()
def test_a_problem_does_not_know_its_neighbours(kind: str) -> None:
    net, (inputs, lengths) = net_of(kind), batch_of()
    together = net.decoder(net.encode(inputs, lengths), previous_of(ANSWERS))
    for row, (size, answer) in enumerate(zip(SIZES, ANSWERS, strict=True)):
        encoded = net.encode(inputs[row : row + 1, :size], lengths[row : row + 1])
        alone = net.decoder(encoded, previous_of([answer]))
        torch.testing.assert_close(alone[0], together[row, : len(answer) + 1, : size + 1], atol=1e-4, rtol=1e-4)
        assert together[row, :, size + 1 :].isneginf().all()


@every_score
@torch.no_grad()
def test_reordered_states_go_on_in_their_new_order(score: str) -> None:
    net, index = net_of(score=score), torch.tensor([2, 0, 0])
    tokens = torch.tensor([END + 1, END + 2, END + 3, END + 1])
    state = net.decoder.step(torch.full((4,), START), net.decoder.start(net.encode(*batch_of()))).state
    found = net.decoder.step(tokens[index], net.decoder.reorder(state, index)).logits
    torch.testing.assert_close(found, net.decoder.step(tokens, state).logits[index], atol=1e-5, rtol=1e-5)


@every_score
def test_nothing_is_pointed_at_twice(score: str) -> None:
    net, sizes = net_of(score=score), [9, 2, 6, 1, 7]
    with torch.inference_mode():
        encoded = net.encode(*batch_of(sizes))
    limits = [size + 1 for size in sizes]
    answers = [one.ids for one in greedy_search(net.decoder, encoded, limits=limits)]
    answers += [group[0].ids for group in beam_search(net.decoder, encoded, beam=3, limits=limits)]
    for ids, size in zip(answers, sizes * 2, strict=True):
        assert ids[-1] == END
        assert len(set(ids)) == len(ids)
        assert set(ids) <= set(range(END, END + size + 1))


@torch.no_grad()
def test_where_the_problem_allows_it_a_position_is_pointed_at_again() -> None:
    net = net_of(mask_visited=False)
    logits = net.decoder(net.encode(*batch_of([4])), previous_of([[2, 2, 2]]))
    assert logits.isfinite().all()


@pytest.mark.parametrize("seed", range(3))
def test_a_wide_beam_finds_the_best_of_all_answers(seed: int) -> None:
    """Held against every order of every choice of three inputs."""
    net, (inputs, lengths) = net_of(sharpness=3.0), batch_of([3])
    inputs = inputs + seed
    with torch.inference_mode():
        encoded = net.encode(inputs, lengths)
        answers = [list(order) for order in orders_of(3)]
        likeliest: tuple[float, list[int]] = (-1e9, [])
        for answer in answers:
            log_probs = net.decoder(encoded, previous_of([answer])).log_softmax(-1)[0]
            positions = [*(position + 1 for position in answer), 0]
            total = float(sum(log_probs[t, position] for t, position in enumerate(positions)))
            likeliest = max(likeliest, (total, answer))
    ((best,),) = beam_search(net.decoder, encoded, beam=16, limits=[4])
    assert [token - END - 1 for token in best.ids[:-1]] == likeliest[1]
    assert best.log_prob == pytest.approx(likeliest[0], abs=1e-4)


class Countdown(Searchable[Tensor]):
    """Points at the inputs in turn with 9 of 10 parts, and has 1 of 100 for END until all are done."""

    def start(self, encoded: Encoded | None, *, prefix: Tensor | None = None, copies: int = 1) -> Tensor:
        assert encoded is not None
        return torch.zeros(len(encoded.states) * copies, dtype=torch.long)

    def step(
        self, tokens: Tensor, state: Tensor, *, need_weights: bool = False, best: int | None = None
    ) -> Step[Tensor]:
        probabilities = torch.full((len(tokens), 3 + END + 1), 1e-3)
        probabilities[:, END] = 0.01
        probabilities[torch.arange(len(tokens)), torch.where(state < 3, END + 1 + state, END)] = 0.9
        return Step(probabilities.log(), state + 1, None)

    def reorder(self, state: Tensor, index: Tensor) -> Tensor:
        return state[index]


def test_a_beam_without_early_stopping_is_not_content_with_many_poor_ends() -> None:
    """With few positions to choose from, END is always among the first: two that ended early say little."""
    encoded = Encoded(torch.zeros(1, 4, 1), torch.ones(1, 1, 4, dtype=torch.bool))
    ((hasty,),) = beam_search(Countdown(), encoded, beam=2, limits=[4])
    ((full,),) = beam_search(Countdown(), encoded, beam=2, limits=[4], early_stopping=False)
    assert hasty.ids == [END]
    assert full.ids == [END + 1, END + 2, END + 3, END]


def orders_of(count: int) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for order in found:
        found.extend((*order, position) for position in range(count) if position not in order)
    return found


@torch.no_grad()
def test_without_positions_inputs_are_a_set() -> None:
    net, (inputs, lengths) = net_of("transformer", positions=False), batch_of([5])
    order = torch.tensor([3, 0, 4, 1, 2])
    one, other = net.encode(inputs, lengths), net.encode(inputs[:, order], lengths)
    torch.testing.assert_close(other.states[:, 1:], one.states[:, 1:][:, order], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(other.final[0], one.final[0], atol=1e-5, rtol=1e-4)
    placed = net_of("transformer", positions=True)
    assert not torch.allclose(
        placed.encode(inputs[:, order], lengths).states[:, 1:],
        placed.encode(inputs, lengths).states[:, 1:][:, order],
        atol=1e-2,
    )


def test_the_loss_is_that_of_every_position_and_of_the_end() -> None:
    net, (inputs, lengths) = net_of(), batch_of()
    total = torch.tensor(0.0)
    with torch.no_grad():
        for row, answer in enumerate(ANSWERS):
            state = net.decoder.start(net.encode(inputs[row : row + 1, : SIZES[row]], lengths[row : row + 1]))
            token = START
            for following in as_tokens(answer):
                step = net.decoder.step(torch.tensor([token]), state)
                total -= step.logits.log_softmax(-1)[0, following]
                state, token = step.state, following
        torch.testing.assert_close(net.loss(inputs, lengths, ANSWERS), total, atol=1e-4, rtol=1e-4)


@every_score
@every_encoder
def test_every_parameter_learns(score: str, kind: str) -> None:
    net = net_of(kind, score=score, sharpness=1.0).train()
    problems = make_problems("sort", 8, seed=1, min_length=2, max_length=6)
    lengths = torch.tensor([len(problem.inputs) for problem in problems])
    net.loss(torch.randn(8, int(lengths.max()), 3), lengths, [problem.answer for problem in problems]).backward()
    for name, parameter in net.named_parameters():
        if score == "location" and name == "encoder.end":
            continue  # it says where to look, whatever stands there, and END is never read
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any() or name.endswith("key_projection.bias"), name


def test_dropout_acts_in_training_only() -> None:
    decoder = PointerDecoder(DIM, score=make_score("additive", DIM, DIM), mask_visited=True, dropout=0.5)
    torch.manual_seed(1)
    encoded = Encoded(torch.randn(2, 4, DIM), torch.ones(2, 1, 4, dtype=torch.bool), (torch.randn(2, DIM),))
    previous = previous_of([[0, 2], [1, 0]])
    with torch.no_grad():
        assert not torch.equal(decoder(encoded, previous), decoder(encoded, previous))
        decoder.eval()
        assert torch.equal(decoder(encoded, previous), decoder(encoded, previous))


@every_score
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_in_half_precision_its_answers_are_of_that(score: str, dtype: torch.dtype) -> None:
    """Also where scores are compared in float32."""
    net, (inputs, lengths) = net_of(score=score).to(dtype), batch_of()
    encoded = net.encode(inputs.to(dtype), lengths)
    assert net.decoder(encoded, previous_of(ANSWERS)).dtype == dtype
    step = net.decoder.step(torch.full((len(SIZES),), START), net.decoder.start(encoded), need_weights=True)
    assert step.weights is not None
    assert (step.logits.dtype, step.weights.dtype) == (dtype, dtype)
