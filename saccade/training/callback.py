"""What a program can do while a model is trained."""

from collections.abc import Sequence
from typing import Any

from saccade.base.errors import InputError
from saccade.base.settings_errors import short


class Callback:
    """Is called as a training goes on; override what you want. `model` is the model itself, to look at, not to change.

    A training with callbacks is the same, bit for bit, as long as they draw no random numbers from torch.
    """

    def on_step_end(self, step: int, loss: float, model: Any) -> None:
        """A step is done; `loss` is its mean over the items of its batch."""

    def on_validation_end(self, step: int, metrics: dict[str, float], model: Any) -> bool:
        """A validation is done; True ends the training, as early stopping does."""
        return False


def expect_callbacks(callbacks: object) -> None:
    """Raise unless these are callbacks: not one alone, not a class, not a function."""
    if not isinstance(callbacks, Sequence):
        raise InputError(f"callbacks: found {type(callbacks).__name__}, wanted a list of them; write [callback]")
    for callback in callbacks:
        if not isinstance(callback, Callback):
            hint = "; write its name with ()" if isinstance(callback, type) else ""
            raise InputError(f"callbacks: found {short(callback)}, wanted objects of classes made from Callback{hint}")


def any_ends(callbacks: Sequence[Callback], step: int, metrics: dict[str, float], model: Any) -> bool:
    """Tell all of a validation; whether any of them wants the training to end."""
    return any([callback.on_validation_end(step, dict(metrics), model) for callback in callbacks])  # noqa: C419 - all are told
