"""Many inputs a few at a time: the same for every model that answers them one by one."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from saccade.base.errors import expect

InputT = TypeVar("InputT")
OutputT = TypeVar("OutputT")


def in_batches(
    answer: Callable[[Sequence[InputT]], Sequence[OutputT]],
    inputs: Sequence[InputT],
    *,
    batch: int,
    progress: Callable[[int], None] | None = None,
) -> list[OutputT]:
    """The answer to each of the inputs, of which `answer` gets at most `batch` at a time.

    progress  is told after each batch how many inputs were in it
    """
    expect("batch", batch, batch >= 1, "at least 1")
    results: list[OutputT] = []
    for first in range(0, len(inputs), batch):
        part = inputs[first : first + batch]
        results.extend(answer(part))
        if progress is not None:
            progress(len(part))
    return results
