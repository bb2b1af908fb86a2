"""A trained translator: text in, text out, with what it looked at."""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from saccade.data import (
    END,
    Example,
    Tokens,
    Vocabularies,
    load_vocabularies,
    make_batch,
    pad,
    save_vocabularies,
)
from saccade.decode import Hypothesis, beam_search, greedy_search, length_penalty, sample
from saccade.errors import InputError
from saccade.files import write_file
from saccade.heap import keep_heap
from saccade.models.folder import CONFIG, WEIGHTS, expect_model, fill, read_tensors, tensors_of, write_tensors
from saccade.models.settings import TranslatorSettings
from saccade.models.translation_net import TranslationNet, make_net
from saccade.models.words import merge_to_words
from saccade.settings import check_settings, read_yaml, write_yaml


@dataclass(frozen=True)
class Translation:
    """A sentence in the other language, and what the model looked at for each of its words."""

    text: str
    score: float  # log probability, with penalties where they were asked for
    source_words: list[str]  # as they were written, `</s>` last
    target_words: list[str]  # `</s>` last
    attention: NDArray[np.float32] | None = None  # [layers, heads, target words, source words]
    alternatives: list["Translation"] = field(default_factory=list)  # the next best, if they were asked for

    def as_json(self) -> dict[str, Any]:
        """Plain lists and numbers; the attention is the mean over layers and heads."""
        attention = None if self.attention is None else self.attention.mean((0, 1), dtype=np.float64).round(4).tolist()
        record = {"text": self.text, "score": round(self.score, 4), "source_words": self.source_words}
        record |= {"target_words": self.target_words, "attention": attention}
        return record | {"alternatives": [other.as_json() for other in self.alternatives]}


@dataclass(frozen=True)
class Search:
    """How to find a translation. A beam of 1 is greedy search."""

    beam: int = 5
    nbest: int = 1  # how many translations of each sentence
    length_penalty: float = 1.0  # 0 ranks by the log probability alone, and so favours short ones
    coverage_penalty: float = 0.0  # above 0 favours those that looked at every word
    sampling: bool = False  # draw instead of search
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0
    seed: int = 0  # of the draws

    def __post_init__(self) -> None:
        _expect("beam", self.beam, 1 <= self.beam <= 1000, "1 to 1000")
        _expect("nbest", self.nbest, self.nbest >= 1, "at least 1")
        if not self.sampling:
            _expect("nbest", self.nbest, self.nbest <= self.beam, f"at most beam, {self.beam}")
        if not self.sampling:
            for name, value, usual in (
                ("temperature", self.temperature, 1.0),
                ("top_k", self.top_k, None),
                ("top_p", self.top_p, 1.0),
            ):
                _expect(name, value, value == usual, "sampling with it, which was not asked for")
        _expect("length_penalty", self.length_penalty, 0 <= self.length_penalty <= 10, "0 to 10")
        _expect("coverage_penalty", self.coverage_penalty, 0 <= self.coverage_penalty <= 10, "0 to 10")
        _expect("temperature", self.temperature, 0 < self.temperature <= 100, "above 0, up to 100")
        _expect("top_k", self.top_k, self.top_k is None or self.top_k >= 1, "at least 1")
        _expect("top_p", self.top_p, 0 < self.top_p <= 1, "above 0, up to 1")


def _expect(name: str, found: object, fits: bool, wanted: str) -> None:  # noqa: FBT001
    if not fits:
        raise InputError(f"{name}: found {found}, wanted {wanted}")


