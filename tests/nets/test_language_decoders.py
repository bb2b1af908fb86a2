"""What holds for every decoder without a source."""

import itertools
import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from saccade.decode import beam_search, greedy_search
from saccade.nets import Decoder, Encoded, RnnDecoder, TransformerDecoder
from saccade.nets.context import AttentionContext, NoContext, PastContext, SumContext
from saccade.nets.transformer_steps import NativeLoops, StepState
from saccade.nets.transformer_weights import step_library
from saccade.text import END, START
from tests.nets.language_models import MAKERS, SIZE, small_decoder, transformer

every_decoder = pytest.mark.parametrize("name", list(MAKERS))


def some_tokens(rows: int = 3, length: int = 7) -> Tensor:
    torch.manual_seed(4)
    tokens = torch.randint(END + 1, SIZE, (rows, length))
    tokens[:, 0] = START
    return tokens


def logits_of(decoder: Decoder[Any], tokens: Tensor) -> Tensor:
    return decoder.output(decoder(None, tokens).features)


@every_decoder
@pytest.mark.parametrize("given", [0, 1, 4])
def test_steps_after_a_prefix_equal_the_whole(name: str, given: int) -> None:
    """Whatever was read in one pass before."""
    decoder, tokens = small_decoder(name), some_tokens()
    with torch.no_grad():
        wanted = logits_of(decoder, tokens)
        state = decoder.start(None, prefix=tokens[:, :given])
        for t in range(given, tokens.shape[1]):
            step = decoder.step(tokens[:, t], state)
            state = step.state
            torch.testing.assert_close(step.logits, wanted[:, t], atol=1e-4, rtol=1e-4)


@every_decoder
def test_copies_go_on_from_one_prefix(name: str) -> None:
    """Each in its own way, and in another order than they began."""
    decoder, tokens = small_decoder(name), some_tokens(rows=6)
    prefix = tokens[::2, :4].repeat_interleave(2, 0)  # two of each
    tokens = torch.cat([prefix, tokens[:, 4:]], dim=1)
    order = torch.tensor([1, 1, 4, 5])  # the second of the first twice, and both of the third
    with torch.no_grad():
        wanted = logits_of(decoder, tokens)
        state = decoder.start(None, prefix=tokens[::2, :4], copies=2)
        for t in range(4, 6):
            step = decoder.step(tokens[:, t], state)
            state = step.state
            torch.testing.assert_close(step.logits, wanted[:, t], atol=1e-4, rtol=1e-4)
        step = decoder.step(tokens[order, 6], decoder.reorder(state, order))
        torch.testing.assert_close(step.logits, wanted[order, 6], atol=1e-4, rtol=1e-4)


@every_decoder
def test_no_token_knows_what_comes_after_it_nor_its_neighbours(name: str) -> None:
    decoder, tokens = small_decoder(name), some_tokens()
    changed = tokens.clone()
    changed[:, 4:] = END + 1 + (tokens[:, 4:] - END) % (SIZE - END - 1)
    with torch.no_grad():
        before, after = logits_of(decoder, tokens), logits_of(decoder, changed)
        torch.testing.assert_close(before[:, :4], after[:, :4], atol=1e-5, rtol=1e-4)
        assert not torch.allclose(before[:, 4:], after[:, 4:], atol=1e-3)
        for row in range(len(tokens)):
            torch.testing.assert_close(logits_of(decoder, tokens[row : row + 1])[0], before[row], atol=1e-4, rtol=1e-4)


@every_decoder
def test_weights_are_those_of_the_past(name: str) -> None:
    decoder, tokens = small_decoder(name), some_tokens()
    with torch.no_grad():
        found, without = decoder(None, tokens, need_weights=True), decoder(None, tokens)
    assert found.weights is without.weights is without.self_weights is None
    torch.testing.assert_close(found.features, without.features, atol=1e-4, rtol=1e-4)
    if name in ("elman", "gru", "lstm"):
        assert found.self_weights is None
        return
    assert found.self_weights is not None
    recurrent = isinstance(decoder, RnnDecoder)
    earlier = torch.ones(7, found.self_weights.shape[-1]).tril(-1 if recurrent else 0) > 0
    assert found.self_weights.shape[:3] == ((3, 1, 1) if recurrent else (3, 2, 3))
    assert not found.self_weights[..., ~earlier].any()
    if "window" in name:
        assert not found.self_weights[..., ~earlier.triu(-2 if "fed" not in name else -3)].any()


@every_decoder
def test_a_prefix_is_as_likely_as_its_steps(name: str) -> None:
    decoder, tokens = small_decoder(name), some_tokens()
    with torch.no_grad():
        steps = logits_of(decoder, tokens[:, :-1]).log_softmax(-1).gather(-1, tokens[:, 1:, None]).sum((1, 2))
        torch.testing.assert_close(decoder.log_prob(None, tokens), steps, atol=1e-3, rtol=1e-4)
        slowly = super(Decoder, decoder).log_prob(None, tokens)
        torch.testing.assert_close(slowly, steps, atol=1e-3, rtol=1e-4)


