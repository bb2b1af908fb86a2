"""A trained answerer: a story and a question in, an answer out, with what each hop looked at."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field

from saccade.data import Question, StoryArrays, StoryWords, encode_stories, question_of
from saccade.data.story_arrays import unknown_words
from saccade.errors import InputError
from saccade.files import make_folder
from saccade.models.evaluating import evaluating
from saccade.models.folder import load_model, read_settings, write_model
from saccade.models.search import expect
from saccade.models.settings import Share, Size
from saccade.nets import MemoryNetwork, Recalled
from saccade.settings import Settings

WORDS = "words.txt"


class MemorySettings(Settings):
    """An end-to-end memory network (Sukhbaatar 2015)."""

    kind: Literal["memory"] = "memory"
    dim: Size = 50
    hops: Annotated[int, Field(ge=1, le=20)] = 3
    tying: Literal["adjacent", "layer-wise"] = "adjacent"
    encoding: Literal["position", "bag"] = "position"
    memory: Annotated[int, Field(ge=1, le=10_000)] = 50  # the most recent so many sentences of a story
    empty: Annotated[int, Field(ge=0, le=10_000)] = 1  # memories with nothing in them, for hops that find nothing
    noise: Share = 0.1  # in training, so many empty memories for each sentence, at most
    dropout: Share = 0.0  # of the sentences' vectors


class AnswererSettings(Settings):
    """A model's config.yaml."""

    task: Literal["stories"] = "stories"
    model: MemorySettings


@dataclass(frozen=True)
class Answer:
    """What a question is answered with."""

    text: str
    probability: float
    ranking: list[tuple[str, float]]  # all words, the likeliest first
    attention: NDArray[np.float32]  # [hops, sentences], in the order of the story; nothing of what is forgotten
    unknown: list[str]  # the words of story and question that the model does not know and passed over, each once
    forgotten: int  # so many sentences at the beginning of the story are more than it can remember


class Answerer:
    """A net with its words. `saccade.load(folder)` gives one."""

    def __init__(self, net: MemoryNetwork, words: StoryWords, settings: AnswererSettings) -> None:
        self.net = net
        self.words = words
        self.settings = settings

    @classmethod
    def make(cls, settings: AnswererSettings, words: StoryWords) -> "Answerer":
        """An answerer that has learnt nothing yet; its weights come from torch's random numbers."""
        model = settings.model
        net = MemoryNetwork(
            words=len(words),
            dim=model.dim,
            hops=model.hops,
            tying=model.tying,
            encoding=model.encoding,
            memory=model.memory,
            empty=model.empty,
            noise=model.noise,
            dropout=model.dropout,
        )
        return cls(net, words, settings)

    @classmethod
    def load(cls, folder: Path) -> "Answerer":
        """The answerer of a model's folder."""
        settings = read_settings(AnswererSettings, folder)
        words = StoryWords.load(folder / WORDS)
        return load_model(lambda: cls.make(settings, words), folder)

    def save(self, folder: Path) -> None:
        """Write the model's folder; the weights last, so that a folder that has them is whole."""
        make_folder(folder)
        self.words.save(folder / WORDS)
        write_model(folder, self.settings, self.net, files=[folder / WORDS])

    def answer(self, story: str | Sequence[str], question: str) -> Answer:
        """Answer a question about a story: its sentences, or a text of them.

        Warns where the answer rests on less than was said: words that are not known, a story that is too long.
        """
        sentences = story if isinstance(story, str) else list(story)
        record = {"story": sentences, "question": question}
        (answer,) = self.answer_all([question_of(record, "question", answered=False)])
        if answer.unknown:
            words = ", ".join(answer.unknown)
            warnings.warn(f"the model does not know, and passes over: {words}", UserWarning, stacklevel=2)
        if answer.forgotten:
            memory = self.settings.model.memory
            lost = f"the first {answer.forgotten} of the story are lost"
            warnings.warn(f"the model remembers {memory} sentences; {lost}", UserWarning, stacklevel=2)
        return answer

    def answer_all(self, questions: Sequence[Question], *, batch: int = 64) -> list[Answer]:
        """Answer each of the questions; what they say of their answers is not looked at.

        Of what is lost of a question or its story, each answer says so itself: `unknown`, `forgotten`.
        """
        if isinstance(questions, Question):
            raise InputError("questions: found one question, wanted a list of them; write [question]")
        expect("batch", batch, batch >= 1, "at least 1")
        results: list[Answer] = []
        for first in range(0, len(questions), batch):
            part = questions[first : first + batch]
            results.extend(self._answers(part, encode_stories(part, self.words, memory=self.settings.model.memory)))
        return results

    def _answers(self, questions: Sequence[Question], arrays: StoryArrays) -> list[Answer]:
        with evaluating(self.net):
            found = recall_stories(self.net, arrays, need_weights=True)
            shares = torch.softmax(found.logits, dim=-1)
            order = shares.argsort(dim=-1, descending=True, stable=True)
        assert found.weights is not None
        results: list[Answer] = []
        for row, one in enumerate(questions):
            ranking = [(self.words.text(place), float(shares[row, place])) for place in order[row].tolist() if place]
            attention = np.zeros((self.net.hops, len(one.story)), dtype=np.float32)
            recent = min(len(one.story), self.net.memory)
            attention[:, len(one.story) - recent :] = found.weights[row, :, :recent].flip(-1).numpy()
            unknown = unknown_words(one, self.words, memory=self.net.memory)
            results.append(Answer(*ranking[0], ranking, attention, unknown, len(one.story) - recent))
        return results


def recall_stories(net: MemoryNetwork, arrays: StoryArrays, *, need_weights: bool = False) -> Recalled:
    """What the net answers to the questions of arrays."""
    sentences, stories, questions = (torch.from_numpy(array) for array in arrays[:3])
    return net(sentences, stories, questions, need_weights=need_weights)
