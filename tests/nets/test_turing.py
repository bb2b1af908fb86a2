"""The Neural Turing Machine: a whole step against the paper's equations in numpy, and the C loop against torch."""

import numpy as np
import pytest
import torch
from torch import Tensor

from saccade.nets import HeadParameters, HeadSizes, MachineState, TuringMachine, move_heads
from saccade.nets._kernels.turing_step import plain_move_heads
from saccade.runtime.kernels.turing_step import turing_step
from tests.attention.test_addressing import content_by_hand, sharpen_by_hand, shift_by_hand
from tests.runtime.native import loops

__all__ = ["loops"]

INPUTS, OUTPUTS, LOCATIONS, WIDTH, DIM = 3, 2, 7, 4, 5


def machine(**changes: object) -> TuringMachine:
    torch.manual_seed(0)
    how: dict[str, object] = {"locations": LOCATIONS, "width": WIDTH, "dim": DIM, "memory_init": "random"}
    net = TuringMachine(INPUTS, OUTPUTS, **(how | changes)).double()  # pyright: ignore[reportArgumentType]
    with torch.no_grad():  # everything that begins as zeros or the same gets numbers of its own
        for parameter in net.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return net


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def softmax(x: np.ndarray) -> np.ndarray:
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)


def layer(net: torch.nn.Linear, x: np.ndarray) -> np.ndarray:
    return net.weight.detach().numpy() @ x + net.bias.detach().numpy()


