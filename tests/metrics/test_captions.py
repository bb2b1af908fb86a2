"""Scores of captions: golden figures, another library, and vectors written out."""

import math
import random
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import sacrebleu

from saccade.metrics import caption_words, score_captions
from saccade.metrics.captions import bleu, cider, rouge_l

FLICKR8K = Path(__file__).parents[3] / "shared" / "data" / "flickr8k" / "test_captions_only.txt"


def made_up(images: int, seed: int = 0) -> tuple[list[list[str]], list[list[list[str]]]]:
    """Captions of few words, so that n-grams meet."""
    rng = random.Random(seed)

    def caption() -> list[str]:
        return rng.choices(["a", "dog", "cat", "runs", "on", "the", "red", "ball"], k=rng.randint(3, 12))

    return [caption() for _ in range(images)], [[caption() for _ in range(rng.randint(1, 5))] for _ in range(images)]


def test_people_against_people_on_flickr8k():
    if not FLICKR8K.exists():
        pytest.skip("no Flickr8k in ../shared/data")
    captions: dict[str, list[list[str]]] = defaultdict(list)
    for line in FLICKR8K.read_text(encoding="utf-8").splitlines():
        name, text = line.split("\t")
        captions[name.partition("#")[0]].append(caption_words(text))
    found = score_captions([five[0] for five in captions.values()], [five[1:] for five in captions.values()])
    golden = {"bleu1": 63.69, "bleu2": 44.65, "bleu3": 30.63, "bleu4": 21.03, "rouge_l": 48.79, "cider": 79.25}
    assert {name: round(found[name], 2) for name in golden} == golden


@pytest.mark.parametrize("seed", range(3))
def test_bleu_is_that_of_sacrebleu(seed: int):
    captions, references = made_up(30, seed)
    most = max(map(len, references))
    columns = [[" ".join(others[n]) if n < len(others) else None for others in references] for n in range(most)]
    for order, value in enumerate(bleu(captions, references), start=1):
        metric = sacrebleu.BLEU(tokenize="none", smooth_method="none", max_ngram_order=order)
        wanted = metric.corpus_score([" ".join(caption) for caption in captions], columns)  # pyright: ignore[reportArgumentType]
        assert value == pytest.approx(wanted.score)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_bleu_where_no_n_gram_of_some_length_is_right(order: int):
    """Exactly nothing, where pycocoevalcap gives next to nothing: its rule in its own words, beside ours.

    The caption has n - 1 words of its reference in a row, and no n.
    """
    words = ["a", "b", "c", "d", "e", "f", "g"]
    caption = [*words[: order - 1], *(f"other{n}" for n in range(7 - order + 1))]
    found = bleu([caption], [[words]])
    right = [max(0, order - length) for length in range(1, 5)]
    all_ = [7 - length + 1 for length in range(1, 5)]
    theirs = [
        100 * math.prod((right[n] + 1e-15) / (all_[n] + 1e-9) for n in range(length)) ** (1 / length)
        for length in range(1, 5)
    ]
    assert found[order - 1 :] == [0.0] * (5 - order)
    assert found == pytest.approx(theirs, rel=1e-8, abs=0.01)
    assert all(0 < value < 0.01 for value in theirs[order - 1 :])


def test_rouge_of_a_sentence_worked_by_hand():
    caption, reference = ["police", "killed", "the", "gunman"], ["police", "kill", "the", "gunman", "now"]
    precision, recall = 3 / 4, 3 / 5  # police ... the gunman
    wanted = (1 + 1.44) * precision * recall / (recall + 1.44 * precision)
    assert rouge_l([caption], [[reference]]) == pytest.approx(100 * wanted)


def test_cider_is_its_formula_with_vectors_written_out():
    captions, references = made_up(12)
    everything = [*captions, *(other for others in references for other in others)]
    total = 0.0
    for order in range(1, 5):

        def grams(words: list[str], order: int = order) -> list[tuple[str, ...]]:
            return list(zip(*(words[shift:] for shift in range(order)), strict=False))

        axes = sorted({gram for words in everything for gram in grams(words)})
        held = [sum(any(gram in grams(other) for other in others) for others in references) for gram in axes]
        rarity = np.array([math.log(len(references) / max(count, 1)) for count in held])

        def vector(words: list[str], axes: list[tuple[str, ...]] = axes, rarity: np.ndarray = rarity) -> np.ndarray:
            return np.array([grams(words, len(axes[0])).count(gram) for gram in axes]) * rarity

        for caption, others in zip(captions, references, strict=True):
            mine = vector(caption)
            for other in others:
                theirs = vector(other)
                size = np.linalg.norm(mine) * np.linalg.norm(theirs)
                near = math.exp(-((len(caption) - len(other)) ** 2) / 72)
                if size:
                    total += near * float(np.minimum(mine, theirs) @ theirs) / size / len(others)
    assert cider(captions, references) == pytest.approx(1000 * total / 4 / len(captions))


def test_better_captions_score_better_and_none_scores_nothing():
    truth = [[caption_words("A dog runs on the grass .")], [caption_words("Two children play with a ball .")]]
    ladder = [["", ""], ["a cat", "children"], ["a dog runs", "two children play"]]
    ladder.append(["a dog runs on the grass", "two children play with a ball"])
    scores = [score_captions([caption_words(text) for text in texts], truth) for texts in ladder]
    assert set(scores[0].values()) == {0.0}
    assert all(worse["cider"] < better["cider"] for worse, better in pairwise(scores))
    assert all(scores[-1][name] == pytest.approx(100) for name in ("bleu4", "rouge_l", "exact_match"))
    assert scores[-2]["exact_match"] == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A man 's t-shirt .", ["a", "man", "s", "t", "shirt"]),
        ("Don't!", ["don't"]),
        ("  ", []),
        ("Ein Mädchen", ["ein", "mädchen"]),
    ],
)
def test_words_of_a_caption(text: str, words: list[str]):
    assert caption_words(text) == words


def test_captions_without_references_are_refused():
    with pytest.raises(ValueError, match="reference"):
        score_captions([["a"]], [[]])
