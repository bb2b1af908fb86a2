"""How often a caption's nouns were looked for in the right region."""

from collections.abc import Sequence

from saccade.metrics import caption_words, pointing_accuracy
from saccade.tasks.captioning.model import Caption
from saccade.vision import CaptionedImage


def score_pointing_game(images: Sequence[CaptionedImage], captions: Sequence[Caption], *, side: int) -> float:
    """How often the peak of a noun's weights is in that noun's box, in percent, in captions that are exactly right."""
    looked = [
        (caption.attention.mean((0, 1))[noun.word], noun.box)
        for one, caption in zip(images, captions, strict=True)
        if caption.attention is not None and caption_words(caption.text) == caption_words(one.captions[0])
        for noun in one.nouns
        if noun.word < caption.attention.shape[2]
    ]
    return pointing_accuracy(looked, side=side)
