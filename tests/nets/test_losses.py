"""What decoders are trained by."""

import torch

from saccade.nets.losses import _per_word_baseline


def test_a_draw_is_measured_by_other_uses_of_its_word() -> None:
    target = torch.tensor([[5, 7, 5], [5, 9, 0]])
    reward = torch.tensor([[-1.0, -2.0, -4.0], [-9.0, -3.0, 0.0]])
    # 5 stands three times, 7 and 9 and the padding once each: their draws have nothing to be measured by
    wanted = [[(-4 - 9) / 2, -2.0, (-1 - 9) / 2], [(-1 - 4) / 2, -3.0, 0.0]]
    assert _per_word_baseline(reward, target).tolist() == wanted
