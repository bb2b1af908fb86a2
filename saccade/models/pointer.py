"""A trained pointer network: problems in, orders of their inputs out, with what was looked at on the way."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field, model_validator
from torch import Tensor, nn

from saccade.attention import SCORES, make_score
from saccade.attention.scores import POSITIONS
from saccade.data import END, START, ProblemKind, check_inputs, pad
from saccade.decode import beam_search, greedy_search
from saccade.errors import InputError
from saccade.models.evaluating import evaluating
from saccade.models.folder import load_model, read_settings, write_model
from saccade.models.search import expect
from saccade.models.settings import Layers, Share, Size
from saccade.nets import Encoded, LayerShape, PointerDecoder, SequenceEncoder, SetEncoder
from saccade.settings import Settings, one_of

_AT_ONCE = 128  # problems


class _PointingSettings(Settings):
    """How inputs are pointed at, however they were read."""

    inputs: Annotated[int, Field(ge=1, le=4096)]  # numbers of an input: 1 to sort, 2 for points
    dim: Size = 128
    layers: Layers = 1  # of the encoder
    score: Annotated[str, one_of(list(SCORES))] = "additive"
    once: bool = True  # no input is pointed at twice
    rescale: bool = True  # the inputs of each problem are brought to -1 ... 1, where that cannot change the answer
    dropout: Share = 0.0
    longest: Annotated[int, Field(ge=2, le=65_536)] = POSITIONS  # inputs of a problem, at most, END among them

    @model_validator(mode="after")
    def _even_and_within_reach(self) -> Self:
        if self.dim % 2:
            raise ValueError(f"dim: found {self.dim}, wanted an even number")
        if self.score in {"location", "mix"} and self.longest > POSITIONS:
            raise ValueError(f"longest: found {self.longest}, wanted at most {POSITIONS} with the {self.score} score")
        return self


class PointerLstmSettings(_PointingSettings):
    """Inputs are read one after the other, forward and backward, as published."""

    kind: Literal["lstm"]


class PointerTransformerSettings(_PointingSettings):
    """All inputs look at each other."""

    kind: Literal["transformer"]
    heads: Size = 4
    feed_forward: Size = 256
    positions: bool = True  # whether it knows in which order the inputs came; without, they are a set

    @model_validator(mode="after")
    def _heads_share_alike(self) -> Self:
        if self.dim % self.heads:
            raise ValueError(f"dim: found {self.dim}, wanted a multiple of heads, {self.heads}")
        return self


PointerModel = Annotated[PointerLstmSettings | PointerTransformerSettings, Field(discriminator="kind")]


class PointerSettings(Settings):
    """A model's config.yaml."""

    task: Literal["pointing"] = "pointing"
    problem: ProblemKind | None = None  # None: problems of the user's own
    fewest: Annotated[int, Field(ge=1)] = 1  # inputs of the problems that were learnt from
    most: Annotated[int, Field(ge=1)] = 1
    longest_answer: Annotated[int, Field(ge=1)] = 1  # of those, END not counted
    model: PointerModel


class PointerNet(nn.Module):
    """Inputs `[B, n, C]` and how many of them are real `[B]`, to places."""

    def __init__(self, settings: PointerLstmSettings | PointerTransformerSettings) -> None:
        super().__init__()
        self.encoder = _make_encoder(settings)
        score = make_score(settings.score, settings.dim, settings.dim)
        self.decoder = PointerDecoder(settings.dim, score=score, once=settings.once, dropout=settings.dropout)

    def encode(self, inputs: Tensor, lengths: Tensor) -> Encoded:
        return self.encoder(inputs, lengths)

    def loss(self, inputs: Tensor, lengths: Tensor, answers: Sequence[Sequence[int]]) -> Tensor:
        """The cross entropy of the places of the answers, END after them, summed over the batch."""
        previous = pad([[START, *as_tokens(answer)[:-1]] for answer in answers])  # [B, T]
        targets = pad([as_tokens(answer) for answer in answers])
        log_probs = self.decoder(self.encode(inputs, lengths), previous).log_softmax(-1)  # [B, T, S]
        chosen = log_probs.gather(-1, (targets - END).clamp(min=0)[..., None])[..., 0]
        return -chosen[targets >= END].sum()


def _make_encoder(settings: PointerLstmSettings | PointerTransformerSettings) -> SequenceEncoder | SetEncoder:
    if isinstance(settings, PointerLstmSettings):
        return SequenceEncoder(settings.inputs, settings.dim, layers=settings.layers, dropout=settings.dropout)
    shape = LayerShape(
        dim=settings.dim,
        heads=settings.heads,
        feed_forward=settings.feed_forward,
        norm="pre",
        positions="sinusoidal" if settings.positions else "none",
        score="scaled-dot",
        activation="relu",
        dropout=settings.dropout,
        attention_dropout=0.0,
    )
    return SetEncoder(settings.inputs, shape, layers=settings.layers)


def as_tokens(answer: Sequence[int]) -> list[int]:
    """The tokens of an answer, END last: those of the inputs come after END's."""
    return [*(place + END + 1 for place in answer), END]


