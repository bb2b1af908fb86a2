"""Runs the system's C compiler, whatever it does, and makes libraries that can be known to be whole."""

import hashlib
import os
import platform
import shlex
import shutil
import signal
import struct
import subprocess
from pathlib import Path
from typing import IO, NamedTuple

_HEADERS = Path(__file__).parent / "kernels"
_SEAL = b"saccade library"  # then a digest: the end of every library that was written whole
_SECONDS = 60  # after which a compiler has failed
_OVERDUE: set[str] = set()  # compilers that are not waited for once more


class Plan(NamedTuple):
    """How a library is made: all that its machine code depends on."""

    source: Path
    compiler: list[str]  # with arguments, if CC has some
    flags: list[str]

    @property
    def identity(self) -> bytes:
        """A digest of the plan and of what the files say, so that a cache shared between machines stays right."""
        texts = [self.source.read_text(), *(header.read_text() for header in sorted(_HEADERS.glob("*.h")))]
        words = [platform.system(), platform.machine(), *self.compiler, *self.flags, *texts]
        return hashlib.sha256("\n".join(words).encode(errors="surrogateescape")).digest()

    @property
    def number(self) -> int:
        """What the library's self-check has to give."""
        return int.from_bytes(self.identity[:8], "big")


def find_compiler() -> list[str] | None:
    """The user's choice, which may have arguments, or else the first that there is; None if it cannot be run."""
    try:
        words = shlex.split(os.environ.get("CC", ""))
    except ValueError:  # a quotation without an end
        return None
    found = next(filter(None, map(shutil.which, words[:1] or ("cc", "gcc", "clang"))), None)
    return None if found is None else [found, *words[1:]]


def write_library(plan: Plan, path: Path) -> None:
    """Build a library and write it to the disk with its seal. Its folder has to be one that nobody else writes to."""
    made = path.with_name("made")
    _compile(plan, made)
    content = made.read_bytes() if made.is_file() else b""
    _expect_not_cut_off(content)
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(content + _seal(plan, content))
        file.flush()
        os.fsync(file.fileno())


def is_whole(plan: Plan, path: Path) -> bool:
    """Whether a library is as `write_library` wrote it. Of half a library, the system may end the process."""
    content = path.read_bytes()
    size = len(_seal(plan, b""))
    return content[-size:] == _seal(plan, content[:-size])


def _seal(plan: Plan, content: bytes) -> bytes:
    """What a library ends with, after all that the linker wrote."""
    return _SEAL + hashlib.sha256(plan.identity + content).digest()


def _expect_not_cut_off(content: bytes) -> None:
    """Linkers write the table of sections last; if it would lie behind the end, the end is missing."""
    if not content:
        raise OSError("the compiler wrote nothing")
    if content[:5] == b"\x7fELF\x02":  # of 64 bits: the table's offset, then the size and the number of its entries
        offset, size, number = struct.unpack_from("=40xQ10xHH", content.ljust(64, b"\xff"))
        if offset + size * number > len(content):
            raise OSError("the compiler wrote half a library")


def _compile(plan: Plan, made: Path) -> None:
    """Run the compiler. What it says goes to a file: a pipe would be waited for as long as any child of it lives."""
    if plan.compiler[0] in _OVERDUE:
        raise OSError(f"the compiler did not finish in {_SECONDS} seconds before")
    said = made.with_name("said")
    ours = [f"-I{_HEADERS}", "-include", str(_HEADERS / "self_check.h"), f"-DIDENTITY={plan.number}ULL"]
    # OpenMP spreads the work over cores; a compiler without its runtime still knows the simd pragmas
    for threads in ("-fopenmp", "-fopenmp-simd"):
        command = [*plan.compiler, *plan.flags, threads, *ours, str(plan.source), "-o", str(made)]
        with said.open("wb") as output:
            code = _run(command, output)
        if code == 0:
            return
    raise OSError(f"{plan.compiler[0]} said: {_first_line(said) or f'exit code {code}'}")


def _run(command: list[str], output: IO[bytes]) -> int:
    """The exit code of a command, which is ended with all that it started if it takes too long."""
    none = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=none, stdout=none, stderr=output, process_group=0) as process:  # noqa: S603 - our own source, the user's compiler
        try:
            return process.wait(_SECONDS)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
    _OVERDUE.add(command[0])
    raise OSError(f"the compiler did not finish in {_SECONDS} seconds")


def _first_line(said: Path) -> str:
    """Of a complaint in whatever encoding, without signs that would move a terminal's cursor."""
    lines = said.read_bytes()[:10_000].decode(errors="replace").split("\n")
    line = next(filter(None, map(str.strip, lines)), "")[:300]
    return "".join(sign if sign.isprintable() else "?" for sign in line)
