"""Made scenes: coloured shapes of two sizes in relation, with the caption and the true box of every noun.

A scene has one shape or two. Of two, one is large and one small, and the caption begins with the large one, so that an
image has one right caption:

    a small red circle
    a large blue square above a small green triangle
"""

import json
import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from saccade.base.errors import InputError
from saccade.base.files import make_folder, write_file
from saccade.vision.boxes import Box, Noun
from saccade.vision.images import Pixels, as_png

COLOURS = {
    "red": (214, 48, 49),
    "green": (46, 160, 67),
    "blue": (40, 90, 210),
    "yellow": (240, 200, 30),
    "purple": (140, 60, 170),
    "orange": (240, 130, 30),
}
SHAPES = ("circle", "square", "triangle", "cross", "star")
SIZES = {"small": 0.11, "large": 0.2}  # half of a side, as a share of the image's
RELATIONS = ("above", "below", "left of", "right of")
CAPTIONS = "captions.jsonl"

_FINE = 4  # drawn so many times larger, then made smaller: smooth edges


class Scene(NamedTuple):
    """An image that the package drew, and all there is to know of it."""

    pixels: Pixels  # [side, side, 3]
    caption: str
    nouns: list[Noun]


class _Thing(NamedTuple):
    size: str
    colour: str
    shape: str
    x: float
    y: float

    @property
    def words(self) -> str:
        return f"a {self.size} {self.colour} {self.shape}"

    @property
    def box(self) -> Box:
        half = SIZES[self.size]
        return Box(self.x - half, self.y - half, self.x + half, self.y + half)


def make_scene(rng: random.Random, *, side: int) -> Scene:
    """A random scene of `side` x `side` pixels."""
    if rng.random() < 0.3:
        things = [_placed(rng, rng.choice(tuple(SIZES)))]
        caption = things[0].words
    else:
        relation = rng.choice(RELATIONS)
        things = _pair(rng, relation)
        caption = f"{things[0].words} {relation} {things[1].words}"
    indices = [index for index, word in enumerate(caption.split()) if word in SHAPES]
    nouns = [Noun(index, thing.box) for index, thing in zip(indices, things, strict=True)]
    return Scene(_drawn(rng, things, side), caption, nouns)


def make_scenes(count: int, *, seed: int | str, side: int) -> list[Scene]:
    """So many scenes; the same for the same seed."""
    return [make_scene(random.Random(f"scene {seed} {number}"), side=side) for number in range(count)]


def expect_free_for_scenes(count: int, folder: Path) -> None:
    """Raise if a file that `write_scenes` would write for so many scenes stands in `folder` already."""
    paths = (folder / CAPTIONS, *(folder / _image_name(number) for number in range(count)))
    standing = next((path for path in paths if path.exists()), None)
    if standing is not None:
        raise InputError(f"{standing} stands there already; choose another folder, or pass --overwrite")


def write_scenes(scenes: Sequence[Scene], folder: Path, *, progress: Callable[[int, int], None] | None = None) -> Path:
    """Write `images/*.png`, and `captions.jsonl` with the boxes of the nouns, which is the path that comes back.

    The folder is made, if need be. What stands there by these names is written over.
    """
    make_folder(folder / "images")
    lines: list[str] = []
    for number, scene in enumerate(scenes):
        name = _image_name(number)
        write_file(folder / name, as_png(scene.pixels))
        nouns = [{"word": noun.word, "box": [round(share, 4) for share in noun.box]} for noun in scene.nouns]
        lines.append(json.dumps({"image": name, "caption": scene.caption, "nouns": nouns}))
        if progress is not None:
            progress(number + 1, len(scenes))
    write_file(folder / CAPTIONS, "".join(f"{line}\n" for line in lines).encode())
    return folder / CAPTIONS


def _image_name(number: int) -> str:
    return f"images/{number:06d}.png"


def _placed(rng: random.Random, size: str) -> _Thing:
    room = 1 - 2 * SIZES[size]
    x, y = (SIZES[size] + room * rng.random() for _ in range(2))
    return _Thing(size, rng.choice(tuple(COLOURS)), rng.choice(SHAPES), x, y)


def _pair(rng: random.Random, relation: str) -> list[_Thing]:
    """A large thing and a small one that clearly stand so: further apart in this direction than in the other."""
    apart = sum(SIZES.values())
    while True:
        large, small = _placed(rng, "large"), _placed(rng, "small")
        across, down = small.x - large.x, small.y - large.y
        way = {"above": down, "below": -down, "left of": across, "right of": -across}[relation]
        other = abs(across if relation in {"above", "below"} else down)
        differ = (large.colour, large.shape) != (small.colour, small.shape)
        if way > apart and way > 1.5 * other and differ:
            return [large, small]


def _drawn(rng: random.Random, things: list[_Thing], side: int) -> Pixels:
    ground = tuple(rng.randint(225, 250) for _ in range(3))
    image = Image.new("RGB", (side * _FINE, side * _FINE), ground)
    pen = ImageDraw.Draw(image)
    for thing in things:
        corners = [(x * side * _FINE, y * side * _FINE) for x, y in _outline(thing)]
        pen.polygon(corners, fill=COLOURS[thing.colour])
    return np.asarray(image.resize((side, side), Image.Resampling.BOX), dtype=np.uint8)


def _outline(thing: _Thing) -> list[tuple[float, float]]:
    """The corners of a shape, in shares of the image's sides."""
    if thing.shape == "cross":
        arm = 0.34
        unit = [(-arm, -1), (arm, -1), (arm, -arm), (1, -arm), (1, arm), (arm, arm)]
        unit += [(arm, 1), (-arm, 1), (-arm, arm), (-1, arm), (-1, -arm), (-arm, -arm)]
    elif thing.shape == "square":
        unit = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    elif thing.shape == "triangle":
        unit = [(0, -1), (1, 1), (-1, 1)]
    else:
        corners, inner = (10, 0.45) if thing.shape == "star" else (48, 1.0)
        turns = [2 * math.pi * corner / corners for corner in range(corners)]
        radii = [1.0 if corner % 2 == 0 else inner for corner in range(corners)]
        unit = [(radius * math.sin(turn), -radius * math.cos(turn)) for radius, turn in zip(radii, turns, strict=True)]
    half = SIZES[thing.size]
    return [(thing.x + half * x, thing.y + half * y) for x, y in unit]
