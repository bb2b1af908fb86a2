"""Images: reading them, the boxes on them, their labels and captions, and made ones."""

from saccade.vision.boxes import Box, Noun
from saccade.vision.captions import CaptionedImage, read_captions, read_names
from saccade.vision.digits import make_digits
from saccade.vision.images import (
    Background,
    ImageSource,
    Pixels,
    as_png,
    common_background,
    image_name,
    match_background,
    named_images,
    picture_for_pages,
    read_image,
    read_strip,
)
from saccade.vision.labelled import IMAGE_ENDINGS, LabelledImages, read_labelled
from saccade.vision.pixels import scaled
from saccade.vision.shapes import Scene, make_scenes, write_scenes

__all__ = [
    "IMAGE_ENDINGS",
    "Background",
    "Box",
    "CaptionedImage",
    "ImageSource",
    "LabelledImages",
    "Noun",
    "Pixels",
    "Scene",
    "as_png",
    "common_background",
    "image_name",
    "make_digits",
    "make_scenes",
    "match_background",
    "named_images",
    "picture_for_pages",
    "read_captions",
    "read_image",
    "read_labelled",
    "read_names",
    "read_strip",
    "scaled",
    "write_scenes",
]
