"""Caption scores beside pycocoevalcap's, which are those of the tables.

The package brings 100 MB of Java programs along, so its figures stand here: computed with pycocoevalcap 1.2 (Bleu(4),
Rouge() and Cider() over these captions, divided at blanks), times 100.
"""

import math

import pytest

from saccade.metrics.captions import bleu, cider, rouge_l

CAPTIONS = [
    "a man rides a red horse along the beach",
    "two small children are playing with a yellow ball",
    "dog",
    "a plate of food on a wooden table next to a glass",
    "a cat sleeps",
]
REFERENCES = [
    ["a man riding a brown horse on the beach", "someone rides a horse along the sea", "a man on a red horse"],
    ["two children play with a ball", "two small kids are playing with a yellow ball in the grass"],
    ["a brown dog runs through the snow", "the dog is running"],
    ["a wooden table with a plate of food and a glass of wine"],
    ["a cat is asleep on a sofa", "a sleeping cat", "a cat sleeps on the sofa in the sun", "the cat naps"],
]
BLEU = [88.53386206998495, 78.90030275345075, 62.29903522979596, 45.986231708272435]
ROUGE_L = [75.58859975216852, 85.52400981423063, 36.09467455621302, 47.65625000000001, 77.21518987341772]
CIDER = 252.80979520683942

# Each caption by itself, as a corpus of one. Where no n-gram is right, they leave something, and we nothing.
BLEU_OF_EACH = [
    [99.99999997777782, 93.541434647912, 62.9960524797863, 0.008034284187457875],
    [99.99999998888892, 86.60254036821998, 75.39474410339133, 68.03749332243113],
    [4.978706826829008, 0.004978706829318357, 0.0004978706830148144, 0.00015744053386817196],
    [69.0033310856987, 58.8462384733544, 45.72171240322497, 31.44006509636788],
    [99.99999993333338, 99.99999992500005, 99.99999990555564, 3.162277657664911],
]
NONE_RIGHT = [(0, 4), (2, 2), (2, 3), (2, 4), (4, 4)]  # of the last one, there is no 4-gram at all

WORDS = [caption.split() for caption in CAPTIONS]
OTHERS = [[reference.split() for reference in references] for references in REFERENCES]


def test_a_corpus() -> None:
    assert bleu(WORDS, OTHERS) == pytest.approx(BLEU)
    assert rouge_l(WORDS, OTHERS) == pytest.approx(sum(ROUGE_L) / len(ROUGE_L))
    assert cider(WORDS, OTHERS) == pytest.approx(CIDER)


@pytest.mark.parametrize("number", range(len(CAPTIONS)))
def test_one_caption(number: int) -> None:
    words, others = WORDS[number : number + 1], OTHERS[number : number + 1]
    assert rouge_l(words, others) == pytest.approx(ROUGE_L[number])
    for order, (found, theirs) in enumerate(zip(bleu(words, others), BLEU_OF_EACH[number], strict=True), start=1):
        assert found == (0.0 if (number, order) in NONE_RIGHT else pytest.approx(theirs))


def test_their_rule_where_no_n_gram_is_right() -> None:
    """Π (right + 1e-15) / (all + 1e-9): what they leave has nothing to do with how good the caption is."""
    right, all_ = [9, 7, 2, 0], [9, 8, 7, 6]  # of the first caption
    product = math.prod((mine + 1e-15) / (count + 1e-9) for mine, count in zip(right, all_, strict=True))
    assert 100 * product**0.25 == pytest.approx(BLEU_OF_EACH[0][3])
    no_four_grams = 1e-15 / 1e-9
    assert 100 * no_four_grams**0.25 == pytest.approx(BLEU_OF_EACH[4][3])
