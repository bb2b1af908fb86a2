"""metrics.jsonl: one JSON object a line, as training goes; and the same for TensorBoard, where it is installed."""

import importlib
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saccade.errors import InputError
from saccade.files import read_file, write_file


class Journal:
    """Lines with their step. On resuming, those that will be written again are dropped: all after the checkpoint,
    and the finished model's, so that a training killed while it finishes, or run again once done, leaves one.
    """

    def __init__(self, path: Path, *, step: int) -> None:
        self.path = path
        records = read_journal(path) if path.exists() else []
        kept = [record for record in records if record["step"] <= step and "model" not in record]
        write_file(path, "".join(f"{json.dumps(record)}\n" for record in kept).encode())

    def write(self, record: dict[str, Any]) -> None:
        """Add one line."""
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps(record)}\n")
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error.strerror or error}; make room") from error


def read_journal(path: Path) -> list[dict[str, Any]]:
    """The lines of a journal; a last one that was cut off by a kill does not count."""
    records: list[dict[str, Any]] = []
    for line in read_file(path).decode("utf-8", errors="replace").splitlines():
        try:
            records.append(json.loads(line))
        except ValueError:
            break
    return records


class Board:
    """Figures and attention maps for TensorBoard; does nothing where it is not installed or not wanted."""

    def __init__(self, folder: Path, *, step: int, wanted: bool) -> None:
        self._writer = None
        if wanted and importlib.util.find_spec("tensorboard") is not None:
            module = importlib.import_module("torch.utils.tensorboard")  # slow to import, so only where it is used
            self._writer = module.SummaryWriter(str(folder), purge_step=step + 1)

    def figures(self, group: str, figures: dict[str, float], step: int) -> None:
        if self._writer is not None:
            for name, value in figures.items():
                self._writer.add_scalar(f"{group}/{name}", value, step)

    def pictures(self, pictures: dict[str, NDArray[np.float32]], step: int) -> None:
        """Each map as an image, a weight a block of 12 × 12 points, dark where much weight lies."""
        if self._writer is not None:
            for name, weights in pictures.items():
                blocks = np.kron(1 - weights.clip(0, 1), np.ones((12, 12), dtype=np.float32))
                self._writer.add_image(f"attention/{name}", blocks, step, dataformats="HW")

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
