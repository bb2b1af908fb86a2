"""What a text classifier says of texts."""

import numpy as np
import pytest
import torch

import saccade
from saccade.base.errors import InputError
from saccade.tasks.text_classification.model import TextClassifier
from tests.tasks.text_classification.makers import KINDS, LABELS, MAX_LENGTH, small_model

every_kind = pytest.mark.parametrize("name", list(KINDS))
TEXTS = ["a", "not b c", "a b c d e c a e b", "e d c b a", "not a"]


@every_kind
def test_a_text_does_not_depend_on_its_neighbours(name: str) -> None:
    model = small_model(name)
    together = model.classify(TEXTS, attention=True)
    assert len({found.probability for found in together}) == len(TEXTS)
    for text, found in zip(TEXTS, together, strict=True):
        (alone,) = model.classify([text], attention=True)
        assert alone.label == found.label
        assert alone.probabilities == pytest.approx(found.probabilities, abs=1e-5)
        for one, other in ((alone.attention, found.attention), (alone.self_attention, found.self_attention)):
            assert (one is None) == (other is None)
            if one is not None and other is not None:
                np.testing.assert_allclose(one, other, atol=1e-5)


@every_kind
def test_probabilities_are_of_all_labels_the_likeliest_first(name: str) -> None:
    for found in small_model(name).classify(TEXTS):
        shares = list(found.probabilities.values())
        assert set(found.probabilities) == set(LABELS)
        assert sum(shares) == pytest.approx(1, abs=1e-5)
        assert shares == sorted(shares, reverse=True)
        assert (found.label, found.probability) == next(iter(found.probabilities.items()))


@every_kind
def test_maps_say_which_tokens_decided_and_what_they_saw(name: str) -> None:
    model = small_model(name)
    plain, found = model.classify(["not b c"])[0], model.classify(["not b c"], attention=True)[0]
    settings = KINDS[name]
    pooling = "max" if settings["kind"] == "cnn" else settings.get("pooling", "attention")
    sees = settings["kind"] == "transformer" or settings.get("score", "none") != "none"
    maps = model.maps(found, name="x")
    assert [one.kind for one in maps] == ["cross"] * (pooling in {"attention", "max"}) + ["encoder"] * sees
    for one in maps:
        tokens = ("not", "b", "c")
        wanted = ((found.label,), tokens) if one.kind == "cross" else (("<s>", *tokens),) * 2
        assert (one.rows, one.columns) == wanted
        # a recurrent net has nothing to look back at when it reads the start
        first = int(settings["kind"] == "rnn" and one.kind == "encoder")
        np.testing.assert_allclose(one.weights.sum(-1)[..., first:], 1, atol=1e-5)
        if one.kind == "encoder" and settings.get("causal", True):
            assert not np.triu(one.weights[0, 0], 1).any()
    if maps:
        with pytest.raises(InputError, match="attention=True"):
            model.maps(plain)
    else:
        assert model.maps(plain) == []


def test_a_long_text_is_cut_and_a_note_says_so() -> None:
    model = small_model()
    most = MAX_LENGTH - 1
    full, long = (model.classify(["a b " * times + "e"])[0] for times in (5, 6))
    assert full.note == ""
    assert long.note == f"of 13 tokens, the model reads the first {most}"
    assert long.tokens == ([" a", " b"] * 6)[:most]
    assert long.probabilities == model.classify(["a b " * 5 + "a"])[0].probabilities
    (both,) = model.classify(["a zebra b x " + "c " * 20])
    assert both.note == "of 24 tokens, the model reads the first 11; 2 of 11 tokens are not in the vocabulary"
    assert both.tokens[:4] == [" a", " zebra", " b", " x"]


def test_space_around_a_text_changes_nothing() -> None:
    model = small_model()
    first, second = model.classify(["a not b", "  a not b\n"])
    assert first.probabilities == pytest.approx(second.probabilities, abs=1e-6)
    assert first.tokens == second.tokens == [" a", " not", " b"]


def test_a_batch_of_one_token_each_and_the_net_itself() -> None:
    model = small_model("transformer")
    (found,) = model.classify(["a b"])
    ids = torch.tensor([model.read("a b", "here").ids])
    with torch.no_grad():
        shares = model.net.eval()(ids, torch.tensor([3])).logits.softmax(-1)[0]
    assert found.probabilities == pytest.approx(dict(zip(LABELS, shares.tolist(), strict=True)), abs=1e-5)
    assert [len(one.tokens) for one in model.classify(["a", "b", "zebra"])] == [1, 1, 1]


def test_it_is_there_by_its_name(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("label") / "model"
    small_model("cnn").save(folder)
    assert saccade.TextClassifier is TextClassifier
    assert saccade.load(folder, saccade.TextClassifier).classify(["a"]) == small_model("cnn").classify(["a"])


def test_what_is_no_text_is_refused() -> None:
    model = small_model()
    with pytest.raises(InputError, match=r"^texts: found one text, wanted a list"):
        model.classify("abc")
    with pytest.raises(InputError, match=r"^text 2: found nothing, wanted a text$"):
        model.classify(["a", " \n"])
    with pytest.raises(InputError, match=r"^text 1: found half a character"):
        model.classify(["\ud800"])
    with pytest.raises(InputError, match=r"^texts: found something that is not text"):
        model.classify([3])  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match=r"^text 1: 1,048,577 characters, wanted at most 1,048,576"):
        model.classify(["a" * ((1 << 20) + 1)])
