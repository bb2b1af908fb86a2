"""Masks: which end they are aligned to, and that True means "may look"."""

import torch
import torch.nn.functional as F

from saccade.attention import causal_mask, padding_mask, window_mask


def rows(mask: torch.Tensor) -> list[str]:
    return ["".join("1" if cell else "0" for cell in row) for row in mask]


def test_padding_mask() -> None:
    mask = padding_mask(torch.tensor([3, 1, 0]))
    assert mask.shape == (3, 1, 3)
    assert rows(mask[:, 0]) == ["111", "100", "000"]
    assert rows(padding_mask(torch.tensor([1, 2]), size=4)[:, 0]) == ["1000", "1100"]


def test_causal_mask_says_its_corner() -> None:
    assert rows(causal_mask(3)) == ["100", "110", "111"]
    assert rows(causal_mask(2, 4)) == rows(causal_mask(2, 4, corner="bottom-right")) == ["1110", "1111"]
    assert rows(causal_mask(2, 4, corner="top-left")) == ["1000", "1100"]


def test_top_left_is_the_causal_of_torch_s_kernel() -> None:
    query, key = torch.randn(1, 1, 2, 4), torch.randn(1, 1, 5, 4)
    wanted = F.scaled_dot_product_attention(query, key, key, is_causal=True)
    found = F.scaled_dot_product_attention(query, key, key, attn_mask=causal_mask(2, 5, corner="top-left"))
    torch.testing.assert_close(found, wanted)


def test_window_mask() -> None:
    assert rows(window_mask(3, 5, window=1)) == ["11000", "11100", "01110"]
    assert rows(window_mask(2, 4, window=1, corner="bottom-right")) == ["0111", "0011"]
    assert rows(window_mask(3, window=2)) == ["111", "111", "111"]
