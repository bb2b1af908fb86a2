"""The cache of what an image encoder makes of images."""

from pathlib import Path

import numpy as np
import pytest

from saccade.base.errors import InputError
from saccade.tasks.captioning.cache import INDEX, ROWS, FeatureCache


def rows(*numbers: int) -> np.ndarray:
    return np.stack([np.full((2, 3), number, dtype=np.float16) for number in numbers])


def make(folder: Path) -> FeatureCache:
    return FeatureCache(folder / "cache", shape=(2, 3), kind=np.float16)


def test_it_starts_empty_and_grows(tmp_path: Path):
    cache = make(tmp_path)
    assert cache.keys() == []
    assert cache.rows().shape == (0, 2, 3)
    cache.add([(["a", "b"], rows(1, 2)), (["ü\n"], rows(3))])
    cache.add([(["d"], rows(4))])
    assert make(tmp_path).keys() == ["a", "b", "ü\n", "d"]
    np.testing.assert_array_equal(make(tmp_path).rows(), rows(1, 2, 3, 4))


def test_what_a_killed_process_was_writing_is_swept(tmp_path: Path):
    cache = make(tmp_path)
    cache.add([(["a"], rows(1))])
    left, other = cache.folder / ".saccade-0123456789abcdef.tmp", cache.folder / ".mine.tmp"
    left.touch()
    other.touch()
    cache.add([(["b"], rows(2))])
    assert not left.exists()
    assert other.exists()
    assert cache.keys() == ["a", "b"]


@pytest.mark.parametrize("lost_of", [ROWS, INDEX])
@pytest.mark.parametrize("lost", [2, 7, 12, 15])
def test_what_was_cut_off_is_gone_and_the_rest_stays(tmp_path: Path, lost_of: str, lost: int):
    cache = make(tmp_path)
    cache.add([(["first", "second", "third"], rows(1, 2, 3))])
    path = cache.folder / lost_of
    path.write_bytes(path.read_bytes()[:-lost])
    kept = cache.keys()
    assert 1 <= len(kept) < 3
    assert kept == ["first", "second", "third"][: len(kept)]
    cache.add([(["fourth"], rows(4))])
    assert cache.keys() == [*kept, "fourth"]
    np.testing.assert_array_equal(cache.rows(), rows(*range(1, len(kept) + 1), 4))


def test_a_work_that_fails_leaves_what_was_done(tmp_path: Path):
    def batches():
        yield ["a"], rows(1)
        raise KeyboardInterrupt

    cache = make(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        cache.add(batches())
    assert cache.keys() == ["a"]


def test_rows_of_another_shape_are_a_mistake(tmp_path: Path):
    with pytest.raises(ValueError, match="wanted"):
        make(tmp_path).add([(["a"], np.zeros((1, 3, 2)))])


def test_a_folder_that_cannot_be_written(tmp_path: Path):
    (tmp_path / "cache").write_text("in the way")
    with pytest.raises(InputError, match="cannot be written"):
        make(tmp_path).add([(["a"], rows(1))])
