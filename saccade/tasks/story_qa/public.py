"""bAbI, by its name."""

import re
from pathlib import Path, PurePosixPath

from saccade.base.counts import counted
from saccade.base.errors import InputError
from saccade.tasks.public_set import PublicSet, Published

_FILE = re.compile(r"qa([1-9]|1[0-9]|20)_[a-z0-9-]+_(train|test)\.txt")
_FOLDERS = ("en", "en-10k")  # in English, with 1,000 and with 10,000 questions to learn from
_QUESTIONS = 1000  # in each file of `en`


def _place(path: PurePosixPath) -> str | None:
    folder = path.parent.name
    return f"{folder}/{path.name}" if folder in _FOLDERS and _FILE.fullmatch(path.name) else None


def _check(folder: Path) -> str:
    """All of `en` is there, each file with as many questions as it has; `en-10k` may be, or some of it."""
    for part in ("train", "test"):
        for task in range(1, 21):
            found = list((folder / "en").glob(f"qa{task}_*_{part}.txt"))
            if len(found) != 1:
                raise InputError(f"babi: {counted(len(found), 'file')} en/qa{task}_..._{part}.txt, wanted one")
            questions = sum(b"\t" in line for line in found[0].read_bytes().splitlines())
            if questions != _QUESTIONS:
                raise InputError(
                    f"babi: {counted(questions, 'question')} in {found[0].name}, wanted {_QUESTIONS:,}; get it anew"
                )
    more = len(list((folder / "en-10k").glob("qa*.txt")))
    with_more = f", and {counted(more, 'file')} in en-10k" if more else ""
    return f"40 files of {_QUESTIONS:,} questions in en{with_more}"


BABI = PublicSet(
    name="babi",
    about="20 tasks of questions about short stories, version 1.2 (Weston 2015)",
    rights="CC BY 3.0",
    page="https://research.facebook.com/downloads/babi",
    # no checksum of the archive is known for sure
    files=[Published("https://s3.amazonaws.com/text-datasets/babi_tasks_1-20_v1-2.tar.gz")],
    megabytes=12,
    most_megabytes=256,
    place=_place,
    archives=["*tasks_1-20_v1-2*", "babi*", "en.tar*", "en-10k.tar*", "en.zip", "en-10k.zip"],
    check=_check,
)

PUBLIC = (BABI,)
