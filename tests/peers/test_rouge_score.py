"""ROUGE beside rouge-score's, which is Google's own in Python, and its stemmer, which is NLTK's."""

import random
import re
from pathlib import Path

import pytest
from nltk.stem.porter import PorterStemmer
from rouge_score.rouge_scorer import RougeScorer

from saccade.metrics import score_rouge
from saccade.metrics.captions import rouge_l
from saccade.metrics.stems import _DOUBLE_ENDINGS, _ENDINGS, _LAST_ENDINGS, _PLURALS, stem

TEXT = Path(__file__).parents[3] / "shared" / "data" / "text"
WORDS = ["a", "dog", "cat", "runs", "on", "the", "red", "ball"]
INFLECTED = ["running", "runs", "ran", "happily", "Happiness", "relational", "relate", "it's", "U.S.", "été", "1,000"]
BETA = 1.2  # of the ROUGE-L of captions; theirs has 1


@pytest.mark.parametrize("seed", range(53))
def test_the_longest_common_subsequence_of_captions(seed: int) -> None:
    """Their precision and recall, put together with our β: words that come twice, and texts with nothing in common."""
    rng = random.Random(seed)
    caption, reference = (rng.choices(WORDS, k=rng.randint(1, 17)) for _ in range(2))
    theirs = RougeScorer(["rougeL"]).score(" ".join(reference), " ".join(caption))["rougeL"]
    below = theirs.recall + BETA**2 * theirs.precision
    wanted = (1 + BETA**2) * theirs.precision * theirs.recall / below if below else 0.0
    assert rouge_l([caption], [[reference]]) == pytest.approx(100 * wanted)


@pytest.mark.parametrize("stemmed", [False, True])
def test_a_thousand_summaries(stemmed: bool) -> None:  # noqa: FBT001
    """One by one, with one to three references, some of them empty or without a word that counts."""
    theirs = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=stemmed)
    rng = random.Random(7)

    def text() -> str:
        return rng.choice([" ", ", ", "-"]).join(rng.choices([*WORDS, *INFLECTED], k=rng.randint(0, 23)))

    right = 0
    for _ in range(1000):
        summary, references = text(), [text() for _ in range(rng.randint(1, 3))]
        wanted = theirs.score_multi(references, summary)
        found = score_rouge([summary], [references], stemmed=stemmed)
        assert found == pytest.approx(
            {
                "rouge1": 100 * wanted["rouge1"].fmeasure,
                "rouge2": 100 * wanted["rouge2"].fmeasure,
                "rouge_l": 100 * wanted["rougeL"].fmeasure,
            },
            rel=1e-12,
        )
        right += found["rouge2"] > 0
    assert right > 500


ENDINGS = [
    *_DOUBLE_ENDINGS,
    *_ENDINGS,
    *_LAST_ENDINGS,
    *_PLURALS,
    "ing",
    "ed",
    "ied",
    "eed",
    "logi",
    "ion",
    "y",
    "e",
    "1",
]


def test_stems_are_nltks() -> None:
    """Of 20,000 made words that have every ending, one behind the other."""
    theirs, rng = PorterStemmer(), random.Random(11)
    for _ in range(20_000):
        word = "".join([*rng.choices("abeilosty1zxw", k=rng.randint(0, 5)), *rng.choices(ENDINGS, k=rng.randint(1, 3))])
        assert stem(word) == theirs.stem(word), word


def test_stems_of_a_novel_are_nltks() -> None:
    if not TEXT.exists():
        pytest.skip("no texts in ../shared/data")
    words = {word for path in TEXT.glob("*.txt") for word in re.findall("[a-z0-9]+", path.read_text("utf-8").lower())}
    theirs = PorterStemmer()
    assert {word: stem(word) for word in words} == {word: theirs.stem(word) for word in words}
    assert len(words) > 20_000
