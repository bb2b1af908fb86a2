"""Translators: text in, text out, with attention between words, from a folder that can go anywhere."""

import dataclasses
import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import saccade
from saccade.base.errors import InputError
from saccade.runtime import shortlist
from saccade.runtime.quantized import quantized_library
from saccade.tasks.translation.dates import Dates
from saccade.tasks.translation.model import Translator
from saccade.tasks.translation.result import Translation
from saccade.tasks.translation.settings import RnnSettings, TransformerSettings, TranslatorSettings
from saccade.text import Vocabularies, VocabularySettings, learn_vocabularies, merge_to_words

PAIRS = [Dates(1).pair(index) for index in range(300)]
SOURCES = [pair.source for pair in PAIRS[:64]]
MODELS = {
    "rnn": RnnSettings(kind="rnn", embedding=8, dim=12),
    "rnn none": RnnSettings(kind="rnn", embedding=8, dim=12, score="none"),
    "rnn last": RnnSettings(kind="rnn", cell="elman", embedding=8, dim=12, score="last", readout=False),
    "rnn static": RnnSettings(kind="rnn", embedding=8, dim=12, score="static", bridge="mlp"),
    "rnn local-m luong": RnnSettings(kind="rnn", embedding=8, dim=12, weighting="local-m", order="luong"),
    "rnn coverage": RnnSettings(kind="rnn", embedding=8, dim=12, score="coverage"),
    "transformer": TransformerSettings(
        kind="transformer", layers=2, dim=12, heads=3, feed_forward=20, tie_embeddings="all"
    ),
    "transformer rotary": TransformerSettings(
        kind="transformer", layers=2, dim=12, heads=3, feed_forward=20, positions="rotary"
    ),
}
UNSEEING = {"rnn none", "rnn last"}  # which look at nothing
VOCABULARIES = {
    "subwords": VocabularySettings(kind="subwords", size=200, joint=True),
    "characters": VocabularySettings(kind="characters", joint=True),
}
SEARCHES = {
    "greedy": {"beam": 1},
    "beam": {"beam": 4, "nbest": 3},
    "penalised": {"beam": 3, "length_penalty": 0.6, "coverage_penalty": 0.2},
    "int8": {"beam": 4, "nbest": 2, "precision": "int8"},
    "sampling": {"sampling": True, "nbest": 2, "top_p": 0.9},
}


@cache
def learnt(vocabulary: str) -> Vocabularies:
    return learn_vocabularies(PAIRS, VOCABULARIES[vocabulary])


def make(model: str, vocabulary: str = "subwords") -> Translator:
    """A translator with random weights, sharp enough to have opinions."""
    settings = TranslatorSettings(model=MODELS[model], vocabulary=VOCABULARIES[vocabulary])
    torch.manual_seed(1)
    translator = Translator.make(settings, learnt(vocabulary))
    with torch.no_grad():
        for parameter in translator.net.parameters():
            parameter.mul_(2.0 if parameter.dim() > 1 else 1.0)
    return translator


def suited(search: str, model: str) -> dict[str, Any]:
    """A search for a model; without attention, nothing can be covered."""
    return SEARCHES[search] | ({"coverage_penalty": 0.0} if model in UNSEEING else {})


def assert_same(found: Translation, wanted: Translation) -> None:
    assert found.text == wanted.text
    assert found.score == pytest.approx(wanted.score, abs=1e-3)
    assert found.source_words == wanted.source_words
    assert found.target_words == wanted.target_words
    if found.attention is None or wanted.attention is None:
        assert found.attention is wanted.attention
    else:
        np.testing.assert_allclose(found.attention, wanted.attention, atol=1e-4)
    for one, other in zip(found.alternatives, wanted.alternatives, strict=True):
        if one.text == other.text:
            assert_same(one, other)
        else:  # which of two was pruned can hang on the last digit that float32 has for the sum of their tokens
            assert one.score == pytest.approx(other.score, rel=1e-5)


