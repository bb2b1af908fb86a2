"""A trained memory network: a story and a question in, an answer out, with what each hop looked at."""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np
import torch

from saccade.base.errors import InputError
from saccade.look import AttentionMap
from saccade.nets import MemN2N, MemN2NOutput
from saccade.tasks.batches import in_batches
from saccade.tasks.model import Model
from saccade.tasks.output import expect_output
from saccade.tasks.story_qa.arrays import StoryArrays, StoryWords, encode_stories, unknown_words
from saccade.tasks.story_qa.maps import map_of_answer
from saccade.tasks.story_qa.result import Answer
from saccade.tasks.story_qa.settings import MemoryNetworkSettings
from saccade.tasks.story_qa.stories import Question, question_of

WORDS = "words.txt"


class MemoryNetwork(Model[MemoryNetworkSettings, MemN2N]):
    """A net with its words. `saccade.load(folder)` gives one."""

    config = MemoryNetworkSettings

    def __init__(self, net: MemN2N, words: StoryWords, settings: MemoryNetworkSettings) -> None:
        self.net = net
        self.words = words
        self.settings = settings

    @classmethod
    def make(cls, settings: MemoryNetworkSettings, words: StoryWords) -> Self:
        """A memory network that has learnt nothing yet; its weights come from torch's random numbers."""
        model = settings.model
        net = MemN2N(
            words=len(words),
            dim=model.dim,
            hops=model.hops,
            tying=model.tying,
            encoding=model.encoding,
            memory_size=model.memory_size,
            null_memories=model.null_memories,
            random_noise=model.random_noise,
            dropout=model.dropout,
        )
        return cls(net, words, settings)

    @classmethod
    def maker(cls, settings: MemoryNetworkSettings, folder: Path) -> Callable[[], Self]:
        words = StoryWords.load(folder / WORDS)
        return lambda: cls.make(settings, words)

    def save_files(self, folder: Path) -> list[Path]:
        self.words.save(folder / WORDS)
        return [folder / WORDS]

    @property
    def has_weights(self) -> bool:
        """Whether the hops have a softmax: in the linear start of a training they have none."""
        return not bool(self.net.linear)

    def expect_weights(self) -> None:
        """Raise unless the hops have weights that can be shown."""
        if not self.has_weights:
            raise InputError(
                "this model has no softmax yet, and so no weights to show; train it beyond its linear start"
            )

    def maps(self, result: Answer, *, name: str = "") -> list[AttentionMap]:
        """What each hop looked at, of the sentences of the story, for an answer with `attention=True`."""
        expect_output(result, Answer)
        return [map_of_answer(result, name=name)]

    def answer(self, story: str | Sequence[str], question: str, *, attention: bool = False) -> Answer:
        """Answer a question about a story: its sentences, or a text of them.

        Warns where the answer rests on less than was said: words that are not known, a story that is too long.
        """
        sentences = story if isinstance(story, str) else list(story)
        record = {"story": sentences, "question": question}
        (answer,) = self.answer_all([question_of(record, "question", answered=False)], attention=attention)
        if answer.unknown:
            words = ", ".join(answer.unknown)
            warnings.warn(f"the model does not know, and passes over: {words}", UserWarning, stacklevel=2)
        if answer.forgotten:
            memory_size = self.settings.model.memory_size
            lost = f"the first {answer.forgotten} of the story are lost"
            warnings.warn(f"the model remembers {memory_size} sentences; {lost}", UserWarning, stacklevel=2)
        return answer

    def answer_all(
        self,
        questions: Sequence[Question],
        *,
        attention: bool = False,
        batch_size: int = 64,
        progress: Callable[[int], None] | None = None,
    ) -> list[Answer]:
        """Answer each of the questions; what they say of their answers is not looked at.

        Of what is lost of a question or its story, each answer says so itself: `unknown`, `forgotten`.

        attention  say what each hop looked at; a model in its linear start cannot
        batch_size how many questions go through the model at a time; no output depends on it
        progress   called with the number of questions done since the last call
        """
        if isinstance(questions, Question):
            raise InputError("questions: found one question, wanted a list of them; write [question]")
        if attention:
            self.expect_weights()
        return in_batches(
            partial(self._answers, attention=attention), questions, batch_size=batch_size, progress=progress
        )

    def _answers(self, questions: Sequence[Question], *, attention: bool) -> list[Answer]:
        arrays = encode_stories(questions, self.words, memory_size=self.settings.model.memory_size)
        with self.running():
            found = recall_stories(self.net, arrays, need_weights=attention)
            shares = torch.softmax(found.logits, dim=-1)
            order = shares.argsort(dim=-1, descending=True, stable=True)
        results: list[Answer] = []
        for row, one in enumerate(questions):
            ranking = [(self.words.text(index), float(shares[row, index])) for index in order[row].tolist() if index]
            recent = min(len(one.story), self.settings.model.memory_size)
            weights = None
            if found.weights is not None:
                weights = np.zeros((1, 1, self.net.hops, len(one.story)), dtype=np.float32)
                weights[0, 0, :, len(one.story) - recent :] = found.weights[row, :, :recent].flip(-1).numpy()
            sentences = [" ".join(words) for words in one.story]
            unknown = unknown_words(one, self.words, memory_size=self.settings.model.memory_size)
            results.append(Answer(*ranking[0], ranking, sentences, unknown, len(one.story) - recent, weights))
        return results


def recall_stories(net: MemN2N, arrays: StoryArrays, *, need_weights: bool = False) -> MemN2NOutput:
    """What the net answers to the questions of arrays."""
    sentences, stories, questions = (torch.from_numpy(array) for array in arrays[:3])
    return net(sentences, stories, questions, need_weights=need_weights)
