"""Forced decoding: how likely a given target is, and all that was looked at for it."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from saccade.base.errors import InputError
from saccade.tasks.translation.maps import map_for_alignment, maps_of
from saccade.tasks.translation.result import Translation
from tests.tasks.translation.test_model import make

SOURCES = ["9 mai 2026", "Dienstag, 9. November 2026", "1.1.2000"]
TARGETS = ["2026-05-09", "2026-11-09", "2000-01-01"]


@pytest.mark.parametrize("model", ["rnn", "transformer"])
def test_the_log_probability_is_that_of_the_tokens(model: str) -> None:
    translator = make(model)
    decodings = translator.score(SOURCES, TARGETS, batch_size=2)
    net = translator.net.eval()
    for source, target, decoding in zip(SOURCES, TARGETS, decodings, strict=True):
        ids = torch.tensor([translator.tokenize(source, "x").ids])
        wanted = translator.vocabularies.target.encode(target).ids
        with torch.no_grad():
            decoder_output = net.decoder(
                net.encode(ids, torch.tensor([ids.shape[1]])), torch.tensor([[2, *wanted[:-1]]])
            )
            probabilities = net.decoder.output(decoder_output.features[0]).softmax(-1)
        log_prob = sum(math.log(probabilities[index, token]) for index, token in enumerate(wanted))
        assert decoding.log_prob == pytest.approx(log_prob, abs=1e-3)


def test_what_is_forced_equals_what_was_found() -> None:
    """A translation, given back as a target, is as likely as it was, and looks at the same."""
    translator = make("transformer", "characters")
    (found,) = translator.translate(SOURCES[:1], beam=2, length_penalty=0.0, attention=True)
    (decoding,) = translator.score(SOURCES[:1], [found.text])
    assert decoding.log_prob == pytest.approx(found.score, abs=1e-3)
    assert found.forced_decoding is not None
    assert decoding.attention is not None
    assert found.attention is not None
    np.testing.assert_allclose(decoding.attention, found.attention, atol=1e-5)


def test_the_weights_of_the_first_layer_by_hand() -> None:
    """softmax(QKᵀ/√d) of a layer's own projections; characters are their own words, so nothing is merged."""
    translator = make("transformer", "characters")
    (decoding,) = translator.score(SOURCES[:1], TARGETS[:1])
    net = translator.net.eval()

    def first_layer(stack: Any, ids: list[int]) -> torch.Tensor:
        layer = stack.layers[0]
        with torch.no_grad():
            x = layer.attention_residual.normalize_input(stack.tokens(torch.tensor([ids])))
            queries = layer.attention.query_projection(x).view(len(ids), 3, 4).transpose(0, 1)
            keys = layer.attention.key_projection(x).view(len(ids), 3, 4).transpose(0, 1)
        return queries @ keys.transpose(1, 2) / 2

    source = translator.tokenize(SOURCES[0], "x").ids
    target = translator.vocabularies.target.encode(TARGETS[0]).ids
    assert decoding.encoder_attention is not None
    assert decoding.decoder_attention is not None
    own = first_layer(net.encoder, source).softmax(-1)
    np.testing.assert_allclose(decoding.encoder_attention[0], own.numpy(), atol=1e-5)
    scores = first_layer(net.decoder, [2, *target[:-1]])
    later = torch.ones(len(target), len(target), dtype=torch.bool).triu(1)
    np.testing.assert_allclose(
        decoding.decoder_attention[0], scores.masked_fill(later, -math.inf).softmax(-1).numpy(), atol=1e-5
    )


def test_every_map_has_its_own_words() -> None:
    translator = make("transformer")
    (decoding,) = translator.score(SOURCES[1:2], TARGETS[1:2])
    cross, encoder, decoder = maps_of(decoding, name="x")
    assert cross.columns == encoder.rows == encoder.columns == (*SOURCES[1].split(), "</s>")
    assert cross.rows == decoder.rows == (TARGETS[1], "</s>")
    assert decoder.columns == ("<s>", TARGETS[1])
    for seen in (cross, encoder, decoder):
        assert (seen.layers, seen.heads) == (2, 3)
        np.testing.assert_allclose(seen.weights.sum(-1), 1, atol=1e-4)


def test_an_rnn_looks_at_its_source_alone() -> None:
    (decoding,) = make("rnn").score(SOURCES[:1], TARGETS[:1])
    assert [seen.kind for seen in maps_of(decoding)] == ["cross"]
    (decoding,) = make("rnn none").score(SOURCES[:1], TARGETS[:1])
    assert maps_of(decoding) == []


def test_bad_input() -> None:
    translator = make("rnn")
    with pytest.raises(InputError, match="targets: found 1, wanted 3, one for each source"):
        translator.score(SOURCES, TARGETS[:1])
    with pytest.raises(InputError, match="sentence 1: a target of"):
        translator.score(SOURCES[:1], ["1 " * 5000])
    with pytest.raises(InputError, match="translate with attention=True"):
        maps_of(Translation("a", 0.0, ["a"], ["a"]))
    with pytest.raises(InputError, match="sampling: draws have no tree"):
        translator.search_tree("9 mai", sampling=True)


@pytest.mark.parametrize("model", ["rnn", "transformer"])
def test_a_step_later_is_the_row_below(model: str) -> None:
    """Characters are their own words: what was looked at when one had been read is what wrote the next."""
    translator = make(model, "characters")
    for decoding in translator.score(SOURCES, TARGETS, batch_size=2):
        assert decoding.attention is not None
        assert decoding.shifted_attention is not None
        np.testing.assert_array_equal(decoding.shifted_attention, decoding.attention[:, :, 1:])
        assert map_for_alignment(decoding, shift=True).rows == tuple(decoding.target_words[:-1])
        assert map_for_alignment(decoding).rows == tuple(decoding.target_words)


def test_a_step_later_with_words_of_several_tokens() -> None:
    """A word's row is the mean over the steps that its tokens went into."""
    translator = make("transformer", "subwords")
    (decoding,) = translator.score(SOURCES[1:2], ["2026-11-09 2026"])
    tokens = translator.vocabularies.target.encode("2026-11-09 2026")
    ids = torch.tensor([translator.tokenize(SOURCES[1], "x").ids])
    net = translator.net.eval()
    with torch.no_grad():
        encoded = net.encode(ids, torch.tensor([ids.shape[1]]))
        weights = net.decoder(encoded, torch.tensor([[2, *tokens.ids[:-1]]]), need_weights=True).weights
    assert weights is not None
    assert decoding.shifted_attention is not None
    first = [index for index, word in enumerate(tokens.word_of) if word == 0]
    assert len(first) > 1
    wanted = weights[0, :, :, [index + 1 for index in first]].mean(2)  # [L, H, S]
    np.testing.assert_allclose(decoding.shifted_attention[:, :, 0].sum(-1), wanted.sum(-1).numpy(), atol=1e-5)
    seen = translator.tokenize(SOURCES[1], "x")
    for word in range(len(seen.words)):
        columns = [index for index, at in enumerate(seen.word_of) if at == word]
        np.testing.assert_allclose(
            decoding.shifted_attention[:, :, 0, word], wanted[..., columns].sum(-1).numpy(), atol=1e-5
        )


def test_without_attention_there_is_nothing_to_link_by() -> None:
    (decoding,) = make("rnn none").score(SOURCES[:1], TARGETS[:1])
    with pytest.raises(InputError, match="looks at nothing"):
        map_for_alignment(decoding, shift=True)
