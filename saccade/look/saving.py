"""Attention maps as JSON, to keep and to exchange."""

import base64
import binascii
import json
from pathlib import Path
from typing import Any

import numpy as np

from saccade.base.errors import InputError
from saccade.base.files import read_file, write_file
from saccade.look.maps import AttentionMap, Grid, as_path

_FORMAT = "saccade attention map"
_MOST_BYTES = 1 << 30


def save_map(path: str | Path, attention: AttentionMap) -> None:
    """Write a map as JSON that any program can read: labels as lists, weights as nested lists, exactly."""
    write_file(as_path(path), f"{json.dumps(map_record(attention))}\n".encode())


def map_record(attention: AttentionMap) -> dict[str, Any]:
    """A map as `save_map` writes it."""
    columns: Any = attention.columns
    if isinstance(columns, Grid):
        image = None if columns.image is None else base64.b64encode(columns.image).decode("ascii")
        columns = {"height": columns.height, "width": columns.width, "image": image}
    return {
        "format": _FORMAT,
        "version": 1,
        "kind": attention.kind,
        "name": attention.name,
        "rows": attention.rows,
        "columns": columns,
        # by way of text: as few digits as give the 32-bit float back, and not the 17 that a Python float takes
        "weights": attention.weights.astype("U32").astype(np.float64).tolist(),
    }


def load_map(path: str | Path) -> AttentionMap:
    """The map of a file that `save_map` wrote."""
    path = as_path(path)
    content = read_file(path)
    if len(content) > _MOST_BYTES:
        raise InputError(f"{path}: {len(content) >> 20} MB, wanted at most {_MOST_BYTES >> 20}")
    try:
        record = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error}); save the map again") from None
    if not isinstance(record, dict) or record.get("format") != _FORMAT or record.get("version") != 1:
        raise InputError(f"{path}: not an attention map of saccade; wanted a file that save_map wrote")
    missing = [name for name in ("kind", "rows", "columns", "weights") if name not in record]
    if missing:
        raise InputError(f"{path}: {', '.join(missing)} is missing; save the map again")
    try:
        return AttentionMap(
            record["rows"],
            _read_columns(record["columns"]),
            record["weights"],
            kind=record["kind"],
            name=str(record.get("name", "")),
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _read_columns(columns: Any) -> Any:
    if not isinstance(columns, dict):
        return columns
    try:
        image = None if columns.get("image") is None else base64.b64decode(columns["image"], validate=True)
        return Grid(int(columns["height"]), int(columns["width"]), image)
    except (KeyError, TypeError, ValueError, binascii.Error):
        raise InputError("columns: found a broken grid, wanted height, width and image") from None
