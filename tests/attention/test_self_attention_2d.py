"""Self-attention over feature maps."""

import torch

from saccade.attention import Additive, SelfAttention2d


def test_it_starts_as_the_identity_and_learns_to_be_more() -> None:
    layer, x = SelfAttention2d(16), torch.randn(2, 16, 3, 5)
    context = layer(x).context
    torch.testing.assert_close(context, x, rtol=0, atol=0)
    context.square().sum().backward()
    assert layer.gate.grad is not None
    assert layer.gate.grad != 0


def test_each_position_gathers_from_all_positions() -> None:
    """Against loops over positions, with the published order: x + γ Wo Σ softmax(f·g) h."""
    layer, x = SelfAttention2d(8, key_channels=3, value_channels=5).double(), torch.randn(2, 8, 2, 3).double()
    torch.nn.init.constant_(layer.gate, 0.7)
    output = layer(x, need_weights=True)
    weights = output.weights
    assert weights is not None
    for b in range(2):
        positions = [x[b, :, row, column] for row in range(2) for column in range(3)]
        for p, position in enumerate(positions):

            def project(convolution: torch.nn.Conv2d, vector: torch.Tensor) -> torch.Tensor:
                assert convolution.bias is not None
                return convolution.weight[:, :, 0, 0] @ vector + convolution.bias

            query = project(layer.query_projection, position)
            scores = torch.stack([query @ project(layer.key_projection, other) for other in positions])
            torch.testing.assert_close(weights[b, p], scores.softmax(0))
            values = torch.stack([project(layer.value_projection, other) for other in positions])
            wanted = position + 0.7 * project(layer.output_projection, scores.softmax(0) @ values)
            torch.testing.assert_close(output.context[b, :, p // 3, p % 3], wanted)


def test_any_score_and_no_weights_unless_asked() -> None:
    layer = SelfAttention2d(8, key_channels=4, score=Additive(4, 4))
    torch.nn.init.ones_(layer.gate)
    x = torch.randn(2, 8, 3, 3)
    without, with_them = layer(x), layer(x, need_weights=True)
    assert without.weights is None
    torch.testing.assert_close(without.context, with_them.context)
