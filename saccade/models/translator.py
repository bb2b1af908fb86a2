"""A trained translator: text in, text out, with what it looked at."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from saccade.data import (
    END,
    UNKNOWN,
    Tokens,
    Vocabularies,
    load_vocabularies,
    pad,
    save_vocabularies,
)
from saccade.decode import UNTRACED, Hypothesis, Trace
from saccade.errors import InputError
from saccade.heap import keep_heap
from saccade.models.evaluating import evaluating
from saccade.models.folder import read_settings, read_weights, write_model
from saccade.models.reading import Reading, read_along
from saccade.models.search import Search, TreeNode, expect, find, read_search
from saccade.models.settings import TranslatorSettings
from saccade.models.translation_net import TranslationNet, make_net
from saccade.precision import products_in


@dataclass(frozen=True)
class Translation:
    """A sentence in the other language, and what the model looked at for each of its words."""

    text: str
    score: float  # log probability, with penalties where they were asked for
    source_words: list[str]  # as they were written, `</s>` last
    target_words: list[str]  # `</s>` last
    attention: NDArray[np.float32] | None = None  # [layers, heads, target words, source words]
    alternatives: list["Translation"] = field(default_factory=list)  # the next best, if they were asked for
    reading: Reading | None = None  # all that was looked at, with the attention

    def as_json(self) -> dict[str, Any]:
        """Plain lists and numbers; the attention is the mean over layers and heads."""
        attention = None if self.attention is None else self.attention.mean((0, 1), dtype=np.float64).round(4).tolist()
        record = {"text": self.text, "score": round(self.score, 4), "source_words": self.source_words}
        record |= {"target_words": self.target_words, "attention": attention}
        return record | {"alternatives": [other.as_json() for other in self.alternatives]}


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
        settings = read_settings(TranslatorSettings, folder)
        translator = cls.make(settings, load_vocabularies(settings.vocabulary, folder))
        read_weights(translator.net, folder)
        return translator

    def save(self, folder: Path) -> None:
        """Write the model's folder; the weights last, so that a folder that has them is whole."""
        save_vocabularies(self.vocabularies, self.settings.vocabulary, folder)
        write_model(folder, self.settings, self.net)

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
        how = read_search(search)
        expect("batch", batch, batch >= 1, "at least 1")
        if isinstance(sentences, str):
            raise InputError("sentences: found one text, wanted a list of them; write [text]")
        if isinstance(prefixes, str):
            raise InputError("prefixes: found one text, wanted a list of them, one for each sentence; write [text]")
        if not all(isinstance(text, str) for text in (*sentences, *(prefixes or ()))):
            raise InputError("sentences: found something that is not text among them, wanted a list of texts")
        if prefixes is not None and len(prefixes) != len(sentences):
            raise InputError(f"prefixes: found {len(prefixes)}, wanted {len(sentences)}, one for each sentence")
        sources = [self.read(text, f"sentence {number}") for number, text in enumerate(sentences, start=1)]
        starts = [
            self._prefix(text, f"prefix {number}")
            for number, text in enumerate(prefixes or [""] * len(sentences), start=1)
        ]
        results: list[Translation] = [Translation("", 0.0, source.words, [source.words[-1]]) for source in sources]
        # sentences of similar length go together; an empty one stays empty
        order = sorted((len(source.ids), place) for place, source in enumerate(sources) if len(source.ids) > 1)
        with products_in(how.precision):  # rounded once for all batches
            for first in range(0, len(order), batch):
                places = [place for _, place in order[first : first + batch]]
                chosen = [sources[place] for place in places]
                texts = [sentences[place] for place in places]
                with evaluating(self.net):
                    found = self._search(chosen, [starts[place] for place in places], texts, how)
                for place, translations in zip(places, self._describe(chosen, found, attention=attention), strict=True):
                    results[place] = translations
                if progress is not None:
                    progress(len(places))
        return results

    def search_tree(self, sentence: str, **search: Any) -> list[TreeNode]:
        """What a beam search for this sentence tries: all that it keeps from step to step, and all that ends."""
        how = read_search(search)
        if how.sampling:
            raise InputError("sampling: draws have no tree of hypotheses; leave it out, and name a beam")
        source = self.read(sentence, "the sentence")
        if len(source.ids) == 1:
            return []
        trace = Trace()
        with evaluating(self.net), products_in(how.precision):
            self._search([source], [[]], [sentence], how, trace)
        write = self.vocabularies.target.piece
        return [
            TreeNode(branch.parent, write(branch.token), branch.log_prob, branch.score) for branch in trace.branches[0]
        ]

    def read(self, text: str, where: str) -> Tokens:
        """The tokens of a source sentence; too many of them are refused."""
        tokens = self.vocabularies.source.encode(text)
        if len(tokens.ids) > self.net.longest:
            raise InputError(
                f"{where}: {len(tokens.words) - 1} words, {len(tokens.ids)} tokens; this model reads at most"
                f" {self.net.longest} tokens at a time: split the sentence"
            )
        return tokens

    def force(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        batch: int = 64,
        progress: Callable[[int], None] | None = None,
    ) -> list[Reading]:
        """Follow given translations word by word: how likely each is, and all that was looked at on the way."""
        if len(sources) != len(targets):
            raise InputError(f"targets: found {len(targets)}, wanted {len(sources)}, one for each source")
        expect("batch", batch, batch >= 1, "at least 1")
        read = [self.read(text, f"sentence {number}") for number, text in enumerate(sources, start=1)]
        written = [self.read_target(text, f"sentence {number}") for number, text in enumerate(targets, start=1)]
        order = sorted(range(len(read)), key=lambda place: (len(read[place].ids), len(written[place].ids)))
        readings: dict[int, Reading] = {}
        for first in range(0, len(order), batch):
            places = order[first : first + batch]
            with evaluating(self.net):
                found = read_along(self.net, [read[place] for place in places], [written[place] for place in places])
            readings |= dict(zip(places, found, strict=True))
            if progress is not None:
                progress(len(places))
        return [readings[place] for place in range(len(read))]

    def read_target(self, text: str, where: str) -> Tokens:
        """The tokens of a given translation; too many of them are refused."""
        tokens = self.vocabularies.target.encode(text)
        if len(tokens.ids) > self.net.longest:
            raise InputError(
                f"{where}: a target of {len(tokens.ids)} tokens; this model writes at most {self.net.longest}"
            )
        return tokens

    def _prefix(self, text: str, where: str) -> list[int]:
        """The tokens of what a translation has to begin with; what the vocabulary does not know is refused."""
        ids = [number for number in self.vocabularies.target.encode(text).ids if number != END]
        if UNKNOWN in ids:
            raise InputError(f"{where}: {text!r} has signs that this model cannot write; leave them out")
        return ids

    def _search(
        self,
        sources: list[Tokens],
        prefixes: list[list[int]],
        texts: list[str],
        how: Search,
        trace: Trace = UNTRACED,
    ) -> list[list[Hypothesis]]:
        limits = [min(3 * len(source.ids) + 20, self.net.longest) for source in sources]
        encoded = self.net.encode(
            pad([source.ids for source in sources]), torch.tensor([len(source.ids) for source in sources])
        )
        return find(self.net.decoder, encoded, how, limits=limits, prefixes=prefixes, names=texts, trace=trace)

    def _describe(self, sources: list[Tokens], found: list[list[Hypothesis]], *, attention: bool) -> list[Translation]:
        """Hypotheses as text, the best of each sentence first with the others as its alternatives."""
        flat = [(source, hypothesis) for source, group in zip(sources, found, strict=True) for hypothesis in group]
        written = [self.vocabularies.target.decode(hypothesis.ids) for _, hypothesis in flat]
        readings: Sequence[Reading | None] = [None] * len(flat)
        if attention:
            # once more through the decoder, all places at once, so that a search need not carry weights along
            with evaluating(self.net):
                readings = read_along(self.net, [source for source, _ in flat], [target for _, target in written])
        described = [
            Translation(
                text,
                hypothesis.score,
                source.words,
                target.words,
                None if reading is None else reading.cross,
                reading=reading,
            )
            for (source, hypothesis), (text, target), reading in zip(flat, written, readings, strict=True)
        ]
        results: list[Translation] = []
        for group in found:
            best, *others = described[: len(group)]
            del described[: len(group)]
            results.append(replace(best, alternatives=others))
        return results
