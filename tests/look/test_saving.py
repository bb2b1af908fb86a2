"""Maps in files."""

import json
from pathlib import Path

import numpy as np
import pytest

from saccade.base.errors import InputError
from saccade.look import AttentionMap, Grid, load_map, save_map
from tests.look.test_maps import random_map


def test_a_map_comes_back_exactly(tmp_path: Path) -> None:
    seen = random_map()
    save_map(tmp_path / "map.json", seen)
    again = load_map(tmp_path / "map.json")
    assert (again.weights == seen.weights).all()
    assert (again.rows, again.columns, again.kind, again.name) == (seen.rows, seen.columns, seen.kind, seen.name)
    record = json.loads((tmp_path / "map.json").read_text())  # and any other program can read it
    np.testing.assert_array_equal(np.array(record["weights"], dtype=np.float32), seen.weights)


def test_an_image_comes_back(tmp_path: Path) -> None:
    seen = AttentionMap(["dog"], Grid(1, 2, b"\x89PNG"), np.array([[0.25, 0.75]]), name="a </script> dog")
    save_map(tmp_path / "map.json", seen)
    again = load_map(tmp_path / "map.json")
    assert again.columns == seen.columns
    assert again.name == seen.name


HEAD = '{"format": "saccade attention map", "version": 1, "kind": "cross", "rows": ["a"]'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[", "map.json: not JSON"),
        ("[" * 100_000, "map.json: not JSON"),
        ("[1]", "map.json: not an attention map of saccade"),
        ('{"format": "saccade attention map", "version": 2}', "map.json: not an attention map of saccade"),
        (HEAD + "}", "columns, weights is missing"),
        (HEAD + ', "columns": {"height": 1}, "weights": [[1]]}', "map.json: columns: found a broken grid"),
        (HEAD + ', "columns": ["b"], "weights": [[NaN]]}', "map.json: weights: found nan"),
    ],
)
def test_files_that_are_none(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "map.json").write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        load_map(tmp_path / "map.json")
    assert "\n" not in str(caught.value)


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"file/map.json cannot be written"):
        save_map(tmp_path / "file" / "map.json", random_map())


def test_names_may_be_texts(tmp_path: Path) -> None:
    save_map(str(tmp_path / "a.json"), random_map())
    assert (load_map(str(tmp_path / "a.json")).weights == random_map().weights).all()
    with pytest.raises(InputError, match="it comes first"):
        save_map(random_map(), "a.json")  # pyright: ignore[reportArgumentType]
