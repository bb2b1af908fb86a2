"""A machine that learnt an algorithm: bits in, bits out, by way of a memory that can be looked into and changed."""

from collections.abc import Callable
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor

from saccade.base.errors import InputError
from saccade.look import AttentionMap
from saccade.nets import HeadParameters, MachineState, TuringMachine
from saccade.tasks.algorithms.maps import map_of_trace
from saccade.tasks.algorithms.net import LstmBaseline
from saccade.tasks.algorithms.problems import Episodes
from saccade.tasks.algorithms.settings import NeuralTuringMachineSettings, NtmSettings
from saccade.tasks.algorithms.trace import Array, Trace
from saccade.tasks.model import Model


class NeuralTuringMachine(Model[NeuralTuringMachineSettings, TuringMachine | LstmBaseline]):
    """A Neural Turing Machine (Graves 2014) with the problem that it learnt. `saccade.load(folder)` gives one.

    The baseline of `lstm-copy`, an LSTM without a memory, is one too: it runs in the same way, and has no trace.
    """

    config = NeuralTuringMachineSettings

    def __init__(self, net: TuringMachine | LstmBaseline, settings: NeuralTuringMachineSettings) -> None:
        self.net = net
        self.settings = settings

    @classmethod
    def make(cls, settings: NeuralTuringMachineSettings) -> Self:
        """A machine that has learnt nothing yet; its weights come from torch's random numbers."""
        inputs, outputs = settings.data.channels()
        how = settings.model.model_dump(exclude={"kind"})
        kind = TuringMachine if isinstance(settings.model, NtmSettings) else LstmBaseline
        return cls(kind(inputs, outputs, **how), settings)

    @classmethod
    def maker(cls, settings: NeuralTuringMachineSettings, folder: Path) -> Callable[[], Self]:
        return lambda: cls.make(settings)

    def maps(self, result: Trace) -> list[AttentionMap]:
        """Where each head read or wrote, step by step: `[1, heads, steps, locations]`."""
        return [map_of_trace(result)]

    def run(self, inputs: Array) -> Array:
        """Inputs `[B, T, I]` to logits `[B, T, O]`: above 0 where a 1 is likelier."""
        with self.running():
            return self.net(self._expect(inputs))[0].numpy()

    def answers(self, episodes: Episodes) -> tuple[Array, Array]:
        """The logits of the steps that count, and what they should say: each `[B, steps, O]`."""
        return self.run(episodes.inputs)[:, episodes.scored], episodes.targets[:, episodes.scored]

    def trace(self, inputs: Array, *, edits: dict[int, Callable[[Array], Array]] | None = None) -> Trace:
        """What the machine does with one sequence `[T, I]`.

        `edits` change the memory on the way, to see what follows from what is in it: after the step that each is for,
        it is given the memory `[N, M]`, and what it gives back is the memory from then on.
        """
        if not isinstance(self.net, TuringMachine):
            raise InputError("this model is an LSTM; it has no memory to look into")
        edits = edits or {}
        self._expect_trace(inputs, edits)
        steps: list[tuple[MachineState, HeadParameters]] = []

        def watch(number: int, state: MachineState, parameters: HeadParameters) -> MachineState:
            if number in edits:
                before = state.memory[0].numpy()
                changed = edits[number](before.copy())
                if not isinstance(changed, np.ndarray) or changed.shape != before.shape:
                    raise InputError(f"edits: that of step {number} wants to return the memory, {list(before.shape)}")
                state = state._replace(memory=torch.from_numpy(changed.astype(np.float32))[None])
            steps.append((state, parameters))
            return state

        with self.running():
            logits, _ = self.net(self._expect(inputs[None]), watch=watch)
        states, parameters = [state for state, _ in steps], [one for _, one in steps]
        moves = torch.arange(self.net.sizes.shifts, dtype=torch.float32) - self.net.sizes.shifts // 2
        return Trace(
            inputs=np.asarray(inputs, dtype=np.float32),
            outputs=torch.sigmoid(logits[0]).numpy(),
            adds=_by_head([one.add for one in parameters]),
            erases=_by_head([one.erase for one in parameters]),
            reads=_by_head([state.reads.unflatten(1, (self.net.sizes.read, -1)) for state in states]),
            weights=_by_head([state.weights for state in states]),
            gates=_by_head([one.addressing.gate for one in parameters]),
            betas=_by_head([one.addressing.beta for one in parameters]),
            gammas=_by_head([one.addressing.gamma for one in parameters]),
            shifts=_by_head([one.addressing.offsets @ moves for one in parameters]),
            memories=torch.cat([state.memory for state in states]).numpy(),
        )

    def _expect_trace(self, inputs: Array, edits: dict[int, Callable[[Array], Array]]) -> None:
        wanted = self.settings.data.channels()[0]
        shape = list(inputs.shape) if isinstance(inputs, np.ndarray) else type(inputs).__name__
        if not isinstance(inputs, np.ndarray) or inputs.ndim != 2 or inputs.shape[1] != wanted or not len(inputs):
            raise InputError(f"inputs: found {shape}, wanted an array [steps, {wanted}], with at least one step")
        strange = [step for step in edits if step not in range(len(inputs))]
        if strange:
            raise InputError(f"edits: found step {strange[0]}, wanted 0 to {len(inputs) - 1}")

    def _expect(self, inputs: Array) -> Tensor:
        wanted = self.settings.data.channels()[0]
        if inputs.ndim != 3 or inputs.shape[2] != wanted or 0 in inputs.shape:
            raise InputError(f"inputs: found shape {list(inputs.shape)}, wanted [sequences, steps, {wanted}]")
        return torch.from_numpy(np.ascontiguousarray(inputs, dtype=np.float32))


def _by_head(steps: list[Tensor]) -> Array:
    """`T` times `[1, heads, ...]` -> `[heads, T, ...]`."""
    return torch.cat(steps).transpose(0, 1).contiguous().numpy()
