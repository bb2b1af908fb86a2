"""Images as they come."""

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from saccade.base.errors import InputError
from saccade.tasks.line_reading.lines import make_lines
from saccade.vision import as_png, common_background, make_digits, match_background, read_image, read_strip

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


LINE = make_lines(1, make_digits(40, seed=0, side=16), seed=3, max_length=2).pixels[0]  # [16, 32], white on black


@pytest.mark.parametrize(
    "paper",
    [
        LINE,
        255 - LINE,
        (200 - LINE * 0.6).astype(np.uint8),  # badly lit: from 200 down to 47
        np.stack([255 - LINE, 245 - LINE // 2, 225 - LINE // 2], axis=-1),  # yellow paper and red ink
    ],
    ids=["white on black", "black on white", "badly lit", "in colour"],
)
def test_a_strip_is_white_on_black_whatever_it_was(paper: np.ndarray):
    strip = read_strip(as_png(paper), height=16, width=48)
    assert np.corrcoef(strip[:, :32].ravel(), LINE.ravel())[0, 1] > 0.99
    assert not strip[:, 32:].any()  # what is missing is black, as in what was learnt


def test_the_strip_of_a_dark_line_is_that_of_a_white_one():
    light, dark = (read_strip(as_png(pixels), height=16, width=48) for pixels in (255 - LINE, LINE))
    assert (light == dark).all()


GREY = np.repeat(make_digits(200, seed=0, side=16).pixels[..., :1], 3, axis=-1)
COLOURS = np.random.default_rng(0).integers(0, 256, (200, 16, 16, 3), dtype=np.uint8)
TINTED = np.minimum(255 - GREY, [255, 250, 235]).astype(np.uint8)  # black on paper in lamplight


def mixed(others: np.ndarray, count: int) -> np.ndarray:
    return np.concatenate([others[:count], GREY[count:]])


@pytest.mark.parametrize(
    ("images", "background"),
    [
        (GREY, "dark"),
        (255 - GREY, "light"),
        (TINTED, "light"),
        (mixed(255 - GREY, 2), "dark"),  # one in a hundred
        (mixed(255 - GREY, 3), None),
        (mixed(COLOURS, 2), "dark"),
        (mixed(COLOURS, 3), None),
        (COLOURS, None),
        (GREY // 2 + np.array([0, 60, 120], dtype=np.uint8), None),  # on blue
        (np.full((10, 16, 16, 3), 255, dtype=np.uint8), None),  # nothing is written
    ],
)
def test_the_background_of_nearly_all(images: np.ndarray, background: str | None):
    assert common_background(images) == background


def test_only_grey_images_of_the_other_background_are_turned():
    images = np.stack([GREY[0], 255 - GREY[1], COLOURS[2], 255 - COLOURS[3], np.full_like(GREY[4], 255)])
    turned = match_background("dark", images)
    assert (turned == np.stack([GREY[0], GREY[1], *images[2:]])).all()
    assert (match_background("light", images) == np.stack([255 - GREY[0], 255 - GREY[1], *images[2:]])).all()
    assert match_background(None, images) is images
    assert turned.dtype == np.uint8