@pytest.mark.parametrize("search", list(SEARCHES))
@pytest.mark.parametrize("model", list(MODELS))
def test_batch_1_equals_batch_64(model: str, search: str) -> None:
    """Text, scores, alternatives and attention."""
    translator, how = make(model), suited(search, model)
    together = translator.translate(SOURCES, batch_size=64, attention=True, **how)
    alone = translator.translate(SOURCES[::5], batch_size=1, attention=True, **how)
    for found, wanted in zip(alone, together[::5], strict=True):
        assert_same(found, wanted)
    assert len({translation.text for translation in together}) > 5


@pytest.mark.parametrize("search", ["greedy", "beam", "penalised"])
@pytest.mark.parametrize("model", list(MODELS))
def test_shortlisted_outputs_change_nothing(model: str, search: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large output layers are computed from whole numbers first; these are small, so that has to be asked for."""
    translator, how = make(model), suited(search, model)
    exact = translator.translate(SOURCES, **how)
    monkeypatch.setattr(shortlist, "MIN_WEIGHTS", 0)
    calls: list[int] = []
    top_k = shortlist.ShortlistMatrix.top_k

    def counted(matrix: shortlist.ShortlistMatrix, *arguments: Any, **named: Any) -> torch.Tensor:
        calls.append(1)
        return top_k(matrix, *arguments, **named)

    monkeypatch.setattr(shortlist.ShortlistMatrix, "top_k", counted)
    for found, wanted in zip(translator.translate(SOURCES, **how), exact, strict=True):
        assert_same(found, wanted)
    assert bool(calls) == (quantized_library(torch.empty(1)) is not None)


@pytest.mark.parametrize("model", ["rnn", "rnn last", "rnn static", "transformer"])
def test_int8_changes_scores_a_little(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saccade.runtime.linear.MIN_QUANTIZED_WEIGHTS", 1)
    translator = make(model)
    exact = translator.translate(SOURCES, beam=1)
    rounded = translator.translate(SOURCES, beam=1, precision="int8")
    pairs = [(one, other) for one, other in zip(exact, rounded, strict=True) if one.text == other.text]
    assert len(pairs) > len(SOURCES) / 2
    scores = [(one.score, other.score) for one, other in pairs]
    # these nets are sharper than any that has learnt, and every product of theirs is rounded
    assert all(one == pytest.approx(other, abs=0.5) for one, other in scores)
    assert any(one != other for one, other in scores)
    with pytest.raises(InputError, match=r"precision: found .float16., wanted float32"):
        translator.translate(SOURCES, precision="float16")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("model", list(MODELS))
def test_asking_for_attention_changes_no_text(model: str) -> None:
    translator = make(model)
    plain = translator.translate(SOURCES, beam=3)
    shown = translator.translate(SOURCES, beam=3, attention=True)
    assert [translation.text for translation in plain] == [translation.text for translation in shown]
    assert all(translation.attention is None for translation in plain)


def test_one_weighted_sum_for_all_words_is_one_row_of_weights() -> None:
    for found in make("rnn static").translate(SOURCES[:9], beam=2, attention=True):
        assert found.attention is not None
        first = found.attention[:, :, :1]
        np.testing.assert_allclose(found.attention, first.repeat(len(found.target_words), 2), atol=1e-6)
        assert first.max() > 1.2 * first.mean()


@pytest.mark.parametrize("vocabulary", list(VOCABULARIES))
def test_attention_is_between_words_with_the_end(vocabulary: str) -> None:
    translator = make("transformer", vocabulary)
    for source, found in zip(SOURCES, translator.translate(SOURCES, attention=True), strict=True):
        words = list(source) if vocabulary == "characters" else source.split()
        assert found.source_words == [*words, "</s>"]
        assert found.target_words[-1] == "</s>"
        glue = "" if vocabulary == "characters" else " "
        assert glue.join(found.target_words[:-1]).strip() == found.text.strip()
        assert found.attention is not None
        assert found.attention.shape == (2, 3, len(found.target_words), len(found.source_words))
        np.testing.assert_allclose(found.attention.sum(-1), 1.0, atol=1e-4)


def test_merging_to_words_by_hand() -> None:
    """Columns are summed, rows are averaged: two tokens of the first target word, two of the second source word."""
    weights = np.array([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2], [0.0, 1.0, 0.0]], dtype=np.float32)
    merged = merge_to_words(weights, [0, 0, 1], [0, 1, 1], words=3)
    np.testing.assert_allclose(merged, [[0.3, 0.7, 0.0], [0.0, 1.0, 0.0]], atol=1e-6)


def test_attention_is_that_of_the_words_own_tokens() -> None:
    """Characters are their own words, so nothing is merged: the map is the decoder's own."""
    translator = make("rnn", "characters")
    source = translator.tokenize("9 mai 2026", "x")
    ids = translator.vocabularies.target.encode("2026-05-09").ids
    found = translator.score(["9 mai 2026"], ["2026-05-09"])[0].attention
    assert translator.net.training  # it was told to learn, and still shows what it does without dropout
    encoded = translator.net.eval().encode(torch.tensor([source.ids]), torch.tensor([len(source.ids)]))
    decoder_output = translator.net.decoder(encoded, torch.tensor([[2, *ids[:-1]]]), need_weights=True)
    assert decoder_output.weights is not None
    assert found is not None
    np.testing.assert_allclose(found, decoder_output.weights[0].detach().numpy(), atol=1e-6)


@pytest.mark.parametrize("model", list(MODELS))
def test_a_folder_can_be_moved_anywhere(model: str, tmp_path: Path) -> None:
    translator = make(model)
    translator.save(tmp_path / "here")
    shutil.move(tmp_path / "here", tmp_path / "there")
    loaded = saccade.load(tmp_path / "there", Translator)
    for found, wanted in zip(loaded.translate(SOURCES[:9]), translator.translate(SOURCES[:9]), strict=True):
        assert found.text == wanted.text
        assert found.score == wanted.score
    names = sorted(path.name for path in (tmp_path / "there").iterdir())
    assert names == ["config.yaml", "joint.model", "model.safetensors"]


def test_prefixes_and_empty_sentences() -> None:
    translator = make("rnn", "characters")
    found = translator.translate(["9 mai 2026", "", "  ", "Mai"], prefixes=["20", "", "1", "1"], beam=2, attention=True)
    assert found[0].text.startswith("20")
    assert found[3].text.startswith("1")
    assert found[1].text == found[2].text == ""
    assert found[1].target_words == ["</s>"]


def test_samples_differ_from_each_other_and_not_from_run_to_run() -> None:
    translator = make("rnn")
    first = translator.translate(SOURCES[:5], sampling=True, nbest=4, seed=3)
    again = translator.translate(SOURCES[:5], sampling=True, nbest=4, seed=3)
    other = translator.translate(SOURCES[:5], sampling=True, nbest=4, seed=4)
    assert [dataclasses.astuple(one) for one in first] == [dataclasses.astuple(one) for one in again]
    assert [one.text for one in first] != [one.text for one in other]
    assert len({first[0].text, *(one.text for one in first[0].alternatives)}) > 1


def test_a_translation_as_json() -> None:
    (found,) = make("transformer").translate(["le 9 novembre 2026"], beam=3, nbest=2, attention=True)
    record = json.loads(json.dumps(found.as_json()))
    assert list(record) == ["text", "score", "source_words", "target_words", "attention", "alternatives"]
    assert record["source_words"] == ["le", "9", "novembre", "2026", "</s>"]
    assert len(record["attention"]) == len(record["target_words"])
    assert sum(record["attention"][0]) == pytest.approx(1.0, abs=1e-3)
    assert record["alternatives"][0]["score"] <= record["score"]


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ({"beam": 0}, "beam: found 0, wanted 1 to 1000"),
        ({"beam": 2, "nbest": 3}, "nbest: found 3, wanted at most beam, 2"),
        ({"temperature": 0.0, "sampling": True}, "temperature: found 0.0, wanted above 0"),
        ({"top_p": 1.5, "sampling": True}, "top_p: found 1.5, wanted above 0"),
        ({"top_k": 0, "sampling": True}, "top_k: found 0, wanted at least 1"),
        ({"top_k": 3}, "top_k: found 3, wanted sampling"),
        ({"beem": 3}, "beem: no such option; there are beam, nbest"),
        ({"length_penalty": -1.0}, "length_penalty: found -1.0"),
        ({"batch_size": 0}, "batch_size: found 0"),
        ({"prefixes": ["a", "b"]}, "prefixes: found 2, wanted 1"),
        ({"prefixes": "a"}, r"prefixes: found one text, wanted a list of them, one for each sentence; write \[text\]"),
        ({"prefixes": ["a 🐶"]}, "sentence 1, prefix: 'a 🐶' has signs that this model cannot write"),
        ({"beam": 2.5}, "beam: found 2.5, wanted a whole number"),
    ],
)
def test_a_search_that_makes_no_sense(search: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make("rnn").translate(["a"], **search)  # pyright: ignore[reportArgumentType]


def test_one_text_is_not_a_list_and_a_long_one_is_too_long() -> None:
    translator = make("rnn", "characters")
    with pytest.raises(InputError, match="found one text, wanted a list"):
        translator.translate("le 9 novembre")
    with pytest.raises(InputError, match="found something that is not text"):
        translator.translate(["a", 3])  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match=r"sentence 2: .* this model reads at most 512 tokens"):
        translator.translate(["a", "1 " * 10_000])


