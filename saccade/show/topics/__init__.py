"""The topics: one file each, `name_with_underscores.py`, with `lesson(*, seed) -> Lesson`.

The first line of a file's docstring says what is shown, in the list of `saccade show` and in docs/show.md. Nothing of a
topic is imported before it is asked for.
"""

import ast
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources

from saccade.base.errors import InputError
from saccade.show.lesson import Lesson

# In the order in which one may learn them.
TOPICS: tuple[str, ...] = (
    "worked-example",
    "scores",
    "scaling",
    "positions",
    "permutation",
    "mask",
    "heads",
    "gradients",
    "bottleneck",
    "soft-hard-local",
    "cost",
    "convolution",
    "pooling",
    "ntm-addressing",
    "hopfield",
    "beam",
)


def make_lesson(topic: str, *, seed: int = 1) -> Lesson:
    """Compute what is shown of a topic; the same seed gives the same, and torch's own draws go on as they would."""
    if topic not in TOPICS:
        raise InputError(f"topic: found {topic!r}, wanted one of {', '.join(TOPICS)}")
    if not 0 <= seed < 1 << 63:
        raise InputError(f"seed: found {seed}, wanted 0 to {(1 << 63) - 1}")
    with _by_itself():
        return importlib.import_module(f"{__name__}.{_file_of(topic)}").lesson(seed=seed)


@contextmanager
def _by_itself() -> Iterator[None]:
    """In one thread, as all is small and threads would wait for each other, and with random numbers of its own."""
    import torch  # noqa: PLC0415 - it takes a second, and the list of topics does without

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_num_threads(threads)


def summary(topic: str) -> str:
    """What a topic shows, in a line; its module is read, and not imported."""
    source = resources.files(__name__).joinpath(f"{_file_of(topic)}.py").read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(source)) or ""
    return docstring.partition("\n")[0]


def _file_of(topic: str) -> str:
    return topic.replace("-", "_")
