"""What a machine is made of, as a recipe or a model's folder says it."""

from typing import Annotated, Literal

from pydantic import Field

from saccade.base.settings import Settings
from saccade.nets import ControllerKind, MemoryInit
from saccade.nets.settings import Size
from saccade.tasks.algorithms.problems import AlgorithmSettings

Heads = Annotated[int, Field(ge=1, le=64)]


class NtmSettings(Settings):
    """A Neural Turing Machine (Graves 2014)."""

    kind: Literal["ntm"]
    locations: Annotated[int, Field(ge=1, le=65_536)] = 128  # of the memory
    width: Size = 20  # numbers at each
    dim: Size = 100  # of the controller
    controller: ControllerKind = "feed-forward"
    read_heads: Heads = 1
    write_heads: Heads = 1
    shifts: Annotated[int, Field(ge=1, le=1001)] = 3  # locations that a head may move to: one back, stay, one on
    memory_init: MemoryInit = "random"
    step_clip: Annotated[float, Field(gt=0)] | None = None  # gradients are cut to this from step to step
    gate_bias: Annotated[
        float, Field(ge=-10, le=10)
    ] = -2.0  # reading heads begin by location below 0, by content above
    beta_bias: Annotated[float, Field(ge=-10, le=10)] = 0.0  # first β: the higher, the pickier about content


class LstmSettings(Settings):
    """An LSTM, which has no memory but its state."""

    kind: Literal["lstm"]
    dim: Size = 256
    layers: Annotated[int, Field(ge=1, le=16)] = 3


AlgorithmModel = Annotated[NtmSettings | LstmSettings, Field(discriminator="kind")]


class NeuralTuringMachineSettings(Settings):
    """A model's config.yaml."""

    task: Literal["algorithms"] = "algorithms"
    model: AlgorithmModel
    data: AlgorithmSettings
