"""saccade: attention models that a person can train on their own data, look into, and ship."""

from typing import TYPE_CHECKING, Any

from saccade.runtime.threads import wait_briefly

if TYPE_CHECKING:
    from pathlib import Path

__version__ = "0.1.0"

wait_briefly()  # here, because it has to be before torch is loaded


def load(folder: "str | Path") -> Any:
    """The model of a folder, as `saccade train` writes it: a `Translator` or a `Captioner`, as it was trained.

    Of the folder of a run, it is the best model so far.

    saccade.load("run/model").translate(["..."])      saccade.load("run/model").caption(["photo.jpg"])
    """
    from saccade.models import load  # noqa: PLC0415 - `saccade.attention` alone should not need all of this

    return load(folder)


__all__ = ["__version__", "load"]
