"""A trained language model: a text in, more of it out, or how well it was foreseen."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from saccade.base.errors import InputError
from saccade.look import AttentionMap, HeadMeasures, ScoredTokens, measure_heads
from saccade.metrics import score_text
from saccade.nets import LanguageNet, make_language_net
from saccade.runtime.allocator import keep_heap
from saccade.tasks.batches import in_batches
from saccade.tasks.language_modeling.heads import readings_of
from saccade.tasks.language_modeling.maps import maps_of
from saccade.tasks.language_modeling.result import Generated, ScoredText
from saccade.tasks.language_modeling.scoring import score_tokens, self_attention
from saccade.tasks.language_modeling.settings import LanguageModelSettings
from saccade.tasks.language_modeling.spelling import spell
from saccade.tasks.language_modeling.stream import TextStream
from saccade.tasks.language_modeling.writing import Writing, WritingOptions, Written, read_writing, write_on
from saccade.tasks.model import Model
from saccade.tasks.output import expect_output
from saccade.text import END, START, UNKNOWN
from saccade.text.vocabularies.running import (
    RunningVocabulary,
    load_running_vocabulary,
    save_running_vocabulary,
)

_WINDOWS = 64  # of texts that are scored, at a time


class Read(NamedTuple):
    """A text as a model reads it."""

    text: str
    ids: list[int]
    note: str  # what is unknown in it


class LanguageModel(Model[LanguageModelSettings, LanguageNet]):
    """A net with its vocabulary. `saccade.load(folder)` gives one."""

    config = LanguageModelSettings

    def __init__(self, net: LanguageNet, vocabulary: RunningVocabulary, settings: LanguageModelSettings) -> None:
        self.net = net
        self.vocabulary = vocabulary
        self.settings = settings

    @classmethod
    def make(cls, settings: LanguageModelSettings, vocabulary: RunningVocabulary) -> Self:
        """A language model that has learnt nothing yet; its weights come from torch's random numbers."""
        return cls(make_language_net(settings.model, size=len(vocabulary)), vocabulary, settings)

    @classmethod
    def maker(cls, settings: LanguageModelSettings, folder: Path) -> Callable[[], Self]:
        keep_heap()
        vocabulary = load_running_vocabulary(settings.vocabulary, folder)
        return lambda: cls.make(settings, vocabulary)

    def save_files(self, folder: Path) -> list[Path]:
        return [save_running_vocabulary(self.vocabulary, self.settings.vocabulary, folder)]

    def maps(self, result: Generated | ScoredText, *, name: str = "") -> list[AttentionMap]:
        """What each token looked at when it was written, of a result with `attention=True`."""
        expect_output(result, Generated, ScoredText)
        return maps_of(result, looks=self.looks, name=name)

    def surprise(self, result: ScoredText, *, name: str = "") -> ScoredTokens:
        """How surprising each token was, in bits, of a result of `score`."""
        return ScoredTokens(spell(self.vocabulary, result.text), np.array(result.log_probs) / -np.log(2), name)

    def measure_heads(self, texts: Sequence[str]) -> HeadMeasures:
        """What each head looks back to while it reads the texts, beside chance: see `saccade.look.measure_heads`."""
        _expect_texts(texts, "texts")
        if not self.looks:
            raise InputError("the model looks at nothing; it has no heads to measure")
        read = [self.read(text, f"text {number}") for number, text in enumerate(texts, start=1)]
        with self.running():
            return measure_heads(
                reading
                for one in read
                for reading in readings_of(self.net, one.ids, spell(self.vocabulary, one.text), self.settings.model)
            )

    @property
    def context(self) -> int:
        """How many tokens the model looks back over."""
        return self.settings.model.max_length

    @property
    def looks(self) -> bool:
        """Whether the net looks at what it read before."""
        return self.settings.model.kind == "transformer" or self.settings.model.score != "none"

    def generate(
        self,
        prompts: Sequence[str],
        *,
        attention: bool = False,
        batch_size: int = 64,
        progress: Callable[[int], None] | None = None,
        **how: Unpack[WritingOptions],
    ) -> list[Generated]:
        """Write on from each of the prompts, as if it were alone; one may be empty.

        attention  say what each token of prompt and text looked at
        batch_size how many prompts go through the model at a time; no output depends on it
        progress   called with the number of prompts done since the last call
        how        the fields of `Writing`, such as tokens=100, temperature=0.8, top_k=40, top_p=0.9, samples=3, seed=1
        """
        writing = read_writing(how)
        _expect_texts(prompts, "prompts")
        read = [self.read(text, f"prompt {number}") for number, text in enumerate(prompts, start=1)]
        generate = partial(self._generated, how=writing, attention=attention)
        return in_batches(generate, read, batch_size=batch_size, progress=progress, size=lambda prompt: len(prompt.ids))

    def stream(self, prompt: str, told: Callable[[str], None], **how: Unpack[WritingOptions]) -> Generated:
        """Write on from one prompt; `told` is told the text as it is written, some characters at a time."""
        writing = read_writing(how)
        if writing.samples != 1:
            raise InputError(f"samples: found {writing.samples}, wanted 1: only one text can be shown as it is written")
        _expect_texts([prompt], "prompt")
        text = TextStream(self.vocabulary)
        (found,) = self._generated(
            [self.read(prompt, "prompt")], how=writing, attention=False, token=lambda token: told(text.add(token))
        )
        told(text.rest())
        return found

    def score(
        self,
        texts: Sequence[str],
        *,
        sliding: bool = True,
        attention: bool = False,
        batch_size: int = 64,
        progress: Callable[[int], None] | None = None,
    ) -> list[ScoredText]:
        """How likely each token of each text is, after those before it.

        sliding    of a text that is longer than the context, each window begins with the second half of the one before,
                   so that much is always seen; otherwise where that one ended, which is quicker
        attention  say what each token looked at
        batch_size how many texts go through the model at a time; no output depends on it
        progress   called with the number of texts done since the last call
        """
        _expect_texts(texts, "texts")
        read = [self.read(text, f"text {number}") for number, text in enumerate(texts, start=1)]
        for number, one in enumerate(read, start=1):
            if not one.ids:
                raise InputError(f"text {number}: found nothing, wanted a text")
        score = partial(self.score_read, sliding=sliding, attention=attention)
        return in_batches(score, read, batch_size=batch_size, progress=progress, size=lambda text: len(text.ids))

    def read(self, text: str, where: str) -> Read:
        """A text as tokens, without an end; what is no text is refused."""
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise InputError(f"{where}: found half a character in it, wanted text that can be written as UTF-8")
        ids: list[int] = self.vocabulary.encode_ids(text).tolist()
        unknown = ids.count(UNKNOWN)
        note = f"{unknown:,} of {len(ids):,} tokens are not in the vocabulary" if unknown else ""
        return Read(text, ids, note)

    def score_read(self, texts: Sequence[Read], *, sliding: bool = True, attention: bool = False) -> list[ScoredText]:
        """The same for texts that `read` gave."""
        with self.running():
            ids = [np.array(one.ids) for one in texts]
            all_found = score_tokens(self.net, ids, context=self.context, sliding=sliding, batch_size=_WINDOWS)
            seen = [self._attention(one.ids) if attention else None for one in texts]
        results: list[ScoredText] = []
        for one, log_probs, weights in zip(texts, all_found, seen, strict=True):
            log_prob = float(log_probs.sum(dtype=np.float64))
            size = {"characters": len(one.text), "utf8_bytes": len(one.text.encode())}
            figures = score_text(log_prob, tokens=len(one.ids), **size)
            pieces = [self.vocabulary.piece(number) for number in one.ids]
            measured = (log_probs.tolist(), log_prob, figures.perplexity, figures.bits_per_character)
            results.append(ScoredText(one.text, pieces, *measured, self._note(one.note, len(one.ids)), weights))
        return results

    def _generated(
        self,
        prompts: Sequence[Read],
        *,
        how: Writing,
        attention: bool,
        token: Callable[[int], None] | None = None,
    ) -> list[Generated]:
        """Prompts of one length are written on together."""
        results: dict[int, Generated] = {}
        order = sorted(range(len(prompts)), key=lambda number: len(prompts[number].ids))
        with self.running():
            for _, group in groupby(order, key=lambda number: len(prompts[number].ids)):
                numbers = list(group)
                here = [prompts[number] for number in numbers]
                ids, names = [one.ids for one in here], [one.text for one in here]
                written = write_on(self.net, ids, names, how, context=self.context, told=token)
                for number, prompt, samples in zip(numbers, here, written, strict=True):
                    first, *others = (self._result(prompt, one, attention=attention) for one in samples)
                    results[number] = replace(first, alternatives=others)
        return [results[number] for number in range(len(prompts))]

    def _result(self, prompt: Read, written: Written, *, attention: bool) -> Generated:
        ids = [*prompt.ids, *written.ids]
        pieces = [self.vocabulary.piece(number) for number in ids]
        text = self.vocabulary.text([number for number in written.ids if number != END])
        cut, note = len(prompt.ids), self._note(prompt.note, len(ids))
        seen = self._attention(ids) if attention else None
        return Generated(prompt.text, text, pieces[:cut], pieces[cut:], written.log_probs, note, [], seen)

    def _attention(self, ids: list[int]) -> NDArray[np.float32] | None:
        return self_attention(self.net, [START, *ids[:-1]][-self.context :]) if self.looks else None

    def _note(self, note: str, length: int) -> str:
        """The note, with what there is to say of a text of `length` tokens."""
        if length <= self.context:
            return note
        slid = f"of {length:,} tokens, the model looks back over at most {self.context:,}; the window slid"
        return f"{note}; {slid}" if note else slid


def _expect_texts(texts: Sequence[str], name: str) -> None:
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        raise InputError(f"{name}: found one text, wanted a list of them; write [text]")
    if not all(isinstance(text, str) for text in texts):
        raise InputError(f"{name}: found something that is not text among them, wanted a list of texts")
