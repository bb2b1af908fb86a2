"""Libraries that are kept: which of them are loaded, and what happens with compilers that do anything but compile."""

import ctypes
import logging
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from saccade.runtime import compiler
from saccade.runtime.native import Library, load_library

CC = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
needs_compiler = pytest.mark.skipif(CC is None or os.name != "posix", reason="no C compiler here")

SOURCE = "#ifndef ANSWER\n#define ANSWER 42\n#endif\nREAL answer(void);\nREAL answer(void) { return ANSWER; }\n"


class Bench:
    """A cache and a source of its own."""

    def __init__(self, folder: Path) -> None:
        self.cache = folder / "cache"
        self.source = folder / "answer.c"
        self.source.write_text(SOURCE)

    def load(self) -> Library:
        """As a new process does it."""
        load_library.cache_clear()
        return load_library(self.source, "float")

    def answer(self) -> float:
        functions = self.load().functions
        assert functions is not None
        functions.answer.restype = ctypes.c_float
        return functions.answer()

    def answer_elsewhere(self) -> "subprocess.CompletedProcess[str]":
        """The same in another process: this one has the library already, and must not die of a bad one."""
        code = (
            "import ctypes, pathlib, sys; from saccade.runtime.native import load_library;"
            "library = load_library(pathlib.Path(sys.argv[1]), 'float'); assert library.functions, library.reason;"
            "answer = library.functions.answer; answer.restype = ctypes.c_float; print(answer())"
        )
        command = [sys.executable, "-c", code, str(self.source)]
        return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603

    def put(self, library: Path, content: bytes) -> None:
        """In place of the library, as a file of its own: the one that is there may be in use."""
        library.unlink()
        library.write_bytes(content)
        library.chmod(0o600)

    def build(self) -> Path:
        assert self.answer() == 42
        (library,) = self.cache.glob("*.so")
        return library


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setenv("SACCADE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SACCADE_NATIVE", raising=False)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(compiler, "_OVERDUE", set())
    yield Bench(tmp_path)
    load_library.cache_clear()


def is_own(path: Path) -> bool:
    status = path.lstat()
    return stat.S_ISREG(status.st_mode) and not status.st_mode & 0o022 and status.st_uid == os.getuid()


@needs_compiler
@pytest.mark.parametrize("umask", [0o002, 0o022, 0o077])
def test_a_library_is_its_users_alone_whatever_the_umask(bench: Bench, umask: int) -> None:
    before = os.umask(umask)
    try:
        library = bench.build()
    finally:
        os.umask(before)
    assert is_own(library)
    written = library.stat().st_mtime_ns
    assert bench.answer() == 42
    assert library.stat().st_mtime_ns == written


@needs_compiler
@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_library_that_others_can_write_is_built_anew(
    bench: Bench, mode: int, caplog: pytest.LogCaptureFixture
) -> None:
    library = bench.build()
    library.chmod(mode)
    assert bench.answer() == 42
    assert is_own(library)
    assert f"{library} is not a file that you alone can write, and will be built anew" in caplog.text


