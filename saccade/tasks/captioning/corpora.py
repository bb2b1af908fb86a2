"""The corpus of `saccade data` that captioners learn from: scenes that are drawn."""

import argparse

from saccade.base.counts import counted
from saccade.console.making import add_size, progress, whole_number
from saccade.console.options import TakesOptions
from saccade.tasks.kind import MadeCorpus
from saccade.vision import make_scenes, write_scenes
from saccade.vision.shapes import CAPTIONS, expect_free_for_scenes


def _add_options(parser: TakesOptions) -> None:
    size = whole_number(16, 1024)
    parser.add_argument("--image-size", type=size, default=64, metavar="N", help="pixels of a side (64)")
    add_size(parser, "--scenes", 1_000, "how many")


def _write(chosen: argparse.Namespace) -> None:
    if not chosen.overwrite:
        expect_free_for_scenes(chosen.scenes, chosen.out)  # before the work, not after it
    scenes = make_scenes(chosen.scenes, seed=chosen.seed, side=chosen.image_size)
    write_scenes(scenes, chosen.out, progress=progress())
    made, images = counted(len(scenes), "scene"), chosen.out / "images"
    print(f"{chosen.out / CAPTIONS}: {made}, such as {scenes[0].caption!r}; the images are in {images}")


SHAPES = MadeCorpus(
    "shapes",
    "scenes of coloured shapes, with captions and the box of every noun",
    'Scenes of coloured shapes, with captions ("a large red circle above a small blue star") and the'
    " box of every noun: images, and captions.jsonl.",
    _add_options,
    _write,
)
