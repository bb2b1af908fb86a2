"""A machine that learnt an algorithm: bits in, bits out, by way of a memory that can be looked into and changed."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor, nn

from saccade.data import AlgorithmSettings, Episodes
from saccade.errors import InputError
from saccade.models.evaluating import evaluating
from saccade.models.folder import load_model, read_settings, write_model
from saccade.models.settings import Size
from saccade.nets import ControllerKind, FirstMemory, MachineState, Told, TuringMachine
from saccade.settings import Settings

Heads = Annotated[int, Field(ge=1, le=64)]
Array = NDArray[np.float32]


class NtmSettings(Settings):
    """A Neural Turing Machine (Graves 2014)."""

    kind: Literal["ntm"]
    places: Annotated[int, Field(ge=1, le=65_536)] = 128  # of the memory
    width: Size = 20  # numbers at each
    dim: Size = 100  # of the controller
    controller: ControllerKind = "feed-forward"
    read_heads: Heads = 1
    write_heads: Heads = 1
    shifts: Annotated[int, Field(ge=1, le=1001)] = 3  # places that a head may move to: one back, stay, one on
    first_memory: FirstMemory = "random"
    step_clip: Annotated[float, Field(gt=0)] | None = None  # gradients are cut to this from step to step
    gate_bias: Annotated[float, Field(ge=-10, le=10)] = -2.0  # reading heads begin by place below 0, by content above
    strength_bias: Annotated[float, Field(ge=-10, le=10)] = 0.0  # first β: the higher, the pickier about content


class BaselineSettings(Settings):
    """An LSTM, which has no memory but its state."""

    kind: Literal["lstm"]
    dim: Size = 256
    layers: Annotated[int, Field(ge=1, le=16)] = 3


MachineModel = Annotated[NtmSettings | BaselineSettings, Field(discriminator="kind")]


class MachineSettings(Settings):
    """A model's config.yaml."""

    task: Literal["algorithm"] = "algorithm"
    model: MachineModel
    data: AlgorithmSettings


class LstmBaseline(nn.Module):
    """Inputs `[B, T, I]` to logits `[B, T, O]`."""

    def __init__(self, inputs: int, outputs: int, *, dim: int, layers: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(inputs, dim, layers, batch_first=True)
        self.answer = nn.Linear(dim, outputs)

    def forward(self, inputs: Tensor) -> tuple[Tensor, None]:
        return self.answer(self.lstm(inputs)[0]), None


@dataclass(frozen=True)
class Trace:
    """What a machine did with one sequence, step by step. Letters: `T` steps, `N` places, `M` numbers at each."""

    inputs: Array  # [T, I]
    outputs: Array  # [T, O], how likely a 1 is
    adds: Array  # [W, T, M], by each head that writes
    erases: Array  # [W, T, M]
    reads: Array  # [R, T, M], by each head that reads
    weights: Array  # [H, T, N], the R that read first
    gates: Array  # [H, T], g: 0 is where it was, 1 is where the content is
    strengths: Array  # [H, T], β of the content
    powers: Array  # [H, T], γ of the sharpening
    shifts: Array  # [H, T], the mean move in places
    memories: Array  # [T, N, M], after each step

    @property
    def read_weights(self) -> Array:
        """`[R, T, N]`."""
        return self.weights[: len(self.reads)]

    @property
    def write_weights(self) -> Array:
        """`[W, T, N]`."""
        return self.weights[len(self.reads) :]


class MemoryMachine:
    """A net with the problem that it learnt. `saccade.load(folder)` gives one."""

    def __init__(self, net: TuringMachine | LstmBaseline, settings: MachineSettings) -> None:
        self.net = net
        self.settings = settings

    @classmethod
    def make(cls, settings: MachineSettings) -> "MemoryMachine":
        """A machine that has learnt nothing yet; its weights come from torch's random numbers."""
        inputs, outputs = settings.data.channels()
        how = settings.model.model_dump(exclude={"kind"})
        kind = TuringMachine if isinstance(settings.model, NtmSettings) else LstmBaseline
        return cls(kind(inputs, outputs, **how), settings)

    @classmethod
    def load(cls, folder: Path) -> "MemoryMachine":
        """The machine of a model's folder."""
        settings = read_settings(MachineSettings, folder)
        return load_model(lambda: cls.make(settings), folder)

    def save(self, folder: Path) -> None:
        """Write the model's folder; the weights last, so that a folder that has them is whole."""
        write_model(folder, self.settings, self.net)

    def run(self, inputs: Array) -> Array:
        """Inputs `[B, T, I]` to logits `[B, T, O]`: above 0 where a 1 is likelier."""
        with evaluating(self.net):
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
        steps: list[tuple[MachineState, Told]] = []

        def watch(number: int, state: MachineState, told: Told) -> MachineState:
            if number in edits:
                before = state.memory[0].numpy()
                changed = edits[number](before.copy())
                if not isinstance(changed, np.ndarray) or changed.shape != before.shape:
                    raise InputError(f"edits: that of step {number} wants to return the memory, {list(before.shape)}")
                state = state._replace(memory=torch.from_numpy(changed.astype(np.float32))[None])
            steps.append((state, told))
            return state

        with evaluating(self.net):
            logits, _ = self.net(self._expect(inputs[None]), watch=watch)
        states, told = [state for state, _ in steps], [one for _, one in steps]
        moves = torch.arange(self.net.sizes.shifts, dtype=torch.float32) - self.net.sizes.shifts // 2
        return Trace(
            inputs=np.asarray(inputs, dtype=np.float32),
            outputs=torch.sigmoid(logits[0]).numpy(),
            adds=_by_head([one.add for one in told]),
            erases=_by_head([one.erase for one in told]),
            reads=_by_head([state.reads.unflatten(1, (self.net.sizes.read, -1)) for state in states]),
            weights=_by_head([state.weights for state in states]),
            gates=_by_head([one.where.gate for one in told]),
            strengths=_by_head([one.where.strength for one in told]),
            powers=_by_head([one.where.power for one in told]),
            shifts=_by_head([one.where.offsets @ moves for one in told]),
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
