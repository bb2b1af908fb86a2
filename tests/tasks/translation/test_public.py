"""Public data sets, from a real server and from a folder."""

import gzip
import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from saccade.base.errors import InputError
from saccade.cli.main import main
from saccade.tasks.translation import public
from saccade.tasks.translation.public import SETS, PublicSet, get_public_set

TEXTS = {"train.en": "a dog\n", "train.de": "ein Hund\n"}


class Quiet(SimpleHTTPRequestHandler):
    """Files of a folder, and not a word about it."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """The files of a small set, packed, as they lie on a server."""
    folder = tmp_path / "there"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    return folder


@pytest.fixture
def served(packed: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(packed)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in TEXTS.items()}
    monkeypatch.setitem(SETS, "small", PublicSet(f"http://127.0.0.1:{server.server_port}/", digests))
    yield packed
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("how", ["network", "packed", "unpacked"])
def test_a_set_is_fetched_or_taken_and_is_what_was_published(how: str, served: Path, tmp_path: Path) -> None:
    source = None if how == "network" else served
    if how == "unpacked":
        for name, text in TEXTS.items():
            (served / f"{name}.gz").unlink()
            (served / name).write_text(text)
    began: list[str] = []
    paths = get_public_set("small", tmp_path / "here", source=source, progress=began.append)
    assert {path.name: path.read_text() for path in paths} == TEXTS
    assert began == [str(path) for path in paths]

    paths[0].write_text("half a d")  # of what is there, only what is not whole is fetched again
    began.clear()
    get_public_set("small", tmp_path / "here", source=source, progress=began.append)
    assert began == [str(paths[0])]
    assert paths[0].read_text() == TEXTS["train.en"]


def test_what_is_not_the_file_is_refused(served: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = served / "train.en.gz"
    file.write_bytes(gzip.compress(b"a cat\n"))
    with pytest.raises(InputError, match=r"train\.en\.gz: not the file of small that is meant"):
        get_public_set("small", tmp_path / "here")
    file.write_bytes(gzip.compress(b"a dog\n")[:-9])
    with pytest.raises(InputError, match=r"train\.en\.gz: not a whole gzip file"):
        get_public_set("small", tmp_path / "here", source=served)
    monkeypatch.setattr(public, "_MOST_BYTES", 1 << 20)
    file.write_bytes(gzip.compress(bytes(2 << 20)))  # small packed, large unpacked
    with pytest.raises(InputError, match="more than 1 MB"):
        get_public_set("small", tmp_path / "here")
    file.unlink()
    with pytest.raises(InputError, match=r"train\.en\.gz: cannot be fetched .*404.*--from DIR"):
        get_public_set("small", tmp_path / "here")
    with pytest.raises(InputError, match=r"train\.en: no such file, nor train\.en\.gz; name the folder"):
        get_public_set("small", tmp_path / "here", source=served)
    assert not (tmp_path / "here").exists()


def test_without_a_network_the_remedy_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(SETS, "multi30k", SETS["multi30k"]._replace(address="http://127.0.0.1:9/"))
    assert main(["data", "get", "multi30k", "--out", str(tmp_path)]) == 2
    assert "--from DIR" in capsys.readouterr().err.splitlines()[-1]


def test_the_real_files_are_those_that_are_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    real = Path(__file__).parents[4] / "shared" / "data" / "multi30k"
    if not real.is_dir():
        pytest.skip("no Multi30k in ../shared/data")
    assert main(["data", "get", "multi30k", "--out", str(tmp_path), "--from", str(real)]) == 0
    assert capsys.readouterr().out == f"{tmp_path}: 9 files, as published\n"
    assert len((tmp_path / "train.de").read_text().splitlines()) == 29_000
