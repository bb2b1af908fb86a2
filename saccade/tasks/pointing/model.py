"""A trained pointer network: problems in, orders of their inputs out, with what was looked at on the way."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from saccade.base.errors import InputError, expect
from saccade.decode import beam_search, greedy_search
from saccade.look import AttentionMap
from saccade.nets import Encoded
from saccade.tasks.batches import in_batches
from saccade.tasks.model import Model
from saccade.tasks.output import expect_output
from saccade.tasks.pointing.files import check_inputs
from saccade.tasks.pointing.maps import map_of_order
from saccade.tasks.pointing.net import PointerEncoderDecoder
from saccade.tasks.pointing.result import PointerOutput
from saccade.tasks.pointing.settings import PointerSettings
from saccade.text import END, START, pad

_AT_ONCE = 128  # problems
# Each step of an answer costs something, even if it is right. Ranked by the log probability alone, END at once is worth
# more than ten steps of which each is by far the likeliest, and a wide beam finds it where a narrow one does not.
_LENGTH_PENALTY = 1.0


class PointerNetwork(Model[PointerSettings, PointerEncoderDecoder]):
    """A net with what it was made for. `saccade.load(folder)` gives one."""

    config = PointerSettings

    def __init__(self, net: PointerEncoderDecoder, settings: PointerSettings) -> None:
        self.net = net
        self.settings = settings

    @classmethod
    def make(cls, settings: PointerSettings) -> Self:
        """A pointer network that has learnt nothing yet; its weights come from torch's random numbers."""
        return cls(PointerEncoderDecoder(settings.model), settings)

    @classmethod
    def maker(cls, settings: PointerSettings, folder: Path) -> Callable[[], Self]:
        return lambda: cls.make(settings)

    def maps(self, result: PointerOutput, *, name: str = "") -> list[AttentionMap]:
        """What each step looked at, of an answer that was made with `attention=True`."""
        expect_output(result, PointerOutput)
        return [map_of_order(result, name=name)]

    def point(
        self,
        problems: Sequence[Sequence[Any]],
        *,
        beam: int = 1,
        attention: bool = False,
        batch_size: int = _AT_ONCE,
        progress: Callable[[int], None] | None = None,
    ) -> list[PointerOutput]:
        """The answer to each problem: a list of numbers, or of points. A beam of 1 is greedy search.

        attention  say what each step looked at
        batch_size how many problems go through the model at a time; no output depends on it
        progress   called with the number of problems done since the last call
        """
        expect("beam", beam, 1 <= beam <= 1000, "1 to 1000")
        if isinstance(problems, str) or not isinstance(problems, Sequence):
            raise InputError("problems: found no list, wanted a list of problems, each a list of numbers or of points")
        read = [self.preprocess(problem, f"problem {number}") for number, problem in enumerate(problems, start=1)]
        with self.running():
            answer = partial(self._point, beam=beam, attention=attention)
            return in_batches(answer, read, batch_size=batch_size, progress=progress)

    def preprocess(self, problem: Any, name: str) -> list[list[float]]:
        """A problem as this model wants it; one that it cannot take is an `InputError` with its name."""
        inputs = check_inputs(problem, name)
        size, model = len(inputs[0]), self.settings.model
        if size != model.input_size:
            wanted = "numbers" if model.input_size == 1 else f"points of {model.input_size} numbers"
            raise InputError(f"{name}: found inputs of {size} numbers each, wanted {wanted}, which this model learnt")
        if len(inputs) >= model.max_length:
            raise InputError(
                f"{name}: found {len(inputs)} inputs, wanted at most {model.max_length - 1};"
                " train with a higher model.max_length"
            )
        return inputs

    def collate(self, problems: Sequence[Sequence[Sequence[float]]]) -> tuple[Tensor, Tensor]:
        """Problems as a batch: inputs `[B, n, C]`, zero after the last of each, and how many each has `[B]`."""
        lengths = torch.tensor([len(problem) for problem in problems])
        inputs = np.zeros((len(problems), int(lengths.max()), self.settings.model.input_size))
        for row, problem in enumerate(problems):
            values = np.asarray(problem, dtype=np.float64)
            inputs[row, : len(problem)] = rescaled(values) if self.settings.model.rescale else values
        return torch.from_numpy(inputs).float(), lengths

    def _point(self, problems: Sequence[list[list[float]]], beam: int, *, attention: bool) -> list[PointerOutput]:
        encoded, count = self.net.encode(*self.collate(problems)), len(problems)
        limits = (
            [len(problem) + 1 for problem in problems] if self.settings.model.mask_visited else [self._limit] * count
        )
        if beam == 1:
            best = greedy_search(self.net.decoder, encoded, limits=limits)
        else:
            best = [
                group[0]
                for group in beam_search(
                    self.net.decoder, encoded, beam=beam, limits=limits, alpha=_LENGTH_PENALTY, early_stopping=False
                )
            ]
        seen = self._seen(encoded, [one.ids for one in best]) if attention else [None] * count
        return [
            PointerOutput(inputs, [token - END - 1 for token in one.ids[:-1]], one.log_prob, weights)
            for inputs, one, weights in zip(problems, best, seen, strict=True)
        ]

    @property
    def _limit(self) -> int:
        """The tokens of an answer, at most, where inputs may be pointed at again and again."""
        return self.settings.max_answer_length + 1

    def _seen(self, encoded: Encoded, ids: Sequence[Sequence[int]]) -> list[NDArray[np.float32]]:
        """What each step of these answers looked at, with END behind the real inputs."""
        weights = self.net.decoder(encoded, pad([[START, *row[:-1]] for row in ids])).softmax(-1)  # [B, T, S]
        sizes = encoded.mask[:, 0].sum(-1).tolist()
        return [
            weights[row, None, None, : len(tokens), :size].roll(-1, dims=-1).numpy()
            for row, (tokens, size) in enumerate(zip(ids, sizes, strict=True))
        ]


def rescaled(inputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Inputs `[n, C]` moved and stretched so that each of their numbers goes from -1 to 1; all equal ones become 0."""
    low, high = inputs.min(0), inputs.max(0)
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    return (inputs - middle) / np.where(half > 0, half, 1.0)
