"""The Transformer against torch's own, with the same weights."""

from typing import Any

import pytest
import torch
from torch import nn

from saccade.nets import LayerShape, TransformerDecoder, TransformerEncoder
from saccade.nets.transformer import DecoderLayer, EncoderLayer, FeedForward

DIM, HEADS, INNER, LAYERS, SIZE = 12, 3, 20, 2, 17
SHAPES = {
    f"{norm} {activation}": LayerShape(DIM, HEADS, INNER, norm, "sinusoidal", "scaled-dot", activation, 0.0, 0.0)
    for norm in ("pre", "post")
    for activation in ("relu", "gelu")
}


def torch_twin(shape: LayerShape) -> nn.Transformer:
    """torch's Transformer; a norm at the end of its stacks only with norms before the parts, as published."""
    options: dict[str, Any] = {"dropout": 0.0, "batch_first": True, "norm_first": shape.norm == "pre"}
    options["activation"] = shape.activation
    encoder_layer = nn.TransformerEncoderLayer(DIM, HEADS, INNER, **options)
    decoder_layer = nn.TransformerDecoderLayer(DIM, HEADS, INNER, **options)
    norms = [nn.LayerNorm(DIM) if shape.norm == "pre" else None for _ in range(2)]
    return nn.Transformer(
        DIM,
        HEADS,
        custom_encoder=nn.TransformerEncoder(encoder_layer, LAYERS, norms[0], enable_nested_tensor=False),
        custom_decoder=nn.TransformerDecoder(decoder_layer, LAYERS, norms[1]),
        batch_first=True,
    ).eval()


def copy_attention(ours: Any, theirs: nn.MultiheadAttention) -> None:
    weights, biases = theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)
    projections = (ours.query_projection, ours.key_projection, ours.value_projection)
    for projection, weight, bias in zip(projections, weights, biases, strict=True):
        projection.weight.copy_(weight)
        projection.bias.copy_(bias)
    ours.output_projection.load_state_dict(theirs.out_proj.state_dict())


def copy_rest(ours: EncoderLayer | DecoderLayer, theirs: Any, norms: list[nn.LayerNorm]) -> None:
    ours.feed_forward.inner.load_state_dict(theirs.linear1.state_dict())
    ours.feed_forward.outer.load_state_dict(theirs.linear2.state_dict())
    for number, norm in enumerate(norms, start=1):
        norm.load_state_dict(getattr(theirs, f"norm{number}").state_dict())


@pytest.fixture(params=list(SHAPES))
def pair(request: pytest.FixtureRequest) -> tuple[TransformerEncoder, TransformerDecoder, nn.Transformer]:
    shape = SHAPES[request.param]
    torch.manual_seed(2)
    twin = torch_twin(shape)
    embedding = nn.Embedding(SIZE, DIM)
    encoder = TransformerEncoder(embedding, shape, layers=LAYERS, max_length=50).eval()
    decoder = TransformerDecoder(embedding, shape, layers=LAYERS, max_length=50).eval()
    with torch.no_grad():
        for parameter in twin.parameters():
            nn.init.normal_(parameter, std=0.4)
        for ours, theirs in zip(encoder.layers, twin.encoder.layers, strict=True):
            assert isinstance(ours, EncoderLayer)
            copy_attention(ours.attention, theirs.self_attn)  # pyright: ignore[reportArgumentType]
            copy_rest(ours, theirs, [ours.attention_residual.norm, ours.feed_forward_residual.norm])
        for ours, theirs in zip(decoder.layers, twin.decoder.layers, strict=True):
            assert isinstance(ours, DecoderLayer)
            copy_attention(ours.attention, theirs.self_attn)  # pyright: ignore[reportArgumentType]
            copy_attention(ours.cross_attention, theirs.multihead_attn)  # pyright: ignore[reportArgumentType]
            norms = [ours.attention_residual, ours.cross_attention_residual, ours.feed_forward_residual]
            copy_rest(ours, theirs, [around.norm for around in norms])
        for stack, other in ((encoder, twin.encoder), (decoder, twin.decoder)):
            if shape.norm == "pre":
                stack.norm.load_state_dict(other.norm.state_dict())  # pyright: ignore[reportOptionalMemberAccess]
    return encoder, decoder, twin


def test_it_is_torchs_transformer(pair: tuple[TransformerEncoder, TransformerDecoder, nn.Transformer]) -> None:
    encoder, decoder, twin = pair
    source, target = torch.randint(4, SIZE, (3, 7)), torch.randint(4, SIZE, (3, 5))
    lengths = torch.tensor([7, 4, 6])
    padding = torch.arange(7) >= lengths[:, None]
    causal = nn.Transformer.generate_square_subsequent_mask(5)
    with torch.no_grad():
        encoded = encoder(source, lengths)
        states = twin.encoder(encoder.tokens(source), src_key_padding_mask=padding)
        wanted = twin.decoder(
            decoder.tokens(target), states, tgt_mask=causal, memory_key_padding_mask=padding, tgt_is_causal=True
        )
        found = decoder(encoded, target).features
    torch.testing.assert_close(encoded.states[~padding], states[~padding], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)


def test_tokens_are_scaled_and_placed() -> None:
    """x = √D E[token] + PE(position), by hand for one number of each kind."""
    shape = SHAPES["pre relu"]
    embedding = nn.Embedding(SIZE, DIM)
    encoder = TransformerEncoder(embedding, shape, layers=1, max_length=50).eval()
    with torch.no_grad():
        x = encoder.tokens(torch.tensor([[5, 6, 9]]))[0]
    position, token = 2, 9
    angle = position / 10000 ** torch.tensor(4 / DIM)
    torch.testing.assert_close(x[2, 4], embedding.weight[token, 4] * DIM**0.5 + angle.sin())
    torch.testing.assert_close(x[2, 5], embedding.weight[token, 5] * DIM**0.5 + angle.cos())


def test_the_feed_forward_part_drops_only_what_it_is_told_to():
    shape = SHAPES["pre relu"]._replace(dropout=0.5)
    x = torch.randn(2, 3, DIM)
    plain = FeedForward(shape)
    torch.testing.assert_close(plain(x), plain(x), rtol=0, atol=0)
    dropping = FeedForward(shape._replace(feed_forward_dropout=0.5))
    assert not torch.equal(dropping(x), dropping(x))
