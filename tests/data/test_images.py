"""Images as they come."""

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from saccade.data import read_image
from saccade.errors import InputError

SIDE = 32


def red_over_blue(mode: str = "RGB", size: tuple[int, int] = (40, 60)) -> Image.Image:
    """The upper half is red, the lower blue."""
    image = Image.new("RGB", size, "blue")
    image.paste("red", (0, 0, size[0], size[1] // 2))
    return image.convert(mode)


def saved(image: Image.Image, kind: str, **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def is_red_over_blue(pixels: np.ndarray) -> bool:
    upper, lower = pixels[2:12].mean((0, 1)), pixels[-12:-2].mean((0, 1))
    return bool(upper[0] > 180 and upper[2] < 80 and lower[2] > 180 and lower[0] < 80)


@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        ("RGB", "JPEG"),
        ("RGB", "PNG"),
        ("RGB", "WEBP"),
        ("RGB", "BMP"),
        ("RGB", "TIFF"),
        ("P", "PNG"),
        ("P", "GIF"),
        ("CMYK", "JPEG"),
        ("CMYK", "TIFF"),
        ("RGBA", "PNG"),
        ("RGBA", "WEBP"),
    ],
)
def test_every_mode_has_its_colours(mode: str, kind: str):
    pixels = read_image(saved(red_over_blue(mode), kind), side=SIDE)
    assert pixels.shape == (SIDE, SIDE, 3)
    assert pixels.dtype == np.uint8
    assert is_red_over_blue(pixels)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "I;16", "I", "F"])
def test_grey_is_grey_in_every_depth(mode: str):
    light = {"1": 1, "L": 200, "LA": (200, 255), "I;16": 200 * 256, "I": 200, "F": 200.0}[mode]
    image = Image.new(mode, (9, 9), light)
    pixels = read_image(saved(image, "TIFF" if mode in {"I", "F"} else "PNG"), side=SIDE)
    assert np.ptp(pixels) == 0
    assert pixels[0, 0, 0] == (255 if mode == "1" else 200)


def test_transparent_is_white():
    assert read_image(saved(Image.new("RGBA", (5, 5), (0, 0, 0, 0)), "PNG"), side=SIDE).min() == 255
    palette = Image.new("P", (5, 5), 0)
    palette.putpalette([0, 0, 0, 255, 0, 0])
    assert read_image(saved(palette, "PNG", transparency=0), side=SIDE).min() == 255


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_turned_photograph_stands_upright(orientation: int):
    turns = [None, Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.ROTATE_180, Image.Transpose.FLIP_TOP_BOTTOM]
    turns += [Image.Transpose.TRANSPOSE, Image.Transpose.ROTATE_90, Image.Transpose.TRANSVERSE]
    turn = [*turns, Image.Transpose.ROTATE_270][orientation - 1]
    image = red_over_blue() if turn is None else red_over_blue().transpose(turn)
    exif = Image.Exif()
    exif[0x0112] = orientation
    assert is_red_over_blue(read_image(saved(image, "JPEG", exif=exif), side=SIDE))


def test_of_an_animation_the_first_picture(tmp_path: Path):
    path = tmp_path / "moving.gif"
    red_over_blue("P").save(path, save_all=True, append_images=[Image.new("P", (40, 60))] * 3)
    assert is_red_over_blue(read_image(path, side=SIDE))


def test_one_pixel_fills_everything():
    assert (read_image(saved(Image.new("RGB", (1, 1), (1, 2, 3)), "PNG"), side=SIDE) == [1, 2, 3]).all()


def test_a_thin_image_is_squeezed_whole():
    assert is_red_over_blue(read_image(saved(red_over_blue(size=(3, 2000)), "PNG"), side=SIDE))


def png_of_size(width: int, height: int) -> bytes:
    """A PNG that says it is so large, and has no pixels to speak of."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


@pytest.mark.parametrize("size", [(20_000, 20_000), (12_000, 12_000), (2**31 - 1, 1)])
def test_too_large_an_image_is_refused_before_it_is_read(size: tuple[int, int]):
    with pytest.raises(InputError, match="pixels"):
        read_image(png_of_size(*size), side=SIDE, name="huge.png")


def test_a_large_jpeg_is_read_small():
    image = red_over_blue(size=(6000, 9000))
    assert is_red_over_blue(read_image(saved(image, "JPEG", quality=30), side=SIDE))


BROKEN = {
    "text": b"This is a text.\n",
    "nothing": b"",
    "cut off JPEG": saved(red_over_blue(size=(400, 600)), "JPEG")[:900],
    "cut off PNG": saved(red_over_blue(size=(400, 600)), "PNG")[:300],
    "cut off WebP": saved(red_over_blue(size=(400, 600)), "WEBP")[:60],
    "cut off GIF": saved(red_over_blue("P", size=(400, 600)), "GIF")[:100],
    "head alone": b"\x89PNG\r\n\x1a\n",
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN.keys())
def test_what_is_no_image_gets_one_line_with_its_name(content: bytes, tmp_path: Path):
    path = tmp_path / "broken.jpg"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_image(path, side=SIDE)
    message = str(caught.value)
    assert "broken.jpg" in message
    assert "\n" not in message


def test_a_file_that_is_not_there(tmp_path: Path):
    with pytest.raises(InputError, match=r"none\.png"):
        read_image(tmp_path / "none.png", side=SIDE)
