"""Images as they come: any mode, any size within reason, upright; one clear line for those that cannot be read."""

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError
from torch import Tensor

from saccade.base.errors import InputError

Pixels = NDArray[np.uint8]  # [height, width, 3]: red, green, blue
# A file, its bytes, an image of Pillow's, or pixels as bytes or from 0 to 1: an array `[height, width]` or
# `[height, width, 3]`, or a tensor `[channels, height, width]`, as torch has them.
ImageSource = Path | str | bytes | Image.Image | NDArray[Any] | Tensor
Background = Literal["dark", "light"]

# What photographs come in. Pillow reads many more, and the fewer decoders are open to strangers' files the better.
_FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")
_MOST_PIXELS = 100_000_000  # 300 MB while it is being made smaller
_SQUEEZED = 1.5  # how many times too long a line of writing may be
_HALF_AND_MORE = 1 << 8  # what 16 bits are divided by
_COLOURFUL = 24  # how far apart red, green and blue are on the average of an image that is not grey
_NEARLY_ALL = 0.99  # of the images that have one background
_AT_ONCE = 256  # images


def read_image(source: ImageSource, *, side: int, name: str | None = None) -> Pixels:
    """The whole image, upright, as `[side, side, 3]`; if it is no square, its sides change in proportion.

    Transparent parts become white, and of an animation the first picture is taken. `name` is what messages call it.
    """
    with _opened(source, name, most=2 * side) as image:
        small = image.resize((side, side), Image.Resampling.BICUBIC, reducing_gap=3.0)
        return np.asarray(small, dtype=np.uint8)


def read_strip(source: ImageSource, *, height: int, width: int, name: str | None = None) -> NDArray[np.uint8]:
    """A line of writing as `[height, width]`, white on black: as high as that, and what is missing in width is black.

    One that is written on something light is turned around, black for white. One that is a little too long is
    squeezed; one that would be squeezed beyond reading is an `InputError`.
    """
    with _opened(source, name, most=2 * max(height, width)) as image:
        across = max(1, round(image.width * height / image.height))
        if across > _SQUEEZED * width:
            found, most = image.width / image.height, width / height
            raise InputError(
                f"{name or image_name(source)}: {found:.1f} times as wide as high, and the model reads strips up to"
                f" {most:.1f} times; cut it in pieces"
            )
        across = min(across, width)
        small = image.convert("L").resize((across, height), Image.Resampling.BICUBIC, reducing_gap=3.0)
        strip = np.zeros((height, width), dtype=np.uint8)
        grey = np.asarray(small)
        strip[:, :across] = 255 - grey if lightness(grey[None])[0] > 0 else grey
        return strip


def lightness(grey: NDArray[np.uint8]) -> NDArray[np.int8]:
    """Of images in grey, `[N, height, width]`: 1 for a light background, -1 for a dark one, 0 for no telling, `[N]`.

    Most of an image of writing is what it is written on, so its median is the background's grey. The background is
    light if that is nearer to the lightest grey of the image than to its darkest: badly lit paper is light too.
    """
    flat = grey.reshape(len(grey), -1)
    middle = (flat.min(1).astype(np.float64) + flat.max(1)) / 2
    return np.sign(np.median(flat, axis=1) - middle).astype(np.int8)


def common_background(images: NDArray[np.uint8]) -> Background | None:
    """What nearly all images, `[N, height, width, 3]`, have behind what they show; photographs have nothing in common.

    It is "dark" or "light" if 99 of 100 images or more are grey and have such a background by `lightness`.
    """
    parts = [images[first : first + _AT_ONCE] for first in range(0, len(images), _AT_ONCE)]
    found = np.concatenate([_grey_lightness(part) for part in parts])
    kinds: tuple[tuple[int, Background], ...] = ((-1, "dark"), (1, "light"))
    return next((name for sign, name in kinds if (found == sign).mean() >= _NEARLY_ALL), None)


