"""A machine with a memory: its folder, what it shows of itself, and that its memory is the cause of what it writes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import saccade
from saccade.base.errors import InputError
from saccade.base.settings import check_settings
from saccade.nets import TuringMachine
from saccade.tasks.algorithms.model import NeuralTuringMachine
from saccade.tasks.algorithms.problems import make_episodes
from saccade.tasks.algorithms.settings import NeuralTuringMachineSettings


def make(kind: str = "ntm", **changes: Any) -> NeuralTuringMachine:
    """One that has learnt nothing."""
    sizes: dict[str, object] = {"locations": 10, "width": 6, "dim": 12} if kind == "ntm" else {"dim": 12, "layers": 1}
    values = {"model": {"kind": kind, **sizes, **changes}, "data": {"make": "copy", "bits": 3, "max_length": 5}}
    torch.manual_seed(0)
    return NeuralTuringMachine.make(check_settings(NeuralTuringMachineSettings, values, where="small"))


def by_hand() -> NeuralTuringMachine:
    """A machine whose weights are set, not learnt: it writes each vector at the next location, and reads from the
    first.

    The controller's numbers are the bits, whether the mark was seen, and what was read; the heads move one location on
    in each step, and the reading head goes back to the first location as the mark comes.
    """
    machine = make(width=4, dim=8, memory_init="random")
    net = machine.net
    assert isinstance(net, TuringMachine)
    bits, parts = 3, np.cumsum([0, *net.sizes.parts()])
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
        net.memory_init.zero_()
        net.memory_init[0, 3] = 1.0  # where the reading begins is known by its content
        net.first_weights[:, 0] = 50.0
        controller = net.controller
        assert isinstance(controller, torch.nn.Linear)
        for bit in range(bits + 1):  # the bits and the mark pass through, as far as tanh lets them
            controller.weight[bit, bit] = 5.0
        projection = net.head_projection
        projection.weight[parts[0] + 3, 3] = 5.0  # the reading head looks for the first location ...
        projection.bias[parts[1]] = 60.0
        projection.weight[parts[2], 3], projection.bias[parts[2]] = 80.0, -40.0  # ... when the mark comes
        projection.bias[parts[2] + 1] = -40.0  # the writing head never goes by content
        projection.bias[parts[3] + 2] = projection.bias[parts[3] + 5] = 40.0  # both move one location on,
        projection.weight[parts[3] + 1, 3] = 80.0  # but the reading head stays at the first location when it finds it
        projection.bias[parts[4] : parts[5]] = 5.0
        for bit in range(bits):
            projection.weight[parts[6] + bit, bit] = 5.0
        for bit in range(bits):  # the outputs are what was read
            net.output.weight[bit, 8 + bit], net.output.bias[bit] = 20.0, -10.0
    return machine


def test_a_machine_that_was_set_by_hand_copies():
    machine = by_hand()
    episodes = make_episodes(machine.settings.data, 6, seed=0, length=5)
    logits, targets = machine.answers(episodes)
    assert ((logits > 0) == (targets > 0.5)).all()


def test_what_is_in_the_memory_is_what_is_written():
    """Overwrite a location, and the output follows: at its own step, and at no other."""
    machine = by_hand()
    episodes = make_episodes(machine.settings.data, 1, seed=1, length=5)
    before = machine.trace(episodes.inputs[0])
    location = int(before.write_weights[0, 2].argmax())  # where the third vector went

    def overwrite(memory: np.ndarray) -> np.ndarray:
        memory[location, :3] = 1 - memory[location, :3]
        return memory

    after = machine.trace(episodes.inputs[0], edits={5: overwrite})
    changed = (after.outputs > 0.5) != (before.outputs > 0.5)
    assert changed[6 + 2].all()
    assert changed.sum() == 3


def test_a_trace_is_what_the_machine_did():
    machine = make(read_heads=2, write_heads=3, shifts=5)
    inputs = make_episodes(machine.settings.data, 1, seed=0, length=4).inputs
    trace = machine.trace(inputs[0])
    (found,) = machine.run(inputs, attention=True)
    np.testing.assert_allclose(trace.outputs, found.outputs, rtol=1e-5)
    assert trace.attention is not None
    assert found.attention is not None
    np.testing.assert_allclose(trace.attention, found.attention, rtol=1e-5, atol=1e-7)
    steps = inputs.shape[1]
    assert trace.weights.shape == (5, steps, 10)
    assert trace.read_weights.shape == (2, steps, 10)
    assert trace.write_weights.shape == (3, steps, 10)
    assert trace.adds.shape == trace.erases.shape == (3, steps, 6)
    assert trace.memories.shape == (steps, 10, 6)
    assert trace.gates.shape == trace.betas.shape == trace.gammas.shape == trace.shifts.shape == (5, steps)
    np.testing.assert_allclose(trace.weights.sum(-1), 1, rtol=1e-5)
    assert (np.abs(trace.shifts) <= 2).all()
    # equations 2 to 4, from one step of the trace to the next
    for step in range(1, steps):
        memory = trace.memories[step - 1]
        reads = trace.read_weights[:, step] @ memory
        np.testing.assert_allclose(trace.reads[:, step], reads, rtol=1e-4, atol=1e-6)
        kept = np.prod(1 - trace.write_weights[:, step, :, None] * trace.erases[:, step, None, :], axis=0)
        wanted = memory * kept + trace.write_weights[:, step].T @ trace.adds[:, step]
        np.testing.assert_allclose(trace.memories[step], wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kind", ["ntm", "lstm"])
def test_a_saved_machine_is_the_same_machine(kind: str, tmp_path: Path):
    machine = make(kind)
    machine.save(tmp_path)
    loaded = saccade.load(tmp_path)
    assert isinstance(loaded, NeuralTuringMachine)
    inputs = make_episodes(machine.settings.data, 2, seed=0).inputs
    for one, other in zip(loaded.run(inputs), machine.run(inputs), strict=True):
        np.testing.assert_allclose(one.outputs, other.outputs, atol=1e-6)  # two loops of torch's for an LSTM


def test_sequences_of_any_length_are_answered_as_if_alone():
    machine = make()
    sequences = [make_episodes(machine.settings.data, 1, seed=0, length=length).inputs[0] for length in (2, 4, 1)]
    for together, sequence in zip(machine.run(sequences, attention=True), sequences, strict=True):
        (alone,) = machine.run([sequence], attention=True)
        assert together.outputs.shape == (len(sequence), 3)
        np.testing.assert_allclose(together.outputs, alone.outputs, rtol=1e-5)
        assert together.attention is not None
        assert alone.attention is not None
        np.testing.assert_allclose(together.attention, alone.attention, rtol=1e-5, atol=1e-7)


def test_an_lstm_has_no_memory_to_look_into():
    machine = make("lstm")
    with pytest.raises(InputError, match="no memory to look into"):
        machine.trace(make_episodes(machine.settings.data, 1, seed=0).inputs[0])


@pytest.mark.parametrize("shape", [(2, 4), (1, 0, 4), (1, 4, 5)])
def test_inputs_of_another_shape_are_refused(shape: tuple[int, ...]):
    with pytest.raises(InputError, match=r"sequence 1: found .*, wanted an array \[steps, 4\]"):
        make().run(np.zeros(shape, np.float32))


@pytest.mark.parametrize(
    ("inputs", "edits", "says"),
    [
        (np.zeros((1, 5, 4), np.float32), {}, r"found \[1, 5, 4\], wanted an array \[steps, 4\]"),
        (np.zeros((5, 3), np.float32), {}, r"found \[5, 3\], wanted"),
        (np.zeros((0, 4), np.float32), {}, "at least one step"),
        ([[0.0] * 4], {}, "found list, wanted an array"),
        (np.zeros((5, 4), np.float32), {5: lambda memory: memory}, "edits: found step 5, wanted 0 to 4"),
        (np.zeros((5, 4), np.float32), {2: lambda memory: None}, "that of step 2 wants to return the memory"),
        (np.zeros((5, 4), np.float32), {2: lambda memory: memory[:1]}, "that of step 2 wants to return the memory"),
    ],
)
def test_what_cannot_be_traced_is_refused(inputs: Any, edits: Any, says: str):
    with pytest.raises(InputError, match=says):
        make().trace(inputs, edits=edits)


@pytest.mark.parametrize("wrong", [{"locations": 0}, {"width": 0}, {"read_heads": 0}, {"memory_init": "none"}])
def test_a_memory_that_cannot_be_is_refused(wrong: dict[str, Any]):
    with pytest.raises(InputError, match=next(iter(wrong))):
        make(**wrong)
