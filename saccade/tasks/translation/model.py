"""A trained translator: text in, text out, with what it looked at."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple, Self, Unpack, get_args

import torch

from saccade.base.errors import InputError, expect
from saccade.decode import NO_TRACE, Hypothesis, Search, SearchOptions, Trace, TreeNode, generate, read_search
from saccade.look import AttentionMap
from saccade.runtime.allocator import keep_heap
from saccade.tasks.batches import in_batches
from saccade.tasks.model import Model
from saccade.tasks.output import expect_output
from saccade.tasks.translation.forced_decoding import ForcedDecoding, force_decode
from saccade.tasks.translation.maps import maps_of
from saccade.tasks.translation.net import TranslationNet, make_net
from saccade.tasks.translation.result import Translation, join_parts
from saccade.tasks.translation.settings import Purpose, TranslatorSettings
from saccade.text import (
    END,
    UNKNOWN,
    Extended,
    Tokens,
    Vocabularies,
    Vocabulary,
    join_question,
    load_vocabularies,
    pad,
    save_vocabularies,
    split_tokens,
    truncate_tokens,
)

Overlong = Literal["split", "truncate", "error"]
OVERLONG: tuple[Overlong, ...] = get_args(Overlong)
_MOST_PARTS = 32  # of a sentence; what is longer is no sentence, and would keep everybody waiting
_MOST_CHARACTERS = 1 << 20


class _Input(NamedTuple):
    """What the model translates at a time."""

    source: Tokens
    prefix: list[int]  # what the translation has to begin with
    name: str  # what draws belong to


class EncodedSentence(NamedTuple):
    """A sentence as tokens, in parts if it is longer than the model reads at a time."""

    parts: list[_Input]
    note: str  # what was done about its length


class WriteOptions(SearchOptions, total=False):
    """What `summarize` and `answer` hand on to `translate`, by name."""

    attention: bool
    batch_size: int
    progress: Callable[[int], None] | None


class Translator(Model[TranslatorSettings, TranslationNet]):
    """A net with its vocabularies. `saccade.load(folder)` gives one."""

    config = TranslatorSettings

    def __init__(self, net: TranslationNet, vocabularies: Vocabularies, settings: TranslatorSettings) -> None:
        self.net = net
        self.vocabularies = vocabularies
        self.settings = settings

    @classmethod
    def make(cls, settings: TranslatorSettings, vocabularies: Vocabularies) -> Self:
        """A translator that has learnt nothing yet; its weights come from torch's random numbers."""
        sizes = {"source_size": len(vocabularies.source), "target_size": len(vocabularies.target)}
        return cls(make_net(settings.model, **sizes, joint=vocabularies.joint), vocabularies, settings)

    @classmethod
    def maker(cls, settings: TranslatorSettings, folder: Path) -> Callable[[], Self]:
        keep_heap()
        vocabularies = load_vocabularies(settings.vocabulary, folder)
        return lambda: cls.make(settings, vocabularies)

    @property
    def reading(self) -> Vocabulary:
        """The vocabulary that encodes one source; where words can be copied, it is extended by that."""
        return Extended(self.vocabularies.source) if self.net.copying else self.vocabularies.source

    def writing(self, source: Tokens) -> Vocabulary:
        """The vocabulary of what is written from a source."""
        return Extended.of(self.vocabularies.target, source) if self.net.copying else self.vocabularies.target

    def save_files(self, folder: Path) -> list[Path]:
        return save_vocabularies(self.vocabularies, self.settings.vocabulary, folder)

    def maps(self, result: Translation | ForcedDecoding, *, name: str = "") -> list[AttentionMap]:
        """All maps of a translation that was made with `attention=True`, or of one that was given to `score`."""
        expect_output(result, Translation, ForcedDecoding)
        return maps_of(result, name=name)

    def translate(
        self,
        sentences: Sequence[str],
        *,
        attention: bool = False,
        prefixes: Sequence[str] | None = None,
        overlong: Overlong = "split",
        batch_size: int = 64,
        progress: Callable[[int], None] | None = None,
        **search: Unpack[SearchOptions],
    ) -> list[Translation]:
        """Translate plain sentences, in their order, each as if it were alone.

        attention  say what was looked at, word by word
        prefixes   for each sentence, the text that its translation has to begin with
        overlong   of a sentence that is longer than the model reads: "split" it at ends of sentences, clauses or words,
                   and translate part by part; "truncate" it; or "error": refuse it. `note` says what was done
        batch_size how many sentences go through the model at a time; no output depends on it
        progress   called with the number of sentences done since the last call
        search     the fields of `Search`, such as beam=5, nbest=3, length_penalty=1.0, sampling=True
        """
        how = read_search(search)
        if isinstance(sentences, str) or not isinstance(sentences, Sequence):
            raise InputError("sentences: found one text, wanted a list of them; write [text]")
        if isinstance(prefixes, str):
            raise InputError("prefixes: found one text, wanted a list of them, one for each sentence; write [text]")
        if not all(isinstance(text, str) for text in (*sentences, *(prefixes or ()))):
            raise InputError("sentences: found something that is not text among them, wanted a list of texts")
        if prefixes is not None and len(prefixes) != len(sentences):
            raise InputError(f"prefixes: found {len(prefixes)}, wanted {len(sentences)}, one for each sentence")
        expect("overlong", overlong, overlong in OVERLONG, f"one of {', '.join(OVERLONG)}")
        encoded = [
            self.encode(text, f"sentence {number}", overlong=overlong, prefix=prefix)
            for number, (text, prefix) in enumerate(zip(sentences, prefixes or [""] * len(sentences), strict=True), 1)
        ]
        return self.translate_encoded(encoded, how, attention=attention, batch_size=batch_size, progress=progress)

    def summarize(
        self, texts: Sequence[str], *, overlong: Overlong = "truncate", **options: Unpack[WriteOptions]
    ) -> list[Translation]:
        """Summarize plain texts; all else is as in `translate`, but that of a long text the beginning is read."""
        self.expect_purpose("summarize")
        return self.translate(texts, overlong=overlong, **options)

    def answer(
        self,
        questions: Sequence[str],
        passages: Sequence[str],
        *,
        overlong: Overlong = "truncate",
        **options: Unpack[WriteOptions],
    ) -> list[Translation]:
        """Answer each question from its passage; all else is as in `summarize`."""
        self.expect_purpose("answer")
        if isinstance(questions, str) or isinstance(passages, str) or len(questions) != len(passages):
            raise InputError("questions, passages: wanted two lists of texts, a passage for each question")
        sources = [join_question(*pair) for pair in zip(questions, passages, strict=True)]
        return self.translate(sources, overlong=overlong, **options)

    def expect_purpose(self, purpose: Purpose) -> None:
        """Raise unless the model was trained for this."""
        if self.settings.purpose != purpose:
            known = self.settings.purpose
            raise InputError(f"this model was trained to {known}, not to {purpose}; use it with: saccade {known}")

    def encode(self, text: str, where: str, *, overlong: Overlong = "split", prefix: str = "") -> EncodedSentence:
        """A sentence as tokens, and what its translation has to begin with; what cannot be read is refused."""
        parts, note = self.tokenize_parts(text, where, overlong)
        start = self.tokenize_prefix(prefix, f"{where}, prefix") if prefix else []
        inputs = [
            # what a draw belongs to is the sentence, and of a sentence in parts the part
            _Input(part, [] if number else start, text if len(parts) == 1 else " ".join(part.words))
            for number, part in enumerate(parts)
        ]
        return EncodedSentence(inputs, note)

    def translate_encoded(
        self,
        sentences: Sequence[EncodedSentence],
        how: Search,
        *,
        attention: bool = False,
        batch_size: int = 64,
        progress: Callable[[int], None] | None = None,
    ) -> list[Translation]:
        """The same for sentences that `encode` gave."""
        parts = [(number, part) for number, one in enumerate(sentences) for part in one.parts]
        left = Counter(number for number, _ in parts)  # of each sentence, the parts that are not done

        def translated(some: Sequence[tuple[int, _Input]]) -> list[Translation]:
            found = self._translate([part for _, part in some], how, attention=attention)
            left.subtract(number for number, _ in some)
            done = sum(left[number] == 0 for number in {number for number, _ in some})
            if progress is not None and done:
                progress(done)
            return found

        with self.running(how.precision):
            found = iter(
                in_batches(translated, parts, batch_size=batch_size, size=lambda part: len(part[1].source.ids))
            )
        return [replace(join_parts([next(found) for _ in one.parts]), note=one.note) for one in sentences]

    def _translate(self, inputs: Sequence[_Input], how: Search, *, attention: bool) -> list[Translation]:
        """Translate what the model can read at a time, each as if it were alone; what is empty stays empty."""
        full = [one for one in inputs if len(one.source.ids) > 1]
        translations: list[Translation] = []
        if full:
            sources, starts, names = (list(column) for column in zip(*full, strict=True))
            found = self._search(sources, starts, names, how)
            translations = self._describe(sources, found, attention=attention)
        rest = iter(translations)
        return [
            next(rest) if len(one.source.ids) > 1 else Translation("", 0.0, one.source.words, [one.source.words[-1]])
            for one in inputs
        ]

    def search_tree(self, sentence: str, **search: Unpack[SearchOptions]) -> list[TreeNode]:
        """What a beam search for this sentence tries: all that it keeps from step to step, and all that ends."""
        how = read_search(search)
        if how.sampling:
            raise InputError("sampling: draws have no tree of hypotheses; leave it out, and name a beam")
        source = self.tokenize(sentence, "the sentence")
        if len(source.ids) == 1:
            return []
        trace = Trace()
        with self.running(how.precision):
            self._search([source], [[]], [sentence], how, trace)
        write = self.writing(source).piece
        return [
            TreeNode(branch.parent, write(branch.token), branch.log_prob, branch.score) for branch in trace.branches[0]
        ]

    def tokenize(self, text: str, where: str) -> Tokens:
        """The tokens of a source sentence; too many of them are refused."""
        return self.tokenize_parts(text, where, "error")[0][0]

    def tokenize_parts(self, text: str, where: str, overlong: Overlong) -> tuple[list[Tokens], str]:
        """The tokens of a source sentence, in parts that the model can read, and what was done to get them."""
        if len(text) > _MOST_CHARACTERS:
            raise InputError(f"{where}: {len(text):,} characters, wanted at most {_MOST_CHARACTERS:,}; split the text")
        try:
            tokens, max_length = self.reading.encode(text), self.net.max_length
        except UnicodeEncodeError:
            raise InputError(
                f"{where}: not text, it has halves of characters (surrogates); mend the encoding"
            ) from None
        if len(tokens.ids) <= max_length:
            return [tokens], ""
        size = f"{len(tokens.words) - 1} words, {len(tokens.ids)} tokens; this model reads at most {max_length} tokens"
        if overlong == "truncate":
            return [truncate_tokens(tokens, max_length)], f"{size}: the rest is left out"
        if overlong == "error" or len(tokens.ids) > _MOST_PARTS * max_length:
            raise InputError(f"{where}: {size} at a time: split the sentence")
        parts = split_tokens(tokens, max_length)
        return parts, f"{size} at a time: translated in {len(parts)} parts"

    def score(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        batch_size: int = 64,
        progress: Callable[[int], None] | None = None,
    ) -> list[ForcedDecoding]:
        """Forced decoding of given translations: how likely each is, and all that was looked at on the way."""
        if len(sources) != len(targets):
            raise InputError(f"targets: found {len(targets)}, wanted {len(sources)}, one for each source")
        pairs: list[tuple[Tokens, Tokens]] = []
        for number, (text, target) in enumerate(zip(sources, targets, strict=True), start=1):
            source = self.tokenize(text, f"sentence {number}")
            pairs.append((source, self.tokenize_target(target, source, f"sentence {number}")))

        def scored(some: Sequence[tuple[Tokens, Tokens]]) -> list[ForcedDecoding]:
            with self.running():
                return force_decode(self.net, *zip(*some, strict=True))

        return in_batches(
            scored,
            pairs,
            batch_size=batch_size,
            progress=progress,
            size=lambda pair: [len(tokens.ids) for tokens in pair],
        )

    def tokenize_target(self, text: str, source: Tokens, where: str) -> Tokens:
        """The tokens of a given translation of that source; too many of them are refused."""
        tokens = self.writing(source).encode(text)
        if len(tokens.ids) > self.net.max_length:
            raise InputError(
                f"{where}: a target of {len(tokens.ids)} tokens; this model writes at most {self.net.max_length}"
            )
        return tokens

    def tokenize_prefix(self, text: str, where: str) -> list[int]:
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
        trace: Trace = NO_TRACE,
    ) -> list[list[Hypothesis]]:
        limits = [min(3 * len(source.ids) + 20, self.net.max_length) for source in sources]
        encoded = self.net.encode(
            pad([source.ids for source in sources]), torch.tensor([len(source.ids) for source in sources])
        )
        return generate(self.net.decoder, encoded, how, limits=limits, prefixes=prefixes, names=texts, trace=trace)

    def _describe(self, sources: list[Tokens], found: list[list[Hypothesis]], *, attention: bool) -> list[Translation]:
        """Hypotheses as text, the best of each sentence first with the others as its alternatives."""
        flat = [(source, hypothesis) for source, group in zip(sources, found, strict=True) for hypothesis in group]
        written = [self.writing(source).decode(hypothesis.ids) for source, hypothesis in flat]
        decodings: Sequence[ForcedDecoding | None] = [None] * len(flat)
        if attention:
            # once more through the decoder, all positions at once, so that a search need not carry weights along
            with self.running():
                decodings = force_decode(self.net, [source for source, _ in flat], [target for _, target in written])
        described = [
            Translation(
                text,
                hypothesis.score,
                source.words,
                target.words,
                None if decoding is None else decoding.attention,
                forced_decoding=decoding,
            )
            for (source, hypothesis), (text, target), decoding in zip(flat, written, decodings, strict=True)
        ]
        results: list[Translation] = []
        for group in found:
            best, *others = described[: len(group)]
            del described[: len(group)]
            results.append(replace(best, alternatives=others))
        return results
