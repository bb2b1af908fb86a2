"""Memory networks: stories and questions in, answers out, with what each hop looked at."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import saccade
from saccade.base.errors import InputError
from saccade.tasks.story_qa.arrays import StoryWords, unknown_words
from saccade.tasks.story_qa.made import make_stories
from saccade.tasks.story_qa.model import MemoryNetwork
from saccade.tasks.story_qa.result import Answer
from saccade.tasks.story_qa.settings import MemN2NSettings, MemoryNetworkSettings
from saccade.tasks.story_qa.stories import question_of
from saccade.tasks.translation.model import Translator

QUESTIONS = make_stories(6, seed=0)
WORDS = StoryWords.learn(QUESTIONS)


def made(**settings: object) -> MemoryNetwork:
    """A small network with random weights, far from even, so that a wrong output shows."""
    torch.manual_seed(3)
    model = MemN2NSettings.model_validate({"dim": 11, "memory_size": 7} | settings)
    network = MemoryNetwork.make(MemoryNetworkSettings(model=model), WORDS)
    with torch.no_grad():
        for parameter in network.net.parameters():
            parameter.mul_(8.0)
    network.net.eval()
    return network


def weights_of(answer: Answer) -> NDArray[np.float32]:
    """What each hop looked at: `[hops, sentences]`."""
    assert answer.attention is not None
    assert answer.attention.shape[:2] == (1, 1)
    return answer.attention[0, 0]


@pytest.mark.parametrize("settings", [{}, {"tying": "layer-wise"}, {"encoding": "bag", "hops": 1}])
def test_it_is_saved_and_says_the_same(settings: dict[str, object], tmp_path: Path) -> None:
    network = made(**settings)
    found = network.answer_all(QUESTIONS, attention=True, batch_size=4)
    network.save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"config.yaml", "model.safetensors", "words.txt"}
    loaded = saccade.load(tmp_path)
    assert isinstance(loaded, MemoryNetwork)
    for one, other in zip(found, loaded.answer_all(QUESTIONS, attention=True), strict=True):
        assert one.text == other.text
        assert one.probability == pytest.approx(other.probability, abs=1e-5)
        np.testing.assert_allclose(weights_of(one), weights_of(other), atol=1e-5)


def test_answers_do_not_depend_on_their_neighbours() -> None:
    network = made()
    for question, one in zip(QUESTIONS, network.answer_all(QUESTIONS, attention=True), strict=True):
        (alone,) = network.answer_all([question], attention=True)
        assert alone.text == one.text
        np.testing.assert_allclose(weights_of(alone), weights_of(one), atol=1e-5)


def test_what_an_answer_has() -> None:
    network = made()
    assert network.net.training is False
    question = QUESTIONS[4]  # a story of ten sentences, of which seven are remembered
    assert network.answer_all([question])[0].attention is None
    (answer,) = network.answer_all([question], attention=True)
    assert len(answer.ranking) == len(WORDS) - 1
    assert answer.ranking[0] == (answer.text, answer.probability)
    assert sum(share for _, share in answer.ranking) == pytest.approx(1, abs=1e-5)
    weights = weights_of(answer)
    assert weights.shape == (3, 10)
    assert not weights[:, :3].any()
    assert weights[0].sum() < 1 - 1e-4  # the rest went to the empty memory
    (full,) = made(null_memories=0).answer_all([question], attention=True)
    np.testing.assert_allclose(weights_of(full).sum(1), 1, atol=1e-5)
    assert all(text for text, _ in answer.ranking)


def test_attention_is_in_the_order_of_the_story() -> None:
    """A story of two sentences against the same one backwards in time: what is said last has time 0."""
    network = made(hops=1)
    first = network.answer(["Mary went to the kitchen.", "Mary took the milk."], "Where is Mary?", attention=True)
    with torch.no_grad():
        network.net.times.zero_()  # without times, only what is said counts
    plain = network.answer(["Mary went to the kitchen.", "Mary took the milk."], "Where is Mary?", attention=True)
    turned = network.answer(["Mary took the milk.", "Mary went to the kitchen."], "Where is Mary?", attention=True)
    np.testing.assert_allclose(weights_of(plain), weights_of(turned)[:, ::-1], atol=1e-6)
    assert not np.allclose(weights_of(first), weights_of(plain))


def test_a_text_is_cut_into_sentences() -> None:
    network = made()
    text = network.answer("Mary went to the kitchen. mary TOOK the milk\n", "where is mary")
    listed = network.answer(["Mary went to the kitchen.", "Mary took the milk."], "Where is Mary?")
    assert text.ranking == listed.ranking


def test_words_that_are_passed_over_are_named() -> None:
    network = made()
    with pytest.warns(UserWarning, match="the model does not know, and passes over: happily, home, now, at$") as caught:
        answer = network.answer("Mary happily went home. Mary took the milk.", "Where is Mary now, at home?")
    assert len(caught) == 1
    assert caught[0].filename == __file__  # it is about the line that asks
    assert answer.unknown == ["happily", "home", "now", "at"]
    assert answer.forgotten == 0


def test_sentences_that_are_forgotten_are_counted() -> None:
    network = made()
    story = ["Mary went home."] + ["Mary went to the kitchen."] * 8
    with pytest.warns(
        UserWarning, match="the model remembers 7 sentences; the first 2 of the story are lost"
    ) as caught:
        answer = network.answer(story, "Where is Mary?")
    assert len(caught) == 1
    assert (answer.forgotten, answer.unknown) == (2, [])  # what is forgotten is not passed over, too
    assert network.answer(story[2:], "Where is Mary?").forgotten == 0


def test_many_answers_say_themselves_what_is_lost() -> None:
    """Without a warning for each: there may be thousands."""
    strange = QUESTIONS[0]._replace(question=("where", "is", "zoe"))
    long = QUESTIONS[4]  # ten sentences
    found = made().answer_all([QUESTIONS[0], strange, long], batch_size=2)
    assert [answer.unknown for answer in found] == [[], ["zoe"], []]
    assert [answer.forgotten for answer in found] == [0, 0, 3]


def test_the_story_of_the_docs_has_words_that_the_recipe_knows() -> None:
    page = (Path(__file__).parents[3] / "docs" / "memory.md").read_text()
    (story, question), *_ = re.findall(r'\.answer\("([^"]*)", "([^"]*)"', page)
    words = StoryWords.learn(make_stories(100, seed=0))
    asked = question_of({"story": story, "question": question}, "docs", answered=False)
    assert unknown_words(asked, words, memory_size=9) == []


def test_bad_questions_get_one_line(tmp_path: Path) -> None:
    network = made()
    with pytest.raises(InputError, match="question: 'quo vadis' has no word that the model knows"):
        network.answer("Mary went to the kitchen.", "Quo vadis?")
    for story, question in (("", "Where is Mary?"), ([], "Where is Mary?"), (["Mary went."], "?")):
        with pytest.raises(InputError, match="question: "):
            network.answer(story, question)
    with pytest.raises(InputError, match=r"write \[question\]"):
        network.answer_all(QUESTIONS[0])  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="batch_size"):
        network.answer_all(QUESTIONS, batch_size=0)
    network.save(tmp_path)
    with pytest.raises(InputError, match=r"a model that answers questions; wanted a \w+; use it with: saccade ask"):
        saccade.load(tmp_path, Translator)
    (tmp_path / "words.txt").write_text("only\nthese\n")
    with pytest.raises(InputError, match=r"words\.txt: damaged, or changed since the model was written"):
        saccade.load(tmp_path)
    (tmp_path / "words.txt").unlink()
    with pytest.raises(InputError, match=r"no words\.txt there"):
        saccade.load(tmp_path)


@pytest.mark.parametrize(
    "settings",
    [{"memory_size": 0}, {"null_memories": -1}, {"hops": 0}, {"dim": 0}, {"random_noise": 1.0}, {"tying": "none"}],
)
def test_settings_have_bounds(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        MemN2NSettings.model_validate(settings)
