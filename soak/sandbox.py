"""A folder full of files that are none of a command's business, and what has become of them after it."""

import gzip
import json
import os
import shutil
import stat
from pathlib import Path
from typing import Literal, NamedTuple

from saccade.base.files import is_leftover
from saccade.tasks.pointing.problems import make_problems
from saccade.tasks.story_qa.made import make_stories
from saccade.tasks.story_qa.stories import write_stories
from saccade.tasks.translation.dates import Dates
from saccade.text import write_pairs
from saccade.vision import as_png, make_digits, make_scenes, write_scenes
from soak.tiny import write_digits

# Called a little like what saccade writes or deletes itself.
_DECOYS = (
    ".env.template",
    ".idea.settings/workspace.xml",
    ".saccade-notes.tmp",
    "best.safetensors.bak",
    "checkpoint.safetensors",
    "images/holiday.png",
    "metrics.jsonl",
    "model/config.yaml.orig",
    "recipe.yaml",
    "snapshots/000000001.safetensors",
    "sub/.bashrc.original",
    "tensorboard/events.out.tfevents.old",
    "train.tsv",
    "vocabulary/my-terms.tsv",
    "vocabulary/source.txt",
)
# The same beside what a run of saccade's has.
_IN_RUN = (".env.template", "model/notes.txt", "snapshots/mine.safetensors", "sub/x", "vocabulary/my-terms.tsv")
# What `saccade data make` may write over, if it is told to.
_CORPUS = ("train.tsv", "valid.tsv", "test.tsv", "captions.jsonl", "qa1_made_train.txt", "qa1_made_test.txt")


class Named(NamedTuple):
    """What a command line names to be written: a file, or a folder for a training, a made corpus, or public files."""

    path: str
    kind: Literal["file", "run", "corpus", "public"] = "file"
    overwrite: bool = False  # of a corpus: what is called like its files is replaced


State = tuple[int, int, int, int, str]  # mode, size, times of change, and where a link leads
Tree = dict[str, State]


def furnish(folder: Path, models: dict[str, Path]) -> None:
    """Make the sandbox: decoys, inputs good and bad, models, and a training to go on with."""
    for name in _DECOYS:
        _write(folder / name, f"decoy {name}\n".encode())
    _furnish_inputs(folder / "in")
    for task, model in models.items():
        shutil.copytree(model, folder / "models" / task)
    some, *_ = models.values()
    shutil.copytree(some.parent, folder / "runs" / "begun")
    for name in _IN_RUN:
        _write(folder / "runs" / "begun" / name, b"decoy\n")
    broken = folder / "models" / "fifo"
    shutil.copytree(some, broken)
    (broken / "config.yaml").unlink()
    os.mkfifo(broken / "config.yaml")
    damaged = folder / "models" / "damaged"
    shutil.copytree(some, damaged)
    os.truncate(damaged / "model.safetensors", 1000)
    (folder / "link").symlink_to("sub")
    (folder / "nowhere").symlink_to("is/not/there")


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _furnish_inputs(folder: Path) -> None:
    folder.mkdir()
    pairs = [Dates(3).pair(number) for number in range(4)]
    write_pairs(folder / "pairs.tsv", pairs)
    _write(folder / "source.txt", "".join(f"{pair.source}\n" for pair in pairs).encode())
    _write(folder / "target.txt", "".join(f"{pair.target}\n" for pair in pairs).encode())
    _write(folder / "links.txt", b"0-0\n0-0\n0-0\n0-0\n")
    _write(folder / "source.txt.gz", gzip.compress((folder / "source.txt").read_bytes()))
    problems = (one._asdict() for one in make_problems("sort", 3, seed=1, min_length=2, max_length=4))
    _write(folder / "problems.jsonl", "".join(f"{json.dumps(one)}\n" for one in problems).encode())
    write_stories(folder / "stories.txt", make_stories(2, seed=0))
    _write(folder / "questions.jsonl", b'{"story": ["Mary went to the garden."], "question": "Where is Mary?"}\n' * 2)
    write_scenes(make_scenes(3, seed=0, side=32), folder / "scenes")
    write_digits(folder / "digits")
    digit = make_digits(1, seed=1, side=28).pixels[0]
    _write(folder / "digit.png", as_png(digit))
    _write(folder / "strip.png", as_png(digit.repeat(3, axis=1)))
    _write(folder / "broken.png", as_png(digit)[:50])
    _write(folder / "mine.yaml", b"task: translation\ndata:\n  train: in/pairs.tsv\nmodel: {kind: rnn}\n")
    _write(folder / "broken.yaml", b"task: [\n")
    _write(folder / "empty", b"")
    _write(folder / "binary", bytes(range(256)))
    _write(folder / "utf16.txt", "le 9 novembre 2026\n".encode("utf-16"))


def tree_of(folder: Path) -> Tree:
    """All that is below a folder: what it is, and when it was changed. Of folders only that they are there."""
    found: Tree = {}
    for above, folders, files in os.walk(os.fsencode(folder)):  # names may be no text
        for name in (*folders, *files):
            path = os.path.join(above, name)  # noqa: PTH118 - in bytes
            about = os.lstat(path)
            times = () if stat.S_ISDIR(about.st_mode) else (about.st_size, about.st_mtime_ns, about.st_ctime_ns)
            target = os.fsdecode(os.readlink(path)) if stat.S_ISLNK(about.st_mode) else ""  # noqa: PTH115 - in bytes
            size, written, changed = times or (0, 0, 0)
            relative = os.path.relpath(os.fsdecode(path), folder)
            found[relative] = (about.st_mode, size, written, changed, target)
    return found


def touched(folder: Path, before: Tree, after: Tree, named: list[Named]) -> list[str]:
    """What has changed and was not named, and what was left behind."""
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    resolved = [one._replace(path=_resolved(folder, one.path)) for one in named]
    bad = [name for name in sorted(changed) if not any(_is_named(name, before, one) for one in resolved)]
    left = [name for name in sorted(after) if name not in before and is_leftover(name.rpartition(os.sep)[2])]
    return [*bad, *left]


def _resolved(folder: Path, path: str) -> str:
    """Where a path of the command line leads, as names in the tree are written."""
    return os.path.relpath(os.path.realpath(os.path.join(folder, path)), os.path.realpath(folder))  # noqa: PTH118 - it may be no text


def _is_named(name: str, before: Tree, one: Named) -> bool:
    """Whether something in the tree may have changed because `one` was named."""
    new, prefix = name not in before, "" if one.path == "." else one.path + os.sep
    if name == one.path or one.kind == "file":
        return name == one.path and (one.kind == "file" or new)
    if one.path.startswith(name + os.sep):  # a folder above it, which is made where there is none
        return new
    if not name.startswith(prefix):
        return False
    inside = name.removeprefix(prefix)
    if one.kind == "run":
        empty = not any(other.startswith(prefix) for other in before)
        return empty or (f"{prefix}run.json" in before and inside not in _IN_RUN)
    corpus = inside in _CORPUS or inside == "images" or inside.startswith(f"images{os.sep}")
    return (new and (corpus or one.kind == "public")) or (corpus and one.overwrite)
