"""Gradients asked for in unusual ways: right, or refused with a sentence."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from saccade.attention import Additive, Attention, attend, make_score
from saccade.nets import TuringMachine, projected_cross_entropy
from saccade.nets._kernels.cross_entropy import losses_and_gradient
from saccade.runtime import torch_only
from saccade.runtime.bfloat16 import apply_linear, training_precision
from saccade.runtime.kernel_conditions import is_batched


def test_a_hook_on_a_weight_sees_the_whole_gradient_once() -> None:
    """Attention in tiles differentiates tile by tile; what is derived of a weight is their sum."""
    torch.manual_seed(0)
    score, query, key = make_score("additive", 2, 2), torch.randn(1, 1030, 2), torch.randn(1, 1030, 2)
    assert isinstance(score, Additive)
    attend(query, key, score=score).context.square().sum().backward()
    wanted = {name: 2 * one.grad for name, one in score.named_parameters() if one.grad is not None}
    score.zero_grad()
    calls: list[str] = []

    def double(gradient: Tensor) -> Tensor:
        calls.append("v")
        return 2 * gradient

    for one in score.parameters():
        one.register_hook(double)
    attend(query, key, score=score).context.square().sum().backward()
    assert len(calls) == len(wanted)
    for name, one in score.named_parameters():
        torch.testing.assert_close(one.grad, wanted[name])


@pytest.mark.parametrize("inside", ["autocast", "torch_only", "flops"])
def test_a_turing_machine_goes_back_where_it_would_not_have_gone_forward(inside: str) -> None:
    torch.manual_seed(1)
    machine, inputs = TuringMachine(3, 2, locations=6, width=5, dim=8), torch.randn(2, 4, 3)
    machine(inputs)[0].square().sum().backward()
    wanted = {name: one.grad for name, one in machine.named_parameters()}
    machine.zero_grad()
    loss = machine(inputs)[0].square().sum()
    from torch.utils.flop_counter import FlopCounterMode  # noqa: PLC0415 - it takes a second

    ways = {"autocast": torch.autocast("cpu", dtype=torch.bfloat16), "torch_only": torch_only()}
    with ways[inside] if inside in ways else FlopCounterMode(display=False):
        loss.backward()
    tolerance = 0.02 if inside == "autocast" else 1e-5  # which rounds the products of the way back
    for name, one in machine.named_parameters():
        torch.testing.assert_close(one.grad, wanted[name], rtol=tolerance, atol=tolerance)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        machine(inputs)[0].float().square().sum().backward()


def test_several_gradients_at_once_are_refused_by_name_and_taken_by_torchs_own() -> None:
    torch.manual_seed(2)
    attention, machine = Attention(make_score("additive", 4, 4)), TuringMachine(3, 2, locations=6, width=5, dim=8)
    key = torch.randn(2, 5, 4)

    def jacobian(function: object, *given: Tensor) -> Tensor:
        return torch.autograd.functional.jacobian(function, given, vectorize=True)[0]

    def look(query: Tensor) -> Tensor:
        return attention(query, key).context

    def go(inputs: Tensor) -> Tensor:
        return machine(inputs)[0]

    query, inputs = torch.randn(2, 3, 4), torch.randn(2, 4, 3)
    for function, given in ((look, query), (go, inputs)):
        with pytest.raises(RuntimeError, match=r"takes one gradient at a time here .*torch_only\(\)"):
            jacobian(function, given)
        with torch_only():
            found = jacobian(function, given)
            rows = torch.autograd.functional.jacobian(function, given)
        torch.testing.assert_close(found, rows)
    assert not is_batched(query)


def test_a_second_derivative_of_a_rounded_product_is_refused_even_where_the_first_is_a_constant() -> None:
    linear, x = nn.Linear(8, 4), torch.randn(5, 8, requires_grad=True)
    with training_precision("bfloat16"):
        total = apply_linear(linear, x).sum()
        (slope,) = torch.autograd.grad(total, x, create_graph=True)
    with pytest.raises(RuntimeError, match="a product in bfloat16 has no second derivative here"):
        (total + slope.square().sum()).backward()


def test_attention_leaves_no_hook_on_what_it_was_given() -> None:
    x = torch.randn(1, 2, 3, 4, requires_grad=True)
    states = x * 1.5
    attend(states, states, score=make_score("dot", 4, 4))
    (slope,) = torch.autograd.grad((states**3).sum(), x, create_graph=True)
    (curvature,) = torch.autograd.grad(slope.sum(), x)
    torch.testing.assert_close(curvature, 6 * 1.5**3 * x)


@pytest.mark.parametrize("shift", [0.0, 1e4, 1e6])
def test_what_all_logits_have_in_common_costs_the_loss_no_digits(shift: float) -> None:
    torch.manual_seed(3)
    logits, target = torch.randn(7, 50) + shift, torch.randint(50, (7,))
    wanted = F.cross_entropy(logits.double(), target, reduction="none")
    torch.testing.assert_close(losses_and_gradient(logits, target, 0.0).double(), wanted, rtol=1e-6, atol=1e-6)
    with pytest.raises(ValueError, match=r"smoothing: found 1\.5, wanted 0 to 1"):
        projected_cross_entropy(torch.randn(2, 3), torch.randn(5, 3), None, target[:2] % 5, smoothing=1.5, ignore=-1)


def test_a_turing_machine_made_on_meta_takes_weights() -> None:
    torch.manual_seed(4)
    machine, inputs = TuringMachine(3, 2, locations=6, width=5, dim=8), torch.randn(2, 4, 3)
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    with torch.device("meta"):
        empty = TuringMachine(3, 2, locations=6, width=5, dim=8)
    empty.load_state_dict(machine.state_dict(), assign=True)
    found, state = empty(inputs, mask=mask)
    torch.testing.assert_close(found, machine(inputs, mask=mask)[0])
    assert not state.cell.is_meta
