"""ROUGE of summaries, worked by hand; beside rouge-score's own in tests/peers."""

import pytest

from saccade.metrics import rouge_words, score_rouge
from saccade.metrics.stems import stem


def test_lins_example():
    """Lin 2004, 3.1: both candidates share three words in the same order, or two."""
    reference = [["police killed the gunman"]]
    first = score_rouge(["police kill the gunman"], reference)
    second = score_rouge(["the gunman kill police"], reference)
    assert first == pytest.approx({"rouge1": 75, "rouge2": 100 / 3, "rouge_l": 75})
    assert second == pytest.approx({"rouge1": 75, "rouge2": 100 / 3, "rouge_l": 50})


def test_precision_and_recall_count_alike():
    found = score_rouge(["a b c d e"], [["x b c"]])
    assert found == pytest.approx({"rouge1": 200 * (2 / 5 * 2 / 3) / (2 / 5 + 2 / 3), "rouge2": 200 / 6, "rouge_l": 50})


def test_an_n_gram_counts_as_often_as_both_have_it():
    assert score_rouge(["the the the the"], [["the cat the"]])["rouge1"] == pytest.approx(200 * 2 / 7)


def test_the_best_reference_of_each_figure_counts():
    others = ["b a x y", "a q b r s"]  # one has more words in common, the other more in order
    alone = [score_rouge(["a b c d"], [[other]]) for other in others]
    best = score_rouge(["a b c d"], [others])
    assert best == {name: max(one[name] for one in alone) for name in best}
    assert score_rouge(["a", "b"], [["a"], ["c"]])["rouge1"] == 50  # the mean over the summaries


@pytest.mark.parametrize(("summary", "reference"), [("", "a"), ("a", ""), ("…", "…"), ("a", "b")])
def test_nothing_in_common(summary: str, reference: str):
    assert score_rouge([summary], [[reference]]) == {"rouge1": 0, "rouge2": 0, "rouge_l": 0}


def test_words():
    assert rouge_words("Don't stop-it, 2nd Mädchen_x") == ["don", "t", "stop", "it", "2nd", "m", "dchen", "x"]
    assert rouge_words("The Cats were running ties", stemmed=True) == ["the", "cat", "were", "run", "tie"]
    assert rouge_words("was his", stemmed=True) == ["was", "his"]  # too short to have an ending


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("1a", "caresses caress ponies poni ties tie cats cat flies fli"),
        ("1b", "feed feed agreed agre plastered plaster bled bled motoring motor sing sing hopping hop filing file"),
        ("1b", "falling fall hissing hiss failing fail sized size troubled troubl tied tie spied spi"),
        ("1c", "happy happi enjoy enjoy spy spi by by"),
        ("2", "relational relat conditional condit rational ration digitizer digit radically radic geology geolog"),
        ("3", "triplicate triplic formative form electrical electr hopeful hope goodness good"),
        ("4", "revival reviv allowance allow replacement replac adoption adopt effective effect onion onion"),
        ("5", "probate probat rate rate cease ceas controll control roll roll"),
        ("irregular", "dying die news news skies sky innings inning"),
    ],
)
def test_stems(step: str, words: str):
    pairs = words.split()
    assert {word: stem(word) for word in pairs[::2]} == dict(zip(pairs[::2], pairs[1::2], strict=True)), step


def test_summaries_without_references_are_refused():
    with pytest.raises(ValueError, match="reference"):
        score_rouge(["a"], [[]])
    with pytest.raises(ValueError, match="reference"):
        score_rouge(["a", "b"], [["a"]])
