"""A machine that learnt an algorithm: bits in, bits out, by way of a memory that can be looked into and changed."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor

from saccade.base.errors import InputError
from saccade.look import AttentionMap
from saccade.nets import HeadParameters, MachineState, TuringMachine
from saccade.tasks.algorithms.maps import map_of_heads
from saccade.tasks.algorithms.net import LstmBaseline
from saccade.tasks.algorithms.problems import Episodes
from saccade.tasks.algorithms.result import MachineOutput
from saccade.tasks.algorithms.settings import NeuralTuringMachineSettings, NtmSettings
from saccade.tasks.algorithms.trace import Array, Trace
from saccade.tasks.batches import in_batches
from saccade.tasks.model import Model
from saccade.tasks.output import expect_output


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

    def maps(self, result: Trace | MachineOutput) -> list[AttentionMap]:
        """Where each head read or wrote, step by step: `[1, heads, steps, locations]`."""
        expect_output(result, Trace, MachineOutput)
        return [map_of_heads(result.attention)]

    def run(
        self,
        sequences: Iterable[Array],
        *,
        attention: bool = False,
        batch_size: int = 64,
        progress: Callable[[int], None] | None = None,
    ) -> list[MachineOutput]:
        """What the machine answers to each sequence `[T, I]`.

        attention  say where its heads were
        batch_size how many sequences go through the model at a time; no output depends on it
        progress   called with the number of sequences done since the last call
        """
        read = [self._expect(sequence, f"sequence {number}") for number, sequence in enumerate(sequences, start=1)]
        return in_batches(partial(self._run, attention=attention), read, batch_size=batch_size, progress=progress)

    def _run(self, sequences: Sequence[Array], *, attention: bool) -> list[MachineOutput]:
        """What comes after the end of a sequence, in a batch with longer ones, cannot change what came before."""
        inputs = np.zeros((len(sequences), max(map(len, sequences)), sequences[0].shape[1]), dtype=np.float32)
        for row, sequence in enumerate(sequences):
            inputs[row, : len(sequence)] = sequence
        weights: list[Tensor] = []
        with self.running():
            if attention and isinstance(self.net, TuringMachine):
                logits, _ = self.net(
                    torch.from_numpy(inputs), on_step=lambda number, state, parameters: weights.append(state.weights)
                )
            else:
                logits, _ = self.net(torch.from_numpy(inputs))
        shares = torch.sigmoid(logits).numpy()
        seen = torch.stack(weights, dim=2).numpy() if weights else None  # [B, H, T, N]
        return [
            MachineOutput(shares[row, : len(one)], None if seen is None else seen[row, None, :, : len(one)])
            for row, one in enumerate(sequences)
        ]

    def answers(self, episodes: Episodes) -> tuple[Array, Array]:
        """The logits of the steps that count, and what they should say: each `[B, steps, O]`."""
        with self.running():
            logits, _ = self.net(torch.from_numpy(episodes.inputs))
        return logits.numpy()[:, episodes.scored], episodes.targets[:, episodes.scored]

    def trace(self, inputs: Array, *, edits: dict[int, Callable[[Array], Array]] | None = None) -> Trace:
        """What the machine does with one sequence `[T, I]`.

        `edits` change the memory on the way, to see what follows from what is in it: after the step that each is for,
        it is given the memory `[N, M]`, and what it gives back is the memory from then on.
        """
        if not isinstance(self.net, TuringMachine):
            raise InputError("this model is an LSTM; it has no memory to look into")
        edits = edits or {}
        inputs = self._expect(inputs, "inputs")
        strange = [step for step in edits if step not in range(len(inputs))]
        if strange:
            raise InputError(f"edits: found step {strange[0]}, wanted 0 to {len(inputs) - 1}")
        steps: list[tuple[MachineState, HeadParameters]] = []

        def on_step(number: int, state: MachineState, parameters: HeadParameters) -> MachineState:
            if number in edits:
                before = state.memory[0].numpy()
                changed = edits[number](before.copy())
                if not isinstance(changed, np.ndarray) or changed.shape != before.shape:
                    raise InputError(f"edits: that of step {number} wants to return the memory, {list(before.shape)}")
                state = state._replace(memory=torch.from_numpy(changed.astype(np.float32))[None])
            steps.append((state, parameters))
            return state

        with self.running():
            logits, _ = self.net(torch.from_numpy(inputs[None]), on_step=on_step)
        states, parameters = [state for state, _ in steps], [one for _, one in steps]
        moves = torch.arange(self.net.sizes.shifts, dtype=torch.float32) - self.net.sizes.shifts // 2
        return Trace(
            inputs=inputs,
            outputs=torch.sigmoid(logits[0]).numpy(),
            adds=_by_head([one.add for one in parameters]),
            erases=_by_head([one.erase for one in parameters]),
            reads=_by_head([state.reads.unflatten(1, (self.net.sizes.read, -1)) for state in states]),
            gates=_by_head([one.addressing.gate for one in parameters]),
            betas=_by_head([one.addressing.beta for one in parameters]),
            gammas=_by_head([one.addressing.gamma for one in parameters]),
            shifts=_by_head([one.addressing.offsets @ moves for one in parameters]),
            memories=torch.cat([state.memory for state in states]).numpy(),
            attention=_by_head([state.weights for state in states])[None],
        )

    def _expect(self, sequence: Array, name: str) -> Array:
        wanted = self.settings.data.channels()[0]
        shape = sequence.shape if isinstance(sequence, np.ndarray) else None
        if shape is None or len(shape) != 2 or shape[0] == 0 or shape[1] != wanted:
            found = type(sequence).__name__ if shape is None else list(shape)
            raise InputError(f"{name}: found {found}, wanted an array [steps, {wanted}], with at least one step")
        return np.ascontiguousarray(sequence, dtype=np.float32)


def _by_head(steps: list[Tensor]) -> Array:
    """`T` times `[1, heads, ...]` -> `[heads, T, ...]`."""
    return torch.cat(steps).transpose(0, 1).contiguous().numpy()
