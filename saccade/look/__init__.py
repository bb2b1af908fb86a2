"""Attention maps as pictures."""

from saccade.look.terminal import draw_text

__all__ = ["draw_text"]