@every_decoder
def test_a_wide_beam_finds_the_likeliest_of_all(name: str) -> None:
    """Of all texts that go on from two given tokens, by writing every one of them out."""
    decoder, given, limit = small_decoder(name, sharpness=2.0), [5, 9], 5
    letters = [token for token in range(SIZE) if token > END]
    texts = [
        [START, *given, *middle, END]
        for length in range(limit - len(given))
        for middle in itertools.product(letters, repeat=length)
    ]
    with torch.no_grad():
        scores = [decoder.log_prob(None, torch.tensor([text])).item() for text in texts]
    likeliest = max(range(len(texts)), key=scores.__getitem__)
    (found,) = beam_search(decoder, None, beam=60, limits=[limit], prefixes=[given], early_stopping=False)
    assert [START, *found[0].ids] == texts[likeliest]
    assert found[0].log_prob == pytest.approx(scores[likeliest], abs=1e-3)


@every_decoder
def test_greedy_is_a_beam_of_one_after_prefixes_of_any_length(name: str) -> None:
    decoder, prefixes = small_decoder(name), [[5, 6, 7], [8], [4, 9]]
    greedy = greedy_search(decoder, None, limits=[9, 8, 7], prefixes=prefixes)
    beam = beam_search(decoder, None, beam=1, limits=[9, 8, 7], prefixes=prefixes)
    for one, (other,), prefix in zip(greedy, beam, prefixes, strict=True):
        assert one.ids == other.ids
        assert one.ids[: len(prefix)] == prefix
        assert one.log_prob == pytest.approx(other.log_prob, abs=1e-3)
        alone = greedy_search(decoder, None, limits=[len(one.ids)], prefixes=[prefix])
        assert alone[0].ids == one.ids
        assert alone[0].log_prob == pytest.approx(one.log_prob, abs=1e-3)


def test_a_transformer_without_a_source_is_torchs_encoder_with_a_causal_mask() -> None:
    decoder = small_decoder("transformer pre learned gelu", sharpness=1.5)
    assert isinstance(decoder, TransformerDecoder)
    layer = nn.TransformerEncoderLayer(12, 3, 7, 0.0, "gelu", batch_first=True, norm_first=True)
    peer = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(12), enable_nested_tensor=False).eval()
    with torch.no_grad():
        for ours, theirs in zip(decoder._layers(), peer.layers, strict=True):
            assert isinstance(theirs, nn.TransformerEncoderLayer)
            weights = ours.weights()
            theirs.self_attn.in_proj_weight.copy_(weights.qkv.weight)
            theirs.self_attn.in_proj_bias.copy_(weights.qkv.bias)
            theirs.self_attn.out_proj.weight.copy_(weights.self_output.weight)
            theirs.self_attn.out_proj.bias.copy_(weights.self_output.bias)
            for part, linear in ((weights.inner, theirs.linear1), (weights.outer, theirs.linear2)):
                linear.weight.copy_(part.weight)
                linear.bias.copy_(part.bias)
        tokens = some_tokens()
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        wanted = peer(decoder.tokens(tokens), mask=mask, is_causal=True)
        torch.testing.assert_close(decoder(None, tokens).features, wanted, atol=1e-5, rtol=1e-4)


@pytest.mark.skipif(step_library(torch.empty(0)) is None, reason="no native loops here")
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_a_few_rows_go_through_all_layers_in_one_call(activation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MAKERS, "one", lambda: transformer(activation=activation))
    decoder, tokens = small_decoder("one"), some_tokens()
    calls: list[int] = []
    real = NativeLoops.fused_step

    def counted(self: NativeLoops, x: Tensor, state: StepState) -> Tensor:
        calls.append(len(x))
        return real(self, x, state)

    monkeypatch.setattr(NativeLoops, "fused_step", counted)
    with torch.no_grad():
        step = decoder.step(tokens[:, 3], decoder.start(None, prefix=tokens[:, :3]))
        torch.testing.assert_close(step.logits, logits_of(decoder, tokens[:, :4])[:, 3], atol=1e-4, rtol=1e-4)
    assert calls == [3]


def test_what_does_not_fit_is_refused() -> None:
    decoder = small_decoder("past additive")
    encoded = Encoded(torch.zeros(2, 3, 10), torch.ones(2, 1, 3, dtype=torch.bool))
    for arguments, message in (
        ({"encoded": encoded}, "encoded: found a source, wanted None"),
        ({"encoded": None}, "prefix: found none, wanted"),
        ({"encoded": None, "prefix": torch.zeros(3)}, r"prefix: found shape \[3\], wanted \[3, tokens\]"),
    ):
        with pytest.raises(ValueError, match=message):
            decoder.start(**arguments)  # pyright: ignore[reportArgumentType]
    options = {"cell": "gru", "layers": 1, "input_feeding": False, "dropout": 0.0}
    past = PastContext(4, score="dot", weighting="soft")
    for wrong in ({"has_source": True, "order": "luong"}, {"has_source": False, "order": "bahdanau"}):
        with pytest.raises(ValueError, match="attention to its own past is for decoders without a source"):
            RnnDecoder(nn.Embedding(5, 3), 4, context=past, **options, **wrong)
    with pytest.raises(ValueError, match="looks at no source"):
        past.remember(encoded, torch.zeros(2, 10))
    for context in (SumContext(4), AttentionContext(4, score="dot", weighting="soft")):
        lost = RnnDecoder(nn.Embedding(5, 3), 4, context=context, **options, order="luong", has_source=False)
        with pytest.raises(ValueError, match="wants a source, and this decoder has none"):
            lost.start(None, prefix=torch.zeros(1, 1, dtype=torch.long))
    assert NoContext().without_source(torch.zeros(2, 4)).key.shape == (2, 0, 0)
    assert math.isfinite(decoder.log_prob(None, some_tokens()).sum())
