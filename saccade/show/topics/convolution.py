"""a filter slides over an image: what it finds, and the size of what comes out

    out[i, j] = Σ_a Σ_b filter[a, b] · image[S i + a - P, S j + b - P]       (outside of the image: 0)

Letters: `W` a side of the image, `F` of the filter, `P` padding, `S` stride.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from saccade.nets import output_size
from saccade.show.lesson import Lesson, Matrix, Table, Text
from saccade.vision import make_digits

SIDE = 16
FILTER = ((-1.0, 0.0, 1.0),) * 3  # ink on the right, none on the left: an upright edge
# W, F, P, S: without and with padding, with a stride; one that does not fit; the first layers of AlexNet and ResNet
SIZES = ((16, 3, 0, 1), (16, 3, 1, 1), (16, 3, 1, 2), (7, 3, 0, 2), (7, 3, 0, 3), (227, 11, 0, 4), (224, 7, 3, 2))


def lesson(*, seed: int = 1) -> Lesson:
    image = torch.tensor(make_digits(1, seed=seed, side=SIDE).pixels[0, :, :, 0]) / 255
    kernel = torch.tensor(FILTER)
    found, strided = slide(image, kernel), slide(image, kernel, stride=2, padding=1)
    row, column = divmod(int(found.argmax()), found.shape[1])
    moved = slide(image.roll(1, dims=1), kernel)
    same = bool(torch.allclose(moved[:, 1:], found[:, :-1]))
    dense = image.numel() * found.numel()
    uneven = next(sizes for sizes in SIZES if _unseen(*sizes) > 0)
    return Lesson(
        "One filter, everywhere",
        (
            Text(f"""
                A picture of {SIDE} × {SIDE} pixels, and a filter of {len(FILTER)} × {len(FILTER)} weights. The filter
                is laid over the picture at every place; there, pixels and weights are multiplied pair by pair and
                added up. That sum is one number of the result.
            """),
            _picture(image, "The picture: 1 is ink"),
            _picture(kernel, "The filter: it looks for ink on the right and none on the left", diverging=True),
            Table(
                ("row", "pixels", "weights", "products", "sum"),
                _products(image[row : row + len(FILTER), column : column + len(FILTER)], kernel),
                caption=f"Where it fits best: from row {row + 1} and column {column + 1} on",
            ),
            _picture(found, "What it found: above 0 where ink begins, below 0 where it ends", diverging=True),
            Text(f"""
                The same {kernel.numel()} weights serve all {found.numel()} places; a layer in which each output has a
                weight for each pixel would have {dense:,}. So what is found does not depend on where it is: with the
                picture moved a column to the right, the result moves a column to the right,
                {"number by number" if same else "nearly"}.
            """),
            _picture(strided, "Every second place, with a border of zeros: stride 2, padding 1", diverging=True),
            Table(
                ("W", "F", "P", "S", "(W - F + 2P) / S + 1", "output_size", "torch"),
                [
                    (*map(str, sizes), f"{_quotient(*sizes) + 1:.4g}", str(_by_library(*sizes)), str(_by_torch(*sizes)))
                    for sizes in SIZES
                ],
                caption="How large the result is along a side; fractions are rounded down",
            ),
            Text(f"""
                A 3 × 3 filter with padding 1 keeps the size, and stride 2 halves it. Where the division does not come
                out even, as for {uneven[0]} pixels with a filter of {uneven[1]} and stride {uneven[3]}, the end is
                never looked at, and torch does not say so: {_unseen(*uneven)} of {uneven[0]} pixels along each side.
            """),
        ),
        paper="LeCun 1998, Gradient-Based Learning Applied to Document Recognition",
    )


def slide(image: Tensor, kernel: Tensor, *, stride: int = 1, padding: int = 0) -> Tensor:
    """One filter `[F, F]` over one picture `[W, W]`."""
    return F.conv2d(image[None, None], kernel[None, None], stride=stride, padding=padding)[0, 0]


def _picture(numbers: Tensor, caption: str, *, diverging: bool = False) -> Matrix:
    high, wide = numbers.shape
    return Matrix(numbers.numpy(), [""] * high, [""] * wide, caption=caption, diverging=diverging, digits=1)


def _products(patch: Tensor, kernel: Tensor) -> list[tuple[str, ...]]:
    """The sum at one place, row by row, and in all."""
    products = patch * kernel
    rows = [
        (str(number), _numbers(pixels), _numbers(weights), _numbers(product), f"{float(product.sum()):.2f}")
        for number, (pixels, weights, product) in enumerate(zip(patch, kernel, products, strict=True), start=1)
    ]
    return [*rows, ("all", "", "", "", f"{float(products.sum()):.2f}")]


def _numbers(row: Tensor) -> str:
    return "  ".join(f"{number + 0.0:.2f}" for number in row.tolist())  # + 0.0: not to say -0


def _quotient(size: int, kernel: int, padding: int, stride: int) -> float:
    return (size - kernel + 2 * padding) / stride


def _by_library(size: int, kernel: int, padding: int, stride: int) -> int:
    return output_size(size, kernel=kernel, stride=stride, padding=padding)


def _by_torch(size: int, kernel: int, padding: int, stride: int) -> int:
    return len(slide(torch.zeros(size, size), torch.zeros(kernel, kernel), stride=stride, padding=padding))


def _unseen(size: int, kernel: int, padding: int, stride: int) -> int:
    """How many pixels at the end of a side no filter is ever laid over; below 0, so much of the padding is used."""
    return size + padding - ((_by_library(size, kernel, padding, stride) - 1) * stride + kernel)