@needs_compiler
def test_a_library_of_somebody_else_is_built_anew(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder that is now this user's own, as after the advised `chmod 700`."""
    library = bench.build()
    written = library.stat().st_mtime_ns
    lstat = Path.lstat

    def theirs(path: Path) -> os.stat_result:
        status = list(lstat(path))
        status[stat.ST_UID] += path == library
        return os.stat_result(status)

    monkeypatch.setattr(Path, "lstat", theirs)
    assert bench.answer() == 42
    assert library.stat().st_mtime_ns != written


@needs_compiler
def test_a_link_is_replaced_and_what_it_points_to_is_left_alone(bench: Bench, tmp_path: Path) -> None:
    library = bench.build()
    elsewhere = library.rename(tmp_path / "elsewhere")
    library.symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    assert bench.answer() == 42
    assert is_own(library)
    assert elsewhere.read_bytes() == before


@needs_compiler
def test_what_was_planted_does_not_run(bench: Bench, tmp_path: Path) -> None:
    """Not even what a library does while it is opened."""
    library = bench.build()
    marks = tmp_path / "it ran"
    evil = tmp_path / "evil.c"
    evil.write_text(
        "#include <stdio.h>\n"
        f'__attribute__((constructor)) static void run(void) {{ fclose(fopen("{marks}", "w")); }}\n'
        "float answer(void) { return 13; }\n"
    )
    subprocess.run([str(CC), "-shared", "-fPIC", str(evil), "-o", str(tmp_path / "evil.so")], check=True)  # noqa: S603
    bench.put(library, (tmp_path / "evil.so").read_bytes())
    assert bench.answer_elsewhere().stdout == "42.0\n"
    assert not marks.exists()


@needs_compiler
def test_a_library_of_another_source_is_built_anew(bench: Bench) -> None:
    library = bench.build()
    whole = library.read_bytes()
    library.unlink()
    bench.source.write_text(SOURCE.replace("42", "43"))
    assert bench.answer() == 43
    (other,) = bench.cache.glob("*.so")
    bench.put(other, whole)
    assert bench.answer_elsewhere().stdout == "43.0\n"


@needs_compiler
@pytest.mark.parametrize("kept", [0, 1, 63, 64, 4096, 5000, 9000, -1])
def test_a_library_that_was_cut_off_ends_no_process(bench: Bench, kept: int) -> None:
    """The system ends a process that reads what is mapped behind the end of a file."""
    library = bench.build()
    bench.put(library, library.read_bytes()[:kept])
    done = bench.answer_elsewhere()
    assert (done.returncode, done.stdout) == (0, "42.0\n"), done.stderr
    assert f"{library} is damaged and will be built anew" in done.stderr
    assert bench.answer() == 42


@needs_compiler
def test_a_library_is_on_the_disk_before_it_has_its_name(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    fsync = os.fsync

    def watched(descriptor: int) -> None:
        assert not list(bench.cache.glob("*.so"))
        synced.append(descriptor)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    bench.build()
    assert len(synced) == 1


def compile_by(script: str, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Library:
    """What comes of a compiler that is this shell script."""
    path = bench.source.with_name("cc")
    path.write_bytes(b"#!/bin/sh\n" + script.encode("latin-1"))
    path.chmod(0o755)
    monkeypatch.setenv("CC", str(path))
    return bench.load()


OUTPUT = 'for last; do :; done; out="$last"'  # the command ends with -o FILE


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("printf 'caf\\351 \\377\\n' >&2; exit 1", "said: caf\N{REPLACEMENT CHARACTER} \N{REPLACEMENT CHARACTER})"),
        ("printf '\\n  \\033[31mred\\n' >&2; exit 1", "said: ?[31mred)"),
        ("exit 7", "said: exit code 7)"),
        ("kill -9 $$", "said: exit code -9)"),
        ("exit 0", "the compiler wrote nothing)"),
        (f"{OUTPUT}; : > $out", "the compiler wrote nothing)"),
        (f"{OUTPUT}; mkdir $out", "the compiler wrote nothing)"),
        (f"{OUTPUT}; echo 'not a library' > $out", ""),
        (f"{OUTPUT}; printf '\\177ELF\\002' > $out", "the compiler wrote half a library)"),
        (f'{CC} "$@" && {OUTPUT} && head -c 5000 $out > $out.cut && mv $out.cut $out', "half a library)"),
        (f"{OUTPUT}; echo 'int x;' > $out.c; {CC} -shared -fPIC $out.c -o $out", "has no self-check)"),
        (f'{CC} "$@" -UIDENTITY -DIDENTITY=7', "has failed its self-check)"),
    ],
)
def test_a_compiler_that_fails_in_any_way_is_not_fatal(
    script: str, reason: str, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "None" in script:
        pytest.skip("no C compiler here")
    library = compile_by(script, bench, monkeypatch)
    assert library.functions is None
    assert library.reason.startswith("the C loops could not be built (")
    assert library.reason.endswith(reason)
    assert "\n" not in library.reason
    assert not any(bench.cache.iterdir())


def test_a_compiler_that_hangs_is_ended_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """With all that it has started, which would hold a pipe open; and the next library does not wait for it."""
    monkeypatch.setattr(compiler, "_SECONDS", 0.5)
    starts = bench.source.with_name("starts")
    script = f"echo x >> {starts}; sleep 1000 & sleep 1000"
    assert compile_by(script, bench, monkeypatch).reason.endswith("(the compiler did not finish in 0.5 seconds)")
    assert bench.load().reason.endswith("(the compiler did not finish in 0.5 seconds before)")
    assert starts.read_text() == "x\n"


@pytest.mark.parametrize("choice", ["nonsense", "'gcc", "/", "nonsense -m64", "/etc/passwd"])
def test_a_compiler_that_cannot_be_run_is_named(choice: str, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", choice)
    reason = f"CC={choice!r} is no compiler that can be run; set CC to one, or unset it"
    assert bench.load() == Library(None, reason)


def test_a_compiler_for_another_machine_is_not_fatal(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bench.source.with_name("other")
    path.write_bytes(b"\x7fELF for another machine")
    path.chmod(0o755)
    monkeypatch.setenv("CC", str(path))
    assert bench.load().reason.startswith("the C loops could not be built ([Errno")


@needs_compiler
@pytest.mark.parametrize(("choice", "answer"), [(f"{CC} -DANSWER=7", 7), ("", 42), ("  ", 42)])
def test_a_compiler_may_have_arguments(
    choice: str, answer: float, bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("CC", choice)
    with caplog.at_level(logging.INFO, logger="saccade"):
        assert bench.answer() == answer
    assert f"by {CC}" in caplog.text


@needs_compiler
def test_what_a_killed_process_left_does_no_harm(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a library is made has a name that only saccade gives."""
    seen = bench.source.with_name("seen")
    compile_by(f"{OUTPUT}; dirname $out > {seen}; exit 1", bench, monkeypatch)
    left = Path(seen.read_text().strip())
    assert left.parent == bench.cache
    assert left.name.startswith(".saccade-build-")
    monkeypatch.delenv("CC")
    left.mkdir()
    (left / "made").write_bytes(b"half a library")
    bench.build()
    assert bench.answer() == 42
    assert {path.name for path in bench.cache.iterdir() if path.suffix != ".so"} == {left.name}
