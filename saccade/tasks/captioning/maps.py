"""The attention maps of captions."""

from saccade.base.errors import InputError
from saccade.look import AttentionMap, Grid
from saccade.tasks.captioning.result import Caption


def map_of_caption(caption: Caption, *, image: bytes | None = None, name: str = "") -> AttentionMap:
    """The map of a caption that was made with `attention=True`; with the image, pictures are drawn over it.

    `image` is a PNG's or a JPEG's bytes, as `saccade.vision.picture_for_pages` gives them: upright, and whole.
    """
    if caption.attention is None:
        raise InputError("the caption has no attention; caption with attention=True a model that has some")
    return AttentionMap(caption.words, Grid(caption.side, caption.side, image), caption.attention, "cross", name)
