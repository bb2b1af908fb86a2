"""Made scenes: what the caption says is what was drawn, where the boxes say."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from saccade.cli.main import main
from saccade.vision import Box, Scene, make_scenes, read_captions, read_image, write_scenes
from saccade.vision.shapes import COLOURS, RELATIONS, SHAPES, SIZES

SCENES = make_scenes(60, seed=0, side=64)
NEAR = 40  # of a colour, at most so far in each of red, green and blue


def pixels_of(scene: Scene, colour: str) -> np.ndarray:
    """Where the scene has that colour, `[side, side]`."""
    return np.asarray((np.abs(scene.pixels.astype(int) - COLOURS[colour]) < NEAR).all(-1))


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.caption)
def test_every_noun_is_drawn_in_its_box(scene: Scene):
    words = scene.caption.split()
    inside_any = np.zeros(scene.pixels.shape[:2], dtype=bool)
    for noun in scene.nouns:
        assert words[noun.word] in SHAPES
        half = SIZES[words[noun.word - 2]]
        box = noun.box
        assert (box.right - box.left, box.bottom - box.top) == pytest.approx((2 * half, 2 * half))
        assert 0 <= box.left < box.right <= 1
        assert 0 <= box.top < box.bottom <= 1
        top, left = (max(math.floor(64 * share) - 1, 0) for share in (box.top, box.left))  # edges are smooth
        bottom, right = (math.ceil(64 * share) + 1 for share in (box.bottom, box.right))
        inside = np.zeros_like(inside_any)
        inside[top:bottom, left:right] = True
        inside_any |= inside
        # a star fills least of its box
        assert pixels_of(scene, words[noun.word - 1])[inside].mean() > 0.15
    ground = scene.pixels[~inside_any]
    assert ground.min() > 200  # there is nothing elsewhere


@pytest.mark.parametrize("scene", [scene for scene in SCENES if len(scene.nouns) == 2], ids=lambda scene: scene.caption)
def test_the_relation_is_where_the_boxes_are(scene: Scene):
    large, small = (noun.box for noun in scene.nouns)
    (relation,) = (name for name in RELATIONS if f" {name} " in scene.caption)
    apart = {
        "above": small.top - large.bottom,
        "below": large.top - small.bottom,
        "left of": small.left - large.right,
        "right of": large.left - small.right,
    }
    assert apart[relation] > 0
    assert max(apart, key=lambda name: apart[name]) == relation
    assert scene.caption.startswith("a large ")


def test_a_seed_gives_the_same_scenes_and_another_gives_others():
    again = make_scenes(60, seed=0, side=64)
    assert all((one.pixels == other.pixels).all() for one, other in zip(SCENES, again, strict=True))
    assert [scene.caption for scene in make_scenes(60, seed=1, side=64)] != [scene.caption for scene in SCENES]


def test_all_words_come_up():
    words = {word for scene in make_scenes(300, seed=2, side=16) for word in scene.caption.split()}
    assert words == {"a", "of", *SIZES, *COLOURS, *SHAPES, *(name.split()[0] for name in RELATIONS)}


def test_a_box_contains_what_is_in_it():
    box = Box(0.1, 0.2, 0.3, 0.6)
    assert box.contains(0.2, 0.5)
    assert not box.contains(0.5, 0.2)


def test_written_scenes_are_read_back(tmp_path: Path):
    captions = write_scenes(SCENES[:3], tmp_path / "new")
    found = read_captions(captions)
    assert [one.captions for one in found] == [[scene.caption] for scene in SCENES[:3]]
    for one, scene in zip(found, SCENES, strict=False):
        assert (read_image(tmp_path / "new" / one.image, side=64) == scene.pixels).all()
    first = json.loads(captions.read_text().splitlines()[0])
    assert [noun["word"] for noun in first["nouns"]] == [noun.word for noun in SCENES[0].nouns]
    np.testing.assert_allclose(first["nouns"][0]["box"], SCENES[0].nouns[0].box, atol=1e-4)


def test_scenes_are_not_written_over_what_stands_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Somebody's photographs may have the same names; and there may be others beside them."""
    images = tmp_path / "images"
    images.mkdir()
    (images / "000001.png").write_bytes(b"mine")
    make = ["data", "make", "shapes", "--image-size", "16", "--out", str(tmp_path)]
    assert main([*make, "--scenes", "2"]) == 2
    assert f"{images / '000001.png'} stands there already" in capsys.readouterr().err
    assert [path.name for path in tmp_path.rglob("*")] == ["images", "000001.png"]
    assert main([*make, "--scenes", "1"]) == 0
    assert main([*make, "--scenes", "1"]) == 2
    assert "captions.jsonl stands there already" in capsys.readouterr().err
    assert main([*make, "--scenes", "1", "--seed", "1", "--overwrite"]) == 0
    assert (images / "000001.png").read_bytes() == b"mine"
    (scene,) = make_scenes(1, seed=1, side=16)
    assert (read_image(images / "000000.png", side=16) == scene.pixels).all()
