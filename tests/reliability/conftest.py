"""What the tests of trust share: one small model that is finished, and a look at a whole tree of files."""

import hashlib
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from saccade.cli.main import main

TINY = [
    "dates",
    "model.dim=16",
    "model.embedding=8",
    "data.pairs=200",
    "data.validation_size=10",
    "train.batch_tokens=512",
    "train.tensorboard=false",
]


def saccade(*arguments: str | bytes, **how: object) -> "subprocess.CompletedProcess[bytes]":
    """The command as a person runs it."""
    command = [sys.executable, "-m", "saccade.cli.main", *arguments]
    return subprocess.run(command, capture_output="stdout" not in how, check=False, timeout=120, **how)  # type: ignore[call-overload] # noqa: S603


def tree(folder: Path) -> dict[str, tuple[int, str]]:
    """Every file and folder below, with its kind and mode, and what it has in it."""
    found: dict[str, tuple[int, str]] = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        content = str(path.readlink()) if path.is_symlink() else ""
        if stat.S_ISREG(mode):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        found[str(path.relative_to(folder))] = (mode, content)
    return found


@pytest.fixture(scope="package")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training that is finished, though it learnt little; nobody may change it."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    assert main(["train", *TINY, "train.steps=30", "--run", str(folder)]) == 0
    return folder


@pytest.fixture(scope="package")
def model(run: Path) -> Path:
    return run / "model"
