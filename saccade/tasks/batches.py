"""Many inputs a few at a time: the same for every model that answers them one by one."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from saccade.base.errors import expect

InputT = TypeVar("InputT")
OutputT = TypeVar("OutputT")


def in_batches(
    answer: Callable[[Sequence[InputT]], Sequence[OutputT]],
    inputs: Sequence[InputT],
    *,
    batch_size: int,
    progress: Callable[[int], None] | None = None,
    size: Callable[[InputT], Any] | None = None,
) -> list[OutputT]:
    """The answer to each of the inputs, in their order, of which `answer` gets at most `batch_size` at a time.

    progress  is told after each batch how many inputs were in it
    size      inputs of similar size go together
    """
    expect("batch_size", batch_size, batch_size >= 1, "at least 1")
    order = list(range(len(inputs)))
    if size is not None:
        order.sort(key=lambda index: size(inputs[index]))
    results: dict[int, OutputT] = {}
    for first in range(0, len(order), batch_size):
        indices = order[first : first + batch_size]
        results |= zip(indices, answer([inputs[index] for index in indices]), strict=True)
        if progress is not None:
            progress(len(indices))
    return [results[index] for index in range(len(inputs))]
