"""A trained text classifier: texts in, their labels out, with which words decided."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from saccade.base.errors import InputError
from saccade.look import AttentionMap
from saccade.runtime.allocator import keep_heap
from saccade.tasks.batches import in_batches
from saccade.tasks.model import Model
from saccade.tasks.output import expect_output
from saccade.tasks.text_classification.labelled import as_read
from saccade.tasks.text_classification.maps import maps_of
from saccade.tasks.text_classification.net import NetOutput, TextNet, make_net
from saccade.tasks.text_classification.result import LabelledOutput
from saccade.tasks.text_classification.settings import TextClassifierSettings, TextCnnSettings
from saccade.text import START, UNKNOWN, pad
from saccade.text.vocabularies.running import RunningVocabulary, load_running_vocabulary, save_running_vocabulary

_MOST_CHARACTERS = 1 << 20


class Read(NamedTuple):
    """A text as a model reads it."""

    text: str
    ids: list[int]  # a start first
    unknown: int  # tokens among them
    cut: str  # what was done about its length

    @property
    def note(self) -> str:
        """What else there is to know of it."""
        unknown = f"{self.unknown:,} of {len(self.ids) - 1:,} tokens are not in the vocabulary" if self.unknown else ""
        return "; ".join(filter(None, (self.cut, unknown)))


class TextClassifier(Model[TextClassifierSettings, TextNet]):
    """A net with its vocabulary and the names of its labels. `saccade.load(folder)` gives one."""

    config = TextClassifierSettings

    def __init__(self, net: TextNet, vocabulary: RunningVocabulary, settings: TextClassifierSettings) -> None:
        self.net = net
        self.vocabulary = vocabulary
        self.settings = settings

    @classmethod
    def make(cls, settings: TextClassifierSettings, vocabulary: RunningVocabulary) -> Self:
        """A classifier that has learnt nothing yet; its weights come from torch's random numbers."""
        net = make_net(settings.model, size=len(vocabulary), labels=len(settings.labels))
        return cls(net, vocabulary, settings)

    @classmethod
    def maker(cls, settings: TextClassifierSettings, folder: Path) -> Callable[[], Self]:
        keep_heap()
        vocabulary = load_running_vocabulary(settings.vocabulary, folder)
        return lambda: cls.make(settings, vocabulary)

    def save_files(self, folder: Path) -> list[Path]:
        return [save_running_vocabulary(self.vocabulary, self.settings.vocabulary, folder)]

    def maps(self, result: LabelledOutput, *, name: str = "") -> list[AttentionMap]:
        """Which tokens decided, and what they saw of each other, of a result with `attention=True`."""
        expect_output(result, LabelledOutput)
        return maps_of(result, looks=self.looks, name=name)

    @property
    def looks(self) -> bool:
        """Whether the net tells what it looked at."""
        model = self.settings.model
        if isinstance(model, TextCnnSettings) or model.pooling in {"attention", "max"}:
            return True
        return model.kind == "transformer" or model.score != "none"

    def classify(
        self,
        texts: Sequence[str],
        *,
        attention: bool = False,
        batch_size: int = 64,
        progress: Callable[[int], None] | None = None,
    ) -> list[LabelledOutput]:
        """Say which label each of the texts has, as if it were alone. A long one is read as far as the model can.

        attention  say which tokens decided, and what they looked at
        batch_size how many texts go through the model at a time; no output depends on it
        progress   called with the number of texts done since the last call
        """
        if isinstance(texts, str) or not isinstance(texts, Sequence):
            raise InputError("texts: found one text, wanted a list of them; write [text]")
        if not all(isinstance(text, str) for text in texts):
            raise InputError("texts: found something that is not text among them, wanted a list of texts")
        read = [self.read(text, f"text {number}") for number, text in enumerate(texts, start=1)]
        answer = partial(self.classify_read, attention=attention)
        return in_batches(answer, read, batch_size=batch_size, progress=progress, size=lambda text: len(text.ids))

    def read(self, text: str, where: str) -> Read:
        """A text as tokens, a start first; what is no text, or has no word, is refused."""
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise InputError(f"{where}: found half a character in it, wanted text that can be written as UTF-8")
        if not text.strip():
            raise InputError(f"{where}: found nothing, wanted a text")
        if len(text) > _MOST_CHARACTERS:
            raise InputError(f"{where}: {len(text):,} characters, wanted at most {_MOST_CHARACTERS:,}; shorten it")
        ids: list[int] = self.vocabulary.encode_ids(as_read(text)).tolist()
        most = self.settings.model.max_length - 1
        cut = f"of {len(ids):,} tokens, the model reads the first {most:,}" if len(ids) > most else ""
        ids = ids[:most]
        return Read(text, [START, *ids], ids.count(UNKNOWN), cut)

    def classify_read(self, texts: Sequence[Read], *, attention: bool = False) -> list[LabelledOutput]:
        """The same for texts that `read` gave."""
        lengths = [len(one.ids) for one in texts]
        with self.running():
            output = self.net(pad([one.ids for one in texts]), torch.tensor(lengths), need_weights=attention)
            shares = output.logits.float().softmax(-1)
        return [self._result(one, row, shares[row], output) for row, one in enumerate(texts)]

    def _result(self, one: Read, row: int, shares: Tensor, output: NetOutput) -> LabelledOutput:
        labels, length = self.settings.labels, len(one.ids)
        order = shares.argsort(descending=True, stable=True).tolist()
        probabilities = {labels[index]: float(shares[index]) for index in order}
        label = labels[order[0]]
        weights = None if output.weights is None else _array(output.weights[row, None, None, None, : length - 1])
        self_weights = None if output.self_weights is None else _square(output.self_weights[row], length)
        return LabelledOutput(
            one.text, label, probabilities[label], probabilities, self._tokens(one), one.note, weights, self_weights
        )

    def _tokens(self, one: Read) -> list[str]:
        """What was read; of what the vocabulary does not have, the word that stands there."""
        words = [word for word, ids in self.vocabulary.split(as_read(one.text)) for _ in ids] if one.unknown else []
        return [
            words[place] if number == UNKNOWN else self.vocabulary.piece(number)
            for place, number in enumerate(one.ids[1:])
        ]


def _square(weights: Tensor, length: int) -> NDArray[np.float32]:
    """What the tokens saw of each other, `[L, H, T, S]` -> `[L, H, length, length]`.

    A recurrent net has one state less to look at: the last is nobody's past.
    """
    weights = weights[..., :length, :length]
    return _array(F.pad(weights, (0, length - weights.shape[-1])))


def _array(weights: Tensor) -> NDArray[np.float32]:
    return weights.to(torch.float32).numpy().copy()
