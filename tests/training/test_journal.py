"""The journal and TensorBoard's events: readable, and a disk that is full ends neither the training nor the other."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from saccade.base.errors import InputError
from saccade.training import Journal, read_journal
from saccade.training.journal import TensorBoard

FIGURES = {"loss": 1.5, "rate": 20.0}


def events_of(folder: Path) -> Any:
    """What TensorBoard itself reads."""
    module = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = module.EventAccumulator(str(folder))
    events.Reload()
    return events


def scalars(folder: Path, name: str) -> list[tuple[int, float]]:
    return [(event.step, event.value) for event in events_of(folder).Scalars(name)]


def test_tensorboard_reads_figures_and_pictures(tmp_path: Path) -> None:
    said: list[str] = []
    threads = threading.active_count()
    board = TensorBoard(tmp_path / "board", step=0, wanted=True, say=said.append)
    for step in (1, 2):
        board.scalars("train", {"loss": 1 / step, "rate": 20.0 * step}, step)
    weights = np.array([[1.0, 0.0, 0.25], [0.0, 0.5, 2.0]], dtype=np.float32)
    board.attention_maps({"a word": weights}, 2)
    assert threading.active_count() == threads
    events = events_of(tmp_path / "board")  # while the training is under way: nothing waits to be written
    assert scalars(tmp_path / "board", "train/loss") == [(1, 1.0), (2, 0.5)]
    assert scalars(tmp_path / "board", "train/rate") == [(1, 20.0), (2, 40.0)]
    (picture,) = events.Images("attention/a word")
    assert (picture.step, picture.height, picture.width) == (2, 24, 36)
    (tmp_path / "picture.png").write_bytes(picture.encoded_image_string)
    with Image.open(tmp_path / "picture.png") as image:
        shades = np.asarray(image.convert("L"))[6::12, 6::12]
    np.testing.assert_allclose(shades, 255 * (1 - weights.clip(0, 1)), atol=1)
    board.close()
    board.scalars("train", FIGURES, 3)
    assert len(scalars(tmp_path / "board", "train/loss")) == 2
    assert said == []


def test_a_training_that_goes_on_takes_back_what_it_writes_again(tmp_path: Path) -> None:
    first = TensorBoard(tmp_path, step=0, wanted=True, say=pytest.fail)
    for step in (1, 2, 3, 4):
        first.scalars("train", {"loss": 10.0 + step}, step)
    again = TensorBoard(tmp_path, step=2, wanted=True, say=pytest.fail)  # killed; the checkpoint was of step 2
    again.scalars("train", {"loss": 20.0}, 3)
    assert scalars(tmp_path, "train/loss") == [(1, 11.0), (2, 12.0), (3, 20.0)]


@pytest.mark.parametrize("why", ["not wanted", "not installed"])
def test_without_tensorboard_there_is_nothing(why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if why == "not installed":
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    board = TensorBoard(tmp_path / "board", step=0, wanted=why == "not installed", say=pytest.fail)
    board.scalars("train", FIGURES, 1)
    board.attention_maps({"a": np.ones((2, 3), dtype=np.float32)}, 1)
    board.close()
    assert not (tmp_path / "board").exists()


def test_a_place_that_cannot_be_written_is_said_once(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    (tmp_path / "board").write_text("a file where the folder should be")
    said: list[str] = []
    board = TensorBoard(tmp_path / "board", step=0, wanted=True, say=said.append)
    board.scalars("train", FIGURES, 1)
    assert len(said) == 1
    assert "cannot be written: File exists; training goes on without TensorBoard" in said[0]


# A file may become no larger than this, as on a disk that is full; a signal comes with it, which is not wanted here.
FULL = """
import resource, signal, sys
from pathlib import Path
import numpy as np
from saccade.base.errors import InputError
from saccade.training.journal import TensorBoard, Journal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
folder = Path(sys.argv[1])
journal = Journal(folder / "metrics.jsonl", step=0, validated=0)
board = TensorBoard(folder / "board", step=0, wanted=True, say=print)
board.scalars("train", {"loss": 1.0}, 1)
resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))
for step in range(2, 30):
    board.scalars("train", {"loss": 1.0}, step)
    board.attention_maps({"a": np.ones((2, 3), dtype=np.float32)}, step)
    try:
        journal.write({"step": step, "text": "x" * 50})
    except InputError as error:
        sys.exit(str(error))
"""


def test_a_full_disk_is_said_in_one_sentence(tmp_path: Path) -> None:
    """The board falls silent after it, and has what was written before; the journal stops the training."""
    pytest.importorskip("tensorboard")
    pytest.importorskip("resource")
    ran = subprocess.run(  # noqa: S603
        [sys.executable, "-W", "error::ResourceWarning", "-c", FULL, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    (said,) = ran.stdout.splitlines()
    assert "cannot be written: File too large; training goes on without TensorBoard" in said
    assert ran.stderr == f"{tmp_path / 'metrics.jsonl'} cannot be written: File too large; make room\n"
    assert scalars(tmp_path / "board", "train/loss")[0] == (1, 1.0)
    assert len(read_journal(tmp_path / "metrics.jsonl")) > 1
    TensorBoard(tmp_path / "board", step=1, wanted=True, say=pytest.fail).scalars("train", {"loss": 2.0}, 2)
    assert scalars(tmp_path / "board", "train/loss") == [(1, 1.0), (2, 2.0)]  # a cut-off event is no hindrance


STRANGE = [
    "3",
    "null",
    "[]",
    '"step"',
    '{"loss": 1}',
    '{"step": "2"}',
    '{"step": true}',
    '{"step": 1.5}',
    "[" * 100_000,
]


@pytest.mark.parametrize("line", STRANGE, ids=lambda line: line[:12])
def test_a_line_that_is_no_record_is_passed_over(line: str, tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text(f'{{"step": 1}}\n{line}\n{{"step": 2}}\n')
    assert read_journal(path) == [{"step": 1}, {"step": 2}]
    Journal(path, step=1, validated=1).write({"step": 2, "new": True})
    assert [json.loads(kept) for kept in path.read_text().splitlines()] == [{"step": 1}, {"step": 2, "new": True}]


def test_what_is_no_regular_file_is_no_journal(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "metrics.jsonl")  # which nobody writes to, and nobody should wait for
    with pytest.raises(InputError, match=r"metrics\.jsonl: not a regular file"):
        read_journal(tmp_path / "metrics.jsonl")