def damage(folder: Path, how: str) -> None:
    weights = folder / "model.safetensors"
    if how == "truncated":
        weights.write_bytes(weights.read_bytes()[:-100])
    elif how == "not a model":
        weights.write_bytes(b"PK\x03\x04 something else")
    elif how == "empty":
        weights.write_bytes(b"")
    elif how == "of another":
        make("rnn none").save(folder.parent / "other")
        shutil.copy(folder.parent / "other" / "model.safetensors", weights)
    elif how == "config broken":
        (folder / "config.yaml").write_text("model: [")
    elif how == "config of another size":
        config = (folder / "config.yaml").read_text().replace("dim: 12", "dim: 14")
        (folder / "config.yaml").write_text(config)
    else:
        (folder / how).unlink()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("truncated", "model.safetensors: damaged"),
        ("not a model", "model.safetensors: damaged"),
        ("empty", "model.safetensors: damaged"),
        ("of another", "config.yaml: damaged, or changed since the model was written"),
        ("config broken", "config.yaml: damaged, or changed since"),
        ("config of another size", "config.yaml: damaged, or changed since"),
        ("model.safetensors", "no model.safetensors there"),
        ("config.yaml", "no config.yaml there"),
        ("joint.model", "no joint.model there, which belongs to the model"),
    ],
)
def test_a_damaged_folder_is_explained(how: str, message: str, tmp_path: Path) -> None:
    make("rnn").save(tmp_path / "model")
    damage(tmp_path / "model", how)
    with pytest.raises(InputError, match=message) as error:
        saccade.load(tmp_path / "model")
    assert "\n" not in str(error.value)


