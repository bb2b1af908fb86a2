"""saccade: attention models that a person can train on their own data, look into, and ship."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from saccade.models import Translator

__version__ = "0.1.0"


def load(folder: "str | Path") -> "Translator":
    """The model of a folder, as `saccade train` writes it: `saccade.load("run/model").translate(["..."])`."""
    from saccade.models import load  # noqa: PLC0415 - `saccade.attention` alone should not need all of this

    return load(folder)


__all__ = ["__version__", "load"]
