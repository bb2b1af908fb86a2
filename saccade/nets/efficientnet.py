"""EfficientNet-Lite0 (Tan 2019, in the form without squeeze-excite that was made for small machines).

Letters: `B` batch, `H` height, `W` width, `D` channels.
"""

from typing import Literal, NamedTuple

import torch.nn.functional as F
from torch import Tensor, nn

from saccade.nets.convolution import SameConv2d

Level = Literal["middle", "top", "head"]


class _Stage(NamedTuple):
    """Blocks of one kind in a row; the first of them has the stride."""

    repeats: int
    kernel: int
    stride: int
    expansion: int
    channels: int


STEM, HEAD, CLASSES = 32, 1280, 1000
_STAGES = (
    _Stage(1, 3, 1, 1, 16),
    _Stage(2, 3, 2, 6, 24),
    _Stage(2, 5, 2, 6, 40),
    _Stage(3, 3, 2, 6, 80),
    _Stage(3, 5, 1, 6, 112),
    _Stage(4, 5, 2, 6, 192),
    _Stage(1, 3, 1, 6, 320),
)
_MIDDLE = 5  # stages below the middle level

SIDE = 224  # of the images that the published weights were made with
GRIDS: dict[Level, tuple[int, int]] = {"middle": (14, 112), "top": (7, 320), "head": (7, HEAD)}  # side, D, at 224 x 224


class ConvNorm(nn.Module):
    """A convolution and its batch norm, with ReLU6 after them or without."""

    def __init__(
        self, channels: int, out: int, kernel: int, *, stride: int = 1, groups: int = 1, activation: bool = True
    ) -> None:
        super().__init__()
        self.convolution = SameConv2d(channels, out, kernel, stride=stride, groups=groups)
        self.norm = nn.BatchNorm2d(out, eps=1e-3, momentum=0.01)
        self.activation = activation

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(self.convolution(x))
        return F.relu6(x, inplace=True) if self.activation else x


class InvertedResidual(nn.Module):
    """An inverted bottleneck (Sandler 2018): expand, filter each channel by itself, project; residual where it fits.

    f(x) = project(depthwise(expand(x))), y = x + f(x) if x and f(x) are of one shape, else f(x). No activation after
    the projection.
    """

    def __init__(self, channels: int, out: int, kernel: int, *, stride: int, expansion: int) -> None:
        super().__init__()
        wide = channels * expansion
        self.expand = ConvNorm(channels, wide, 1) if expansion > 1 else None
        self.depthwise = ConvNorm(wide, wide, kernel, stride=stride, groups=wide)
        self.project = ConvNorm(wide, out, 1, activation=False)
        self.residual = stride == 1 and channels == out

    def forward(self, x: Tensor) -> Tensor:
        inner = x if self.expand is None else self.expand(x)
        change = self.project(self.depthwise(inner))
        return x + change if self.residual else change


class EfficientNetLite0(nn.Module):
    """Images `[B, 3, H, W]`, scaled to (x - 127) / 128, to features or to the logits of ImageNet's classes.

    Levels of features, for images of 224 x 224: "middle" 14 x 14 x 112, "top" 7 x 7 x 320, "head" 7 x 7 x 1280.
    """

    def __init__(self) -> None:
        super().__init__()
        self.stem = ConvNorm(3, STEM, 3, stride=2)
        blocks: list[InvertedResidual] = []
        channels = STEM
        for stage in _STAGES:
            for number in range(stage.repeats):
                stride = stage.stride if number == 0 else 1
                shape = {"stride": stride, "expansion": stage.expansion}
                blocks.append(InvertedResidual(channels, stage.channels, stage.kernel, **shape))
                channels = stage.channels
        self.blocks = nn.Sequential(*blocks)
        self.head = ConvNorm(channels, HEAD, 1)
        self.classifier = nn.Linear(HEAD, CLASSES)

    def features(self, images: Tensor, level: Level = "head") -> Tensor:
        """`[B, 3, H, W]` -> `[B, D, ⌈H / 16⌉, ⌈W / 16⌉]` in the middle, `[B, D, ⌈H / 32⌉, ⌈W / 32⌉]` above it."""
        below = sum(stage.repeats for stage in _STAGES[:_MIDDLE]) if level == "middle" else len(self.blocks)
        x = self.blocks[:below](self.stem(images))
        return self.head(x) if level == "head" else x

    def forward(self, images: Tensor) -> Tensor:
        """The logits of the classes, `[B, 1000]`."""
        return self.classifier(self.features(images).mean((-2, -1)))
