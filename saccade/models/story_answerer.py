"""A trained answerer: a story and a question in, an answer out, with what each hop looked at."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field

from saccade.data import Question, StoryArrays, StoryWords, encode_stories, question_of
from saccade.errors import InputError
from saccade.models.evaluating import evaluating
from saccade.models.folder import read_settings, read_weights, write_model
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
        answerer = cls.make(settings, StoryWords.load(folder / WORDS))
        read_weights(answerer.net, folder)
        return answerer

    def save(self, folder: Path) -> None:
        """Write the model's folder; the weights last, so that a folder that has them is whole."""
        self.words.save(folder / WORDS)
        write_model(folder, self.settings, self.net)

    def answer(self, story: str | Sequence[str], question: str) -> Answer:
        """Answer a question about a story: its sentences, or a text of them."""
        sentences = story if isinstance(story, str) else list(story)
        record = {"story": sentences, "question": question}
        return self.answer_all([question_of(record, "question", answered=False)])[0]

    def answer_all(self, questions: Sequence[Question], *, batch: int = 64) -> list[Answer]:
        """Answer each of the questions; what they say of their answers is not looked at."""
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
            results.append(Answer(*ranking[0], ranking, attention))
        return results


def recall_stories(net: MemoryNetwork, arrays: StoryArrays, *, need_weights: bool = False) -> Recalled:
    """What the net answers to the questions of arrays."""
    sentences, stories, questions = (torch.from_numpy(array) for array in arrays[:3])
    return net(sentences, stories, questions, need_weights=need_weights)