def test_weights_that_are_no_numbers(tmp_path: Path) -> None:
    translator = make("rnn")
    with torch.no_grad():
        translator.net.decoder.output.bias[0] = torch.nan
    translator.save(tmp_path)
    with pytest.raises(InputError, match=r"decoder.output.bias has numbers that are not finite"):
        saccade.load(tmp_path)


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        saccade.load(tmp_path / "nowhere")
    make("rnn").save(tmp_path / "model")
    with pytest.raises(InputError, match=r"did you mean .*/model\?"):
        saccade.load(tmp_path)


def test_progress_counts_sentences_whatever_their_parts() -> None:
    """Empty ones are done, too; one that is translated in parts is done with the last of them."""
    settings = RnnSettings(kind="rnn", embedding=8, dim=12, max_length=12)
    translator = Translator.make(
        TranslatorSettings(model=settings, vocabulary=VOCABULARIES["subwords"]), learnt("subwords")
    )
    sentences = ["9 mai", "", "9 mai 2026, 10 mai 2026, 11 mai 2026", "  ", "May"]
    told: list[int] = []
    translations = translator.translate(sentences, batch_size=2, attention=True, progress=told.append)
    assert translations[2].parts
    assert sum(told) == len(sentences)
    assert min(told) >= 1
    maps = translator.maps(translations[2])
    assert len(maps) == sum(len(translator.maps(part)) for part in translations[2].parts) > 1
