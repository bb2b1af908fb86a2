"""From pixels to what a decoder looks at.

Letters: `B` batch, `H` height, `W` width, `P` regions of the grid, `C` channels.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from saccade.vision.images import Pixels


def scaled(images: Sequence[Pixels] | NDArray[np.uint8]) -> Tensor:
    """`[B, 3, H, W]`, each number x as (x - 127) / 128, as EfficientNet-Lite0 learnt them."""
    together = images if isinstance(images, np.ndarray) else np.stack(images)
    pixels = torch.from_numpy(together).permute(0, 3, 1, 2)  # a view, and so channels last, which is faster
    return (pixels.to(torch.float32) - 127) / 128