def match_background(background: Background | None, images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The same images, `[N, height, width, 3]`, but black for white where one is grey and of the other background.

    So a net that has learnt white digits on black reads black ones on white. With None, nothing is turned.
    """
    if background is None:
        return images
    other = 1 if background == "dark" else -1
    return np.where((_grey_lightness(images) == other)[:, None, None, None], 255 - images, images)


def _grey_lightness(images: NDArray[np.uint8]) -> NDArray[np.int8]:
    """Their lightness, and 0 for those in colour. What differs little in red, green and blue is grey by lamplight."""
    red, green, blue = np.moveaxis(images, -1, 0)  # far faster than min and max over the last axis
    darkest = np.minimum(np.minimum(red, green), blue)
    apart = np.maximum(np.maximum(red, green), blue) - darkest
    return np.where(apart.mean((1, 2)) <= _COLOURFUL, lightness(darkest + apart // 2), 0).astype(np.int8)


def picture_for_pages(source: ImageSource, *, most: int = 480, name: str | None = None) -> bytes:
    """The image as a JPEG for people to look at: upright, no side longer than `most`, and nothing but the pixels."""
    with _opened(source, name, most=2 * most) as image:
        image.thumbnail((most, most), reducing_gap=3.0)
        file = io.BytesIO()
        image.save(file, "JPEG", quality=85)
        return file.getvalue()


def as_png(pixels: NDArray[np.uint8]) -> bytes:
    """An array, `[height, width]` or `[height, width, 3]`, as the bytes of a PNG file."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def image_name(source: ImageSource, otherwise: str = "the image") -> str:
    """What messages call an image: its file, if it is one."""
    return str(source) if isinstance(source, str | Path) else otherwise


@contextmanager
def _opened(source: ImageSource, name: str | None, *, most: int) -> Iterator[Image.Image]:
    """The image in red, green and blue, upright; read no larger than is needed for a side of `most`."""
    name = name or image_name(source)
    if not isinstance(source, str | Path | bytes):
        image = source if isinstance(source, Image.Image) else _from_pixels(source, name)
        _expect_bounded(image, name)
        yield _as_rgb(ImageOps.exif_transpose(image))
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd metadata; what matters is refused below
            with Image.open(io.BytesIO(source) if isinstance(source, bytes) else source, formats=_FORMATS) as image:
                image.draft("RGB", (most, most))  # a JPEG can be read at a fraction of its size
                _expect_bounded(image, name)
                yield _as_rgb(ImageOps.exif_transpose(image))
    except Image.DecompressionBombError:
        raise InputError(f"{name}: far too large an image; wanted at most {_MOST_PIXELS:,} pixels") from None
    except IsADirectoryError:
        raise InputError(f"{name}: a folder, wanted an image; name the files in it") from None
    except FileNotFoundError:
        raise InputError(f"{name}: no such file") from None
    except UnidentifiedImageError:
        raise InputError(f"{name}: not an image that can be read; wanted one of {', '.join(_FORMATS)}") from None
    except (OSError, SyntaxError, ValueError, EOFError, MemoryError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name}: the image cannot be read ({error}); it may be cut off or damaged") from None


def _expect_bounded(image: Image.Image, name: str) -> None:
    if image.width * image.height > _MOST_PIXELS:
        raise InputError(
            f"{name}: {image.width} × {image.height} pixels; wanted at most {_MOST_PIXELS:,}: make it smaller"
        )


def _as_rgb(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I") or image.mode == "F":  # 16 bits of grey, and the like
        grey = np.asarray(image, dtype=np.float64)
        scale = _HALF_AND_MORE if grey.max(initial=0) > 255 else 1
        return Image.fromarray(np.clip(grey / scale, 0, 255).astype(np.uint8)).convert("RGB")
    if "A" in image.mode or "transparency" in image.info:
        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(white, image).convert("RGB")
    return image.convert("RGB")


def _from_pixels(pixels: NDArray[Any] | Tensor, name: str) -> Image.Image:
    if not isinstance(pixels, np.ndarray | Tensor):
        found = type(pixels).__name__
        raise InputError(f"{name}: found {found}, wanted a file's name, its bytes, a PIL image, an array or a tensor")
    if isinstance(pixels, Tensor):
        pixels = pixels.detach().cpu().numpy()
        pixels = np.moveaxis(pixels, 0, -1) if pixels.ndim == 3 else pixels
        wanted = "a tensor [channels, height, width]"
    else:
        wanted = "an array [height, width] or [height, width, 3]"
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    if not (pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] == 3)) or 0 in pixels.shape:
        raise InputError(f"{name}: found pixels of shape {list(pixels.shape)}, wanted {wanted}")
    if np.issubdtype(pixels.dtype, np.floating):
        if not bool(((pixels >= 0) & (pixels <= 1)).all()):
            raise InputError(f"{name}: found numbers outside of 0 to 1, wanted these, or bytes from 0 to 255")
        pixels = (pixels * 255).round().astype(np.uint8)
    if pixels.dtype != np.uint8:
        raise InputError(f"{name}: found pixels of {pixels.dtype}, wanted bytes (uint8), or floats from 0 to 1")
    return Image.fromarray(np.ascontiguousarray(pixels))


def named_images(images: Sequence[ImageSource]) -> list[tuple[str, ImageSource]]:
    """Images with what messages call each; one image in place of a list of them is an `InputError`."""
    if isinstance(images, str | bytes | Path | Image.Image | np.ndarray | Tensor):
        raise InputError("images: found one image, wanted a list of them; write [image]")
    return [(image_name(one, f"image {number}"), one) for number, one in enumerate(images, start=1)]
