"""metrics.jsonl: one JSON object a line, as training goes; and the same for TensorBoard, where it is installed."""

import importlib
import importlib.util
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saccade.base.errors import InputError
from saccade.base.files import read_own, write_file

_MOST_BYTES = 1 << 30  # of a journal; a training of months has a few hundred megabytes


class Journal:
    """Lines with their step. On resuming, those that will be written again are dropped: all after the checkpoint,
    and the finished model's, so that a training killed while it finishes, or run again once done, leaves one.
    """

    def __init__(self, path: Path, *, step: int, validated: int) -> None:
        self.path = path
        records = read_journal(path) if path.exists() else []
        done = {"valid": validated, "model": 0}  # up to which step lines of a kind stay
        kept = [record for record in records if record["step"] <= min(done.get(name, step) for name in record)]
        write_file(path, "".join(f"{json.dumps(record)}\n" for record in kept).encode())

    def write(self, record: dict[str, Any]) -> None:
        """Add one line."""
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps(record)}\n")
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error.strerror or error}; make room") from error


def read_journal(path: Path) -> list[dict[str, Any]]:
    """The lines of a journal; one that was cut off by a kill, or that has no step, does not count."""
    lines = read_own(path, most=_MOST_BYTES).decode("utf-8", errors="replace").splitlines()
    records = (_read_record(line) for line in lines)
    return [record for record in records if record is not None]


def _read_record(line: str) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and type(record.get("step")) is int else None


class TensorBoard:
    """Figures and attention maps for TensorBoard; does nothing where it is not installed or not wanted.

    Each event is written as it comes, and not by a thread as tensorboard's own writer does it: so a disk that is full
    is noticed here. That ends the board, with one sentence to `say`, and not the training.
    """

    def __init__(self, folder: Path, *, step: int, wanted: bool, say: Callable[[str], None]) -> None:
        self._wanted = wanted and importlib.util.find_spec("tensorboard") is not None
        self._say = say
        # TensorBoard takes the files that have tfevents in their names, in the order of the names
        self._path = folder / f"events.out.tfevents.{time.time_ns() / 1e9:.6f}"
        if self._wanted:
            # slow to import, so only where they are used
            self._protos: Any = importlib.import_module("tensorboard.compat.proto.event_pb2")
            self._records: Any = importlib.import_module("tensorboard.summary.writer.record_writer")
            self._summaries: Any = importlib.import_module("torch.utils.tensorboard.summary")
            # a start takes back what earlier files have of its step and later: it will be written again
            start = self._protos.SessionLog(status=self._protos.SessionLog.START)
            self._write([{"file_version": "brain.Event:2"}, {"session_log": start}], step + 1)

    def scalars(self, group: str, metrics: dict[str, float], step: int) -> None:
        if self._wanted:
            scalar = self._summaries.scalar
            self._write([{"summary": scalar(f"{group}/{name}", value)} for name, value in metrics.items()], step)

    def attention_maps(self, maps: dict[str, NDArray[np.float32]], step: int) -> None:
        """Each map as an image, a weight a block of 12 × 12 points, dark where much weight lies."""
        if self._wanted:
            image, block = self._summaries.image, np.ones((12, 12), dtype=np.float32)
            drawn = {name: np.kron(1 - weights.clip(0, 1), block) for name, weights in maps.items()}
            self._write(
                [{"summary": image(f"attention/{name}", one, dataformats="HW")} for name, one in drawn.items()], step
            )

    def close(self) -> None:
        """Write no more."""
        self._wanted = False

    def _write(self, events: list[dict[str, Any]], step: int) -> None:
        """Events of one step. The file is open no longer than that, so that nothing is left to be closed."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                writer = self._records.RecordWriter(file)
                for event in events:
                    writer.write(self._protos.Event(wall_time=time.time(), step=step, **event).SerializeToString())
        except OSError as error:
            self.close()
            self._say(
                f"{self._path} cannot be written: {error.strerror or error}; training goes on without TensorBoard,"
                " and metrics.jsonl has the metrics"
            )
