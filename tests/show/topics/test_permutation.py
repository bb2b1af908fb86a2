"""Whether a layer knows the order, against torch's own attention."""

import numpy as np
import torch
from torch import nn

from saccade.show import Matrix, Table, make_lesson
from saccade.show.topics.permutation import DIM, HEADS, TURNED, furthest_from_commuting, make_layers, word_changes
from tests.show.blocks import blocks, column


def torchs_own() -> nn.MultiheadAttention:
    return nn.MultiheadAttention(DIM, HEADS, batch_first=True).eval()


@torch.no_grad()
def test_what_is_measured_is_nothing_for_torchs_own_layer_and_something_once_it_knows_positions() -> None:
    torch.manual_seed(1)
    layer, words, where = torchs_own(), torch.randn(1, 3, DIM), torch.randn(3, DIM)
    assert furthest_from_commuting(lambda x: layer(x, x, x)[0], words) < 1e-6
    assert furthest_from_commuting(lambda x: layer(x + where, x + where, x + where)[0], words) > 0.1


def test_a_word_that_moved_is_compared_with_itself() -> None:
    words = torch.arange(3.0)[None, :, None].expand(1, 3, DIM)
    only_last = torch.tensor([0.0, 0.0, 1.0])[None, :, None]  # a layer that sees where a word stands
    changes = word_changes(lambda x: x * only_last, words, TURNED)
    assert [change > 0 for change in changes] == [False, False, True]
    assert word_changes(lambda x: 2 * x, words, TURNED) == [0, 0, 0]


def test_without_positions_outputs_and_weights_change_places_alone() -> None:
    shown = make_lesson("permutation")
    first, second = (matrix.weights for matrix in blocks(shown, Matrix))
    np.testing.assert_allclose(second, first[np.ix_(TURNED, TURNED)], atol=1e-6)
    (table,) = blocks(shown, Table)
    assert max(map(float, column(table, "no positions"))) < 1e-5
    assert min(map(float, (column(table, "sinusoidal")[-1], column(table, "rotary")[-1]))) > 0.1


def test_the_layer_without_positions_is_torchs() -> None:
    torch.manual_seed(2)
    attention, layers = make_layers()
    own, words = torchs_own(), torch.randn(1, 3, DIM)
    inner = (attention.query_projection, attention.key_projection, attention.value_projection)
    with torch.no_grad():
        own.in_proj_weight.copy_(torch.cat([one.weight for one in inner]))
        own.out_proj.weight.copy_(attention.output_projection.weight)
        torch.testing.assert_close(layers["no positions"](words), own(words, words, words)[0])