@dataclass(frozen=True)
class Pointed:
    """The answer to a problem."""

    order: list[int]  # places of inputs, counted from 0
    score: float  # its log probability
    attention: NDArray[np.float32] | None  # [len(order) + 1, n + 1]: what each step looked at; END is last, of both


class Pointer:
    """A net with what it was made for. `saccade.load(folder)` gives one."""

    def __init__(self, net: PointerNet, settings: PointerSettings) -> None:
        self.net = net
        self.settings = settings

    @classmethod
    def make(cls, settings: PointerSettings) -> "Pointer":
        """A pointer that has learnt nothing yet; its weights come from torch's random numbers."""
        return cls(PointerNet(settings.model), settings)

    @classmethod
    def load(cls, folder: Path) -> "Pointer":
        """The pointer of a model's folder."""
        settings = read_settings(PointerSettings, folder)
        return load_model(lambda: cls.make(settings), folder)

    def save(self, folder: Path) -> None:
        """Write the model's folder; the weights last, so that a folder that has them is whole."""
        write_model(folder, self.settings, self.net)

    def point(
        self, problems: Sequence[Sequence[Any]], *, beam: int = 1, batch: int = _AT_ONCE, attention: bool = True
    ) -> list[Pointed]:
        """The answer to each problem: a list of numbers, or of points. A beam of 1 is greedy search."""
        expect("beam", beam, 1 <= beam <= 1000, "1 to 1000")
        expect("batch", batch, batch >= 1, "at least 1")
        if isinstance(problems, str) or not isinstance(problems, Sequence):
            raise InputError("problems: found no list, wanted a list of problems, each a list of numbers or of points")
        read = [self.read(problem, f"problem {number}") for number, problem in enumerate(problems, start=1)]
        results: list[Pointed] = []
        with evaluating(self.net):
            for first in range(0, len(read), batch):
                results.extend(self._point(read[first : first + batch], beam, attention=attention))
        return results

    def read(self, problem: Any, name: str) -> list[list[float]]:
        """A problem as this model wants it; one that it cannot take is an `InputError` with its name."""
        inputs = check_inputs(problem, name)
        size, model = len(inputs[0]), self.settings.model
        if size != model.inputs:
            wanted = "numbers" if model.inputs == 1 else f"points of {model.inputs} numbers"
            raise InputError(f"{name}: found inputs of {size} numbers each, wanted {wanted}, which this model learnt")
        if len(inputs) >= model.longest:
            raise InputError(
                f"{name}: found {len(inputs)} inputs, wanted at most {model.longest - 1}; train with a higher longest"
            )
        return inputs

    def as_input(self, problems: Sequence[Sequence[Sequence[float]]]) -> tuple[Tensor, Tensor]:
        """Problems as a batch: inputs `[B, n, C]`, zero after the last of each, and how many each has `[B]`."""
        lengths = torch.tensor([len(problem) for problem in problems])
        inputs = np.zeros((len(problems), int(lengths.max()), self.settings.model.inputs))
        for row, problem in enumerate(problems):
            values = np.asarray(problem, dtype=np.float64)
            inputs[row, : len(problem)] = rescaled(values) if self.settings.model.rescale else values
        return torch.from_numpy(inputs).float(), lengths

    def _point(self, problems: Sequence[Sequence[Sequence[float]]], beam: int, *, attention: bool) -> list[Pointed]:
        encoded, count = self.net.encode(*self.as_input(problems)), len(problems)
        limits = [len(problem) + 1 for problem in problems] if self.settings.model.once else [self._limit] * count
        if beam == 1:
            best = greedy_search(self.net.decoder, encoded, limits=limits)
        else:
            best = [
                group[0] for group in beam_search(self.net.decoder, encoded, beam=beam, limits=limits, patient=True)
            ]
        seen = self._seen(encoded, [one.ids for one in best]) if attention else [None] * count
        return [
            Pointed([token - END - 1 for token in one.ids[:-1]], one.log_prob, weights)
            for one, weights in zip(best, seen, strict=True)
        ]

    @property
    def _limit(self) -> int:
        """The tokens of an answer, at most, where inputs may be pointed at again and again."""
        return self.settings.longest_answer + 1

    def _seen(self, encoded: Encoded, ids: Sequence[Sequence[int]]) -> list[NDArray[np.float32]]:
        """What each step of these answers looked at, with END behind the real inputs."""
        weights = self.net.decoder(encoded, pad([[START, *row[:-1]] for row in ids])).softmax(-1)  # [B, T, S]
        places = encoded.mask[:, 0].sum(-1).tolist()
        return [
            weights[row, : len(tokens), :size].roll(-1, dims=-1).numpy()
            for row, (tokens, size) in enumerate(zip(ids, places, strict=True))
        ]


def rescaled(inputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Inputs `[n, C]` moved and stretched so that each of their numbers goes from -1 to 1; all equal ones become 0."""
    low, high = inputs.min(0), inputs.max(0)
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    return (inputs - middle) / np.where(half > 0, half, 1.0)