class Translator:
    """A net with its vocabularies. `saccade.load(folder)` gives one."""

    def __init__(self, net: TranslationNet, vocabularies: Vocabularies, settings: TranslatorSettings) -> None:
        self.net = net
        self.vocabularies = vocabularies
        self.settings = settings

    @classmethod
    def make(cls, settings: TranslatorSettings, vocabularies: Vocabularies) -> "Translator":
        """A translator that has learnt nothing yet; its weights come from torch's random numbers."""
        sizes = {"source_size": len(vocabularies.source), "target_size": len(vocabularies.target)}
        return cls(make_net(settings.model, **sizes, joint=vocabularies.joint), vocabularies, settings)

    @classmethod
    def load(cls, folder: Path) -> "Translator":
        """The translator of a model's folder. From now on the process keeps the memory that it frees (`keep_heap`)."""
        keep_heap()
        expect_model(folder)
        settings = check_settings(TranslatorSettings, read_yaml(folder / CONFIG), where=str(folder / CONFIG))
        translator = cls.make(settings, load_vocabularies(settings.vocabulary, folder))
        fill(translator.net, read_tensors(folder / WEIGHTS), where=str(folder / WEIGHTS))
        translator.net.eval()
        return translator

    def save(self, folder: Path) -> None:
        """Write the model's folder; the weights last, so that a folder that has them is whole."""
        save_vocabularies(self.vocabularies, self.settings.vocabulary, folder)
        write_file(folder / CONFIG, write_yaml(self.settings).encode())
        write_tensors(folder / WEIGHTS, tensors_of(self.net))

    def translate(
        self,
        sentences: Sequence[str],
        *,
        attention: bool = False,
        prefixes: Sequence[str] | None = None,
        batch: int = 64,
        progress: Callable[[int], None] | None = None,
        **search: Any,
    ) -> list[Translation]:
        """Translate plain sentences, in their order, each as if it were alone.

        attention  say what was looked at, word by word
        prefixes   for each sentence, the text that its translation has to begin with
        batch      how many sentences go through the model at a time; no output depends on it
        progress   called with the number of sentences done since the last call
        search     the fields of `Search`, such as beam=5, nbest=3, length_penalty=1.0, sampling=True
        """
        unknown = [name for name in search if name not in Search.__dataclass_fields__]
        if unknown:
            raise InputError(
                f"{', '.join(unknown)}: no such option; there are {', '.join(Search.__dataclass_fields__)}"
            )
        how = Search(**search)
        _expect("batch", batch, batch >= 1, "at least 1")
        if isinstance(sentences, str):
            raise InputError("sentences: found one text, wanted a list of them; write [text]")
        if not all(isinstance(text, str) for text in (*sentences, *(prefixes or ()))):
            raise InputError("sentences: found something that is not text among them, wanted a list of texts")
        if prefixes is not None and len(prefixes) != len(sentences):
            raise InputError(f"prefixes: found {len(prefixes)}, wanted {len(sentences)}, one for each sentence")
        sources = [self.read(text, f"sentence {number}") for number, text in enumerate(sentences, start=1)]
        starts = [self._prefix(text) for text in (prefixes or [""] * len(sentences))]
        results: list[Translation] = [Translation("", 0.0, source.words, [source.words[-1]]) for source in sources]
        # sentences of similar length go together; an empty one stays empty
        order = sorted((len(source.ids), place) for place, source in enumerate(sources) if len(source.ids) > 1)
        for first in range(0, len(order), batch):
            places = [place for _, place in order[first : first + batch]]
            chosen = [sources[place] for place in places]
            with self._evaluating():
                found = self._search(chosen, [starts[place] for place in places], [sentences[p] for p in places], how)
            for place, translations in zip(places, self._describe(chosen, found, attention=attention), strict=True):
                results[place] = translations
            if progress is not None:
                progress(len(places))
        return results

    @contextmanager
    def _evaluating(self) -> Iterator[None]:
        """Without dropout and gradients, whatever the net is doing otherwise."""
        was_training = self.net.training
        self.net.eval()
        try:
            with torch.inference_mode():
                yield
        finally:
            self.net.train(was_training)

    def read(self, text: str, where: str) -> Tokens:
        """The tokens of a source sentence; too many of them are refused."""
        tokens = self.vocabularies.source.encode(text)
        if len(tokens.ids) > self.net.longest:
            raise InputError(
                f"{where}: {len(tokens.words) - 1} words, {len(tokens.ids)} tokens; this model reads at most"
                f" {self.net.longest} tokens at a time: split the sentence"
            )
        return tokens

    def _prefix(self, text: str) -> list[int]:
        return [number for number in self.vocabularies.target.encode(text).ids if number != END]

    def _search(
        self, sources: list[Tokens], prefixes: list[list[int]], texts: list[str], how: Search
    ) -> list[list[Hypothesis]]:
        limits = [min(3 * len(source.ids) + 20, self.net.longest) for source in sources]
        repeat = how.nbest if how.sampling else 1
        rows = [source.ids for source in sources for _ in range(repeat)]
        encoded = self.net.encode(pad(rows), torch.tensor([len(row) for row in rows]))
        decoder = self.net.decoder
        if how.sampling:
            chances = [_chances(how.seed, text, n, max(limits)) for text in texts for n in range(repeat)]
            drawn = sample(
                decoder,
                encoded,
                limits=[limit for limit in limits for _ in range(repeat)],
                prefixes=[prefix for prefix in prefixes for _ in range(repeat)],
                chances=torch.tensor(chances, dtype=torch.float64),
                temperature=how.temperature,
                top_k=how.top_k,
                top_p=how.top_p,
            )
            return [drawn[first : first + repeat] for first in range(0, len(drawn), repeat)]
        if how.beam == 1 and not how.coverage_penalty:
            found = greedy_search(decoder, encoded, limits=limits, prefixes=prefixes)
            alpha = (
                how.length_penalty
            )  # with one hypothesis there is nothing to rank, but its score is on the same scale
            return [[one._replace(score=one.log_prob / length_penalty(len(one.ids), alpha))] for one in found]
        return beam_search(
            decoder,
            encoded,
            beam=how.beam,
            best=how.nbest,
            limits=limits,
            prefixes=prefixes,
            alpha=how.length_penalty,
            beta=how.coverage_penalty,
        )

    def _describe(self, sources: list[Tokens], found: list[list[Hypothesis]], *, attention: bool) -> list[Translation]:
        """Hypotheses as text, the best of each sentence first with the others as its alternatives."""
        flat = [(source, hypothesis) for source, group in zip(sources, found, strict=True) for hypothesis in group]
        maps: list[NDArray[np.float32] | None] = [None] * len(flat)
        if attention:
            maps = self.attention_of([source for source, _ in flat], [hypothesis.ids for _, hypothesis in flat])
        described: list[Translation] = []
        for (source, hypothesis), weights in zip(flat, maps, strict=True):
            text, target = self.vocabularies.target.decode(hypothesis.ids)
            described.append(Translation(text, hypothesis.score, source.words, target.words, weights))
        results: list[Translation] = []
        for group in found:
            best, *others = described[: len(group)]
            del described[: len(group)]
            results.append(
                Translation(best.text, best.score, best.source_words, best.target_words, best.attention, others)
            )
        return results

    def attention_of(self, sources: list[Tokens], targets: list[list[int]]) -> list[NDArray[np.float32] | None]:
        """What is looked at while each target is written, for words: `[layers, heads, target words, source words]`.

        The targets go through the decoder once more, all at once, so that a search need not carry weights along.
        """
        batch = make_batch([Example(source.ids, ids) for source, ids in zip(sources, targets, strict=True)])
        with self._evaluating():
            weights = self.net(batch, need_weights=True).weights  # [B, L, H, T, S]
        if weights is None:
            return [None] * len(sources)
        maps: list[NDArray[np.float32] | None] = []
        for row, (source, ids) in enumerate(zip(sources, targets, strict=True)):
            word_of = self.vocabularies.target.decode(ids)[1].word_of
            real = weights[row, :, :, : len(ids), : len(source.ids)].float().numpy()
            maps.append(merge_to_words(real, word_of, source.word_of, words=len(source.words)))
        return maps


def _chances(seed: int, text: str, number: int, count: int) -> list[float]:
    """Numbers in [0, 1) that belong to this text, whatever stands beside it in its batch."""
    chance = random.Random(f"{seed} {number} {text}")  # noqa: S311
    return [chance.random() for _ in range(count)]
