"""Images as they come: any mode, any size within reason, upright; one clear line for those that cannot be read."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from saccade.errors import InputError

Pixels = NDArray[np.uint8]  # [height, width, 3]: red, green, blue

# What photographs come in. Pillow reads many more, and the fewer decoders are open to strangers' files the better.
_FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")
_MOST_PIXELS = 100_000_000  # 300 MB while it is being made smaller
_SQUEEZED = 1.5  # how many times too long a line of writing may be
_HALF_AND_MORE = 1 << 8  # what 16 bits are divided by


def read_image(source: Path | bytes, *, side: int, name: str | None = None) -> Pixels:
    """The whole image, upright, as `[side, side, 3]`; if it is no square, its sides change in proportion.

    Transparent parts become white, and of an animation the first picture is taken. `name` is what messages call it.
    """
    with _opened(source, name, most=2 * side) as image:
        small = image.resize((side, side), Image.Resampling.BICUBIC, reducing_gap=3.0)
        return np.asarray(small, dtype=np.uint8)


def read_strip(source: Path | bytes, *, height: int, width: int, name: str | None = None) -> NDArray[np.uint8]:
    """A line of writing as `[height, width]`, in grey: as high as that, and what is missing in width is black.

    One that is a little too long is squeezed; one that would be squeezed beyond reading is an `InputError`.
    """
    with _opened(source, name, most=2 * max(height, width)) as image:
        across = max(1, round(image.width * height / image.height))
        if across > _SQUEEZED * width:
            found, most = image.width / image.height, width / height
            raise InputError(
                f"{_name_of(source, name)}: {found:.1f} times as wide as high, and the model reads strips up to"
                f" {most:.1f} times; cut it in pieces"
            )
        across = min(across, width)
        small = image.convert("L").resize((across, height), Image.Resampling.BICUBIC, reducing_gap=3.0)
        strip = np.zeros((height, width), dtype=np.uint8)
        strip[:, :across] = np.asarray(small)
        return strip


def picture_for_pages(source: Path | bytes, *, most: int = 480, name: str | None = None) -> bytes:
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


def _name_of(source: Path | bytes, name: str | None) -> str:
    return name or (str(source) if isinstance(source, Path) else "the image")


@contextmanager
def _opened(source: Path | bytes, name: str | None, *, most: int) -> Iterator[Image.Image]:
    """The image in red, green and blue, upright; read no larger than is needed for a side of `most`."""
    name = _name_of(source, name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd metadata; what matters is refused below
            with Image.open(io.BytesIO(source) if isinstance(source, bytes) else source, formats=_FORMATS) as image:
                image.draft("RGB", (most, most))  # a JPEG can be read at a fraction of its size
                _expect_bounded(image, name)
                yield _as_rgb(ImageOps.exif_transpose(image))
    except Image.DecompressionBombError:
        raise InputError(f"{name}: far too large an image; wanted at most {_MOST_PIXELS:,} pixels") from None
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
