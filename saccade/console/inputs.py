"""What is named behind the model in `saccade look`."""

from collections.abc import Sequence
from pathlib import Path

from saccade.base.errors import InputError
from saccade.console.parser import expect_text


def one_text(inputs: Sequence[str], name: str, wanted: str) -> str:
    """The one text that was typed."""
    if not inputs:
        raise InputError(f"{name}: found nothing, wanted {wanted}")
    if len(inputs) > 1:
        raise InputError(f"{name}: found {len(inputs)} of them, wanted one; put it in quotes")
    expect_text(inputs[0], name)
    if not inputs[0].split():
        raise InputError(f"{name}: found nothing but space, wanted {wanted}")
    return inputs[0]


def one_image(inputs: Sequence[str]) -> Path:
    """The one image that was named."""
    if len(inputs) != 1:
        raise InputError(f"IMAGE: found {len(inputs) or 'none'}, wanted one image to look at")
    return Path(inputs[0])


def model_name(folder: Path) -> str:
    """What a model is called in a picture: its folder, or that of its run."""
    return str(folder.parent.name if folder.name == "model" else folder.name) or str(folder)