def run_by_hand(net: TuringMachine, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One sequence `[T, I]` through a machine with a feed-forward controller: logits, and the memory at the end."""
    reads, writes = net.sizes.read, net.sizes.write
    memory = net.memory_init.detach().numpy().copy()
    weights = softmax(net.first_weights.detach().numpy())
    read = net.first_reads.detach().numpy()
    logits: list[np.ndarray] = []
    assert isinstance(net.controller, torch.nn.Linear)
    for now in inputs:
        hidden = np.tanh(layer(net.controller, np.concatenate([now, read])))
        raw = np.split(layer(net.head_projection, hidden), np.cumsum(net.sizes.parts())[:-1])
        keys = np.tanh(raw[0]).reshape(reads + writes, -1)
        betas, gates = np.log1p(np.exp(raw[1])), sigmoid(raw[2])
        offsets, gammas = softmax(raw[3].reshape(reads + writes, -1)), 1 + np.log1p(np.exp(raw[4]))
        erases, adds = sigmoid(raw[5]).reshape(writes, -1), np.tanh(raw[6]).reshape(writes, -1)
        for head in range(reads + writes):
            content = content_by_hand(keys[head], memory, betas[head])
            mixed = gates[head] * content + (1 - gates[head]) * weights[head]
            weights[head] = sharpen_by_hand(shift_by_hand(mixed, offsets[head]), gammas[head])
        read = np.concatenate([sum(weights[head, i] * memory[i] for i in range(len(memory))) for head in range(reads)])
        for head in range(writes):  # equation 3, all erasures before all additions
            for i in range(len(memory)):
                memory[i] = memory[i] * (1 - weights[reads + head, i] * erases[head])
        for head in range(writes):
            for i in range(len(memory)):
                memory[i] = memory[i] + weights[reads + head, i] * adds[head]
        logits.append(layer(net.output, np.concatenate([hidden, read])))
    return np.stack(logits), memory


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize(("reads", "writes", "shifts"), [(1, 1, 3), (2, 3, 5)])
def test_steps_are_those_of_the_paper(reads: int, writes: int, shifts: int):
    net = machine(read_heads=reads, write_heads=writes, shifts=shifts)
    inputs = torch.randn(2, 4, INPUTS, dtype=torch.float64)
    with torch.no_grad():
        logits, state = net(inputs)
    for row in range(2):
        wanted, memory = run_by_hand(net, inputs[row].numpy())
        np.testing.assert_allclose(logits[row], wanted, rtol=1e-9)
        np.testing.assert_allclose(state.memory[row], memory, rtol=1e-9)


def heads_and_memory(
    sizes: HeadSizes, locations: int, dtype: torch.dtype, scale: float = 1.0
) -> tuple[Tensor, Tensor, Tensor]:
    rng = torch.Generator().manual_seed(1)
    heads = sizes.read + sizes.write
    memory = torch.randn(3, locations, sizes.width, generator=rng, dtype=dtype)
    last = torch.softmax(torch.randn(3, heads, locations, generator=rng, dtype=dtype), dim=-1)
    raw = scale * torch.randn(3, sum(sizes.parts()), generator=rng, dtype=dtype)
    return memory.requires_grad_(), last.requires_grad_(), raw.requires_grad_()


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    ("sizes", "locations"),
    [
        (HeadSizes(20, 1, 1, 3), 128),
        (HeadSizes(5, 2, 3, 4), 6),
        (HeadSizes(3, 1, 2, 9), 4),  # more offsets than locations
        (HeadSizes(1, 1, 1, 1), 1),
        (HeadSizes(5, 1, 2, 3, 0.1), 6),  # gradients are cut
    ],
)
def test_the_loop_does_what_torch_does(sizes: HeadSizes, locations: int, kind: torch.dtype):
    tensors = heads_and_memory(sizes, locations, kind)
    found, wanted = move_heads(*tensors, sizes), plain_move_heads(*tensors, sizes)
    relative, absolute = (1e-4, 1e-5) if kind == torch.float32 else (1e-9, 1e-12)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=relative, atol=absolute)
    slopes = [torch.randn_like(part) for part in wanted]
    for used in (slice(0, 3), slice(0, 1), slice(1, 2), slice(2, 3)):  # all results, or one of them alone
        gradients = [
            torch.autograd.grad(results[used], tensors, slopes[used], retain_graph=True, materialize_grads=True)
            for results in (found, wanted)
        ]
        for one, other in zip(*gradients, strict=True):
            torch.testing.assert_close(one, other, rtol=relative, atol=absolute)


@pytest.mark.usefixtures("loops")
def test_gradients_are_those_of_the_numbers():
    sizes = HeadSizes(3, 1, 2, 3)
    tensors = heads_and_memory(sizes, 5, torch.float64)
    assert torch.autograd.gradcheck(lambda a, b, c: tuple(move_heads(a, b, c, sizes)), tensors)


@pytest.mark.usefixtures("loops")
def test_gradients_are_cut_from_step_to_step() -> None:
    free, cut = HeadSizes(3, 1, 1, 3), HeadSizes(3, 1, 1, 3, 0.2)
    tensors = heads_and_memory(free, 5, torch.float64)
    slopes = [50 * torch.randn_like(part) for part in move_heads(*tensors, free)]
    whole, short = (torch.autograd.grad(move_heads(*tensors, sizes), tensors, slopes) for sizes in (free, cut))
    for one, other in zip(whole[:2], short[:2], strict=True):  # those of memory and last weights
        assert (one.flatten(1).norm(dim=1) > 0.2).all()
        torch.testing.assert_close(other.flatten(1).norm(dim=1), torch.full((3,), 0.2, dtype=torch.float64))
        torch.testing.assert_close(
            other / other.norm(dim=(1, 2), keepdim=True), one / one.norm(dim=(1, 2), keepdim=True)
        )
    torch.testing.assert_close(short[2], whole[2])  # the head parameters stay as they were


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("scale", [30.0, 1000.0])
def test_extreme_words_give_finite_gradients(scale: float):
    sizes = HeadSizes(4, 1, 1, 3)
    memory, last, raw = heads_and_memory(sizes, 8, torch.float32, scale)
    with torch.no_grad():
        memory[:, 0] = 0
        last[:, :, 1] = 0
    results = move_heads(memory, last, raw, sizes)
    gradients = torch.autograd.grad([part.square().sum() for part in results], (memory, last, raw))
    assert all(torch.isfinite(part).all() for part in (*results, *gradients))


@pytest.mark.parametrize("dtypes", [(1, 0, 0), (0, 1, 0), (0, 0, 1)])
def test_tensors_of_several_dtypes_are_refused(dtypes: tuple[int, int, int]):
    sizes = HeadSizes(3, 1, 1, 3)
    tensors = heads_and_memory(sizes, 5, torch.float32)
    memory, last, raw = (one.double() if kind else one for one, kind in zip(tensors, dtypes, strict=True))
    refused = r"(last|raw_parameters): found torch\.float\d\d on cpu, wanted torch\.float\d\d on cpu, as memory is"
    with pytest.raises(ValueError, match=refused):
        move_heads(memory, last, raw, sizes)
    with pytest.raises(ValueError, match=refused):
        turing_step(memory, last, raw, 1, 1, 3, 0.0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"read": 0}, "read: found 0 heads"),
        ({"read": 2**40}, "last: found shape"),
        ({"read": -1, "write": 3}, "read: found -1 heads"),
        ({"write": 2}, "last: found shape"),
        ({"shifts": 4}, "raw_parameters: found shape"),
        ({"limit": float("nan")}, "limit: found nan"),
    ],
)
def test_wrong_numbers_of_heads_are_named(changes: dict[str, float], message: str):
    sizes = HeadSizes(3, 1, 1, 3)
    memory, last, raw = heads_and_memory(sizes, 5, torch.float32)
    numbers: dict[str, float] = {"read": 1, "write": 1, "shifts": 3, "limit": 0.0} | changes
    with pytest.raises(ValueError, match=message):
        turing_step(memory, last, raw, **numbers)


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize("part", [0, 1, 2])
def test_what_is_no_number_shows(kind: torch.dtype, part: int):
    """A weight that is NaN is not the smallest there is."""
    sizes = HeadSizes(3, 1, 2, 3)
    tensors = memory, last, raw = heads_and_memory(sizes, 5, kind)
    with torch.no_grad():
        tensors[part][1].view(-1)[-1] = torch.nan
    found, wanted = move_heads(memory, last, raw, sizes), plain_move_heads(memory, last, raw, sizes)
    assert any(one.isnan().any() for one in wanted)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("controller", ["feed-forward", "lstm"])
@pytest.mark.parametrize("step_clip", [None, 1.0])
def test_a_machine_may_be_trained_under_autocast(controller: str, step_clip: float | None):
    """Products are coarse there, and what the heads do is as exact as ever."""
    torch.manual_seed(0)
    net = TuringMachine(3, 2, locations=7, width=4, dim=5, controller=controller, step_clip=step_clip)  # pyright: ignore[reportArgumentType]
    inputs = torch.randn(2, 4, 3)
    wanted = torch.autograd.grad(net(inputs)[0].square().sum(), net.head_projection.weight)[0]
    for _ in range(3):
        net.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits, state = net(inputs)
        torch.testing.assert_close(logits.float(), net(inputs)[0], atol=0.02, rtol=0.02)
        assert state.memory.dtype == state.weights.dtype == torch.float32
        logits.float().square().sum().backward()
        assert all(one.grad is None or one.grad.isfinite().all() for one in net.parameters())
        assert net.head_projection.weight.grad is not None
        assert (net.head_projection.weight.grad - wanted).norm() < 0.05 * wanted.norm()


@pytest.mark.parametrize("controller", ["feed-forward", "lstm"])
def test_sequences_of_different_lengths_are_what_each_is_alone(controller: str):
    net = machine(controller=controller)
    inputs, lengths = torch.randn(3, 6, INPUTS, dtype=torch.float64), [6, 2, 4]
    mask = torch.arange(6) < torch.tensor(lengths)[:, None]
    with torch.no_grad():
        logits, state = net(inputs, mask=mask)
        for row, length in enumerate(lengths):
            alone, after = net(inputs[row : row + 1, :length])
            torch.testing.assert_close(logits[row, :length], alone[0])
            for part, wanted in zip(state, after, strict=True):
                torch.testing.assert_close(part[row], wanted[0])


@pytest.mark.parametrize("controller", ["feed-forward", "lstm"])
def test_a_run_may_be_cut_in_two(controller: str):
    net = machine(controller=controller)
    inputs = torch.randn(2, 5, INPUTS, dtype=torch.float64)
    with torch.no_grad():
        whole, end = net(inputs)
        first, state = net(inputs[:, :2])
        second, too = net(inputs[:, 2:], state)
        again, _ = net(inputs)
    torch.testing.assert_close(torch.cat([first, second], dim=1), whole)
    torch.testing.assert_close(too.memory, end.memory)
    assert (again == whole).all()  # nothing was kept


def test_a_watcher_sees_each_step_and_may_change_it():
    net = machine()
    inputs = torch.randn(1, 3, INPUTS, dtype=torch.float64)
    seen: list[int] = []

    def forget(step: int, state: MachineState, parameters: HeadParameters) -> MachineState | None:
        seen.append(step)
        assert parameters.add.shape == (1, 1, WIDTH)
        return state._replace(memory=torch.zeros_like(state.memory)) if step == 1 else None

    with torch.no_grad():
        plain, _ = net(inputs)
        changed, _ = net(inputs, on_step=forget)
    assert seen == [0, 1, 2]
    torch.testing.assert_close(changed[:, :2], plain[:, :2])
    assert not torch.allclose(changed[:, 2], plain[:, 2])


def test_first_memories():
    assert machine(memory_init="learned").memory_init.requires_grad
    assert not machine(memory_init="random").memory_init.requires_grad
    torch.manual_seed(0)
    constant = TuringMachine(INPUTS, OUTPUTS, locations=3, width=2, dim=4, memory_init="constant").memory_init
    assert (constant == 1e-6).all()


def test_heads_that_read_may_begin_by_content_and_those_that_write_begin_by_location():
    seen: list[HeadParameters] = []

    def on_step(_step: int, state: MachineState, parameters: HeadParameters) -> MachineState:
        seen.append(parameters)
        return state

    torch.manual_seed(0)
    net = TuringMachine(3, 2, locations=7, width=4, dim=5, read_heads=2, write_heads=3, gate_bias=2.0, beta_bias=4.0)
    with torch.no_grad():
        net.head_projection.weight.zero_()
        net(torch.zeros(1, 1, 3), on_step=on_step)
    (one,) = seen
    np.testing.assert_allclose(one.addressing.gate[0], sigmoid(np.array([2.0, 2.0, -2.0, -2.0, -2.0])), rtol=1e-6)
    np.testing.assert_allclose(one.addressing.beta[0], np.full(5, 4.0), atol=0.5)  # softplus, and a little chance
