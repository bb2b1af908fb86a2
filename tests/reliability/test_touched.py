"""Only what is ours is touched."""

import os
import shutil
import stat
from pathlib import Path

import pytest

from saccade.base.errors import InputError
from saccade.base.files import remove_leftovers, write_file
from saccade.cli.main import main
from tests.reliability.conftest import TINY, saccade, tree

OTHERS = (
    ".env.template",
    "sub/.bashrc.original",
    "vocabulary/my-terms.tsv",
    ".idea.settings/x",
    "snapshots/mine.safetensors",
)


def decoys(folder: Path) -> None:
    for name in OTHERS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("mine")


@pytest.mark.parametrize("name", ["{0}", "."])
def test_a_folder_with_other_things_is_refused_by_name(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    decoys(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = tree(tmp_path)
    assert main(["train", *TINY, "train.steps=1", "--run", name.format(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "has other things in it, such as .env.template" in said
    assert said.count("\n") == 1
    assert tree(tmp_path) == before


def test_no_name_is_no_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["train", *TINY, "--run", ""]) == 2
    assert "--run: found nothing, wanted a folder" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_what_others_put_into_a_run_stays(run: Path, tmp_path: Path) -> None:
    """Also when the training begins anew there, and when it goes on."""
    mine = tmp_path / "run"
    shutil.copytree(run, mine)
    decoys(mine)
    (mine / ".metrics.jsonl.abcdefgh").write_text("mine")  # as `tempfile` calls its files
    (mine / ".saccade-0123456789abcdef.tmp").write_text("left by a kill")
    (mine / "sub" / ".saccade-0123456789abcdef.tmp").write_text("mine: nothing is written there")
    (mine / "checkpoint.safetensors").unlink()
    others = {name: value for name, value in tree(mine).items() if not (run / name).exists()}
    del others[".saccade-0123456789abcdef.tmp"]
    for steps in (2, 3):
        settings = ["train.select_checkpoint=average", "train.average_checkpoints=1", "train.validate_every=1"]
        assert main(["train", *TINY, f"train.steps={steps}", *settings, "--run", str(mine)]) == 0
        now = tree(mine)
        assert {name: now.get(name) for name in others} == others
        assert ".saccade-0123456789abcdef.tmp" not in now


def test_leftovers_have_a_name_that_only_saccade_gives(tmp_path: Path) -> None:
    ours = tmp_path / ".saccade-00ff00ff00ff00ff.tmp"
    for name in (
        ours.name,
        ".saccade-mine.tmp",
        ".lock",
        "saccade-00ff00ff00ff00ff.tmp",
        ".x.saccade-00ff00ff00ff00ff.tmp",
    ):
        (tmp_path / name).touch()
    (tmp_path / ".saccade-11ff00ff00ff00ff.tmp").mkdir()
    remove_leftovers(tmp_path)
    left = sorted(path.name for path in tmp_path.iterdir())
    assert ours.name not in left
    assert len(left) == 5


def test_a_missing_parent_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no folder .*nowhere; make it first"):
        write_file(tmp_path / "nowhere" / "file", b"x")
    assert not list(tmp_path.iterdir())


def test_links_are_followed_and_modes_kept(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "real").chmod(0o600)
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("new")
    write_file(tmp_path / "link", b"1")
    write_file(tmp_path / "dangling", b"2")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"1"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o600
    assert (tmp_path / "dangling").is_symlink()
    assert (tmp_path / "new").read_bytes() == b"2"
    before = os.umask(0o077)
    try:
        write_file(tmp_path / "private", b"3")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o600


def test_a_fifo_is_written_into(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_file(fifo, b"hello")
        assert os.read(reader, 10) == b"hello"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(fifo.stat().st_mode)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device, or replace one")
def test_a_device_is_written_into(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    full = tmp_path / "full.png"
    try:
        os.mknod(full, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
    except OSError:
        pytest.skip("no devices can be made here")
    for option in ("--png", "--html"):
        assert main(["look", str(model), "May 3", option, str(full)]) == 2
        assert f"{full} cannot be written: No space left on device; make room" in capsys.readouterr().err
        assert stat.S_ISCHR(full.stat().st_mode)


def test_the_shells_own_file_is_written_into(model: Path, tmp_path: Path) -> None:
    """`--html /dev/stdout > file` goes to that file, which is not put aside while others write to it."""
    with (tmp_path / "out").open("wb") as out:
        result = saccade("look", str(model), "May 3", "--html", "/dev/stdout", stdout=out)
    assert result.returncode == 0
    assert (tmp_path / "out").read_bytes().startswith(b"<!doctype html>")
    assert list(tmp_path.iterdir()) == [tmp_path / "out"]
