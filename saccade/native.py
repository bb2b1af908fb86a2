"""Compiles, loads and calls the package's C loops; compiled once for each machine and kind of number.

A library is built by the system's C compiler in well under a second and kept in a cache folder: `SACCADE_CACHE` if
set, else `~/.cache/saccade`. Where that fails, or `SACCADE_NATIVE=0` forbids it, the caller takes torch's operations.
"""

import ctypes
import functools
import hashlib
import logging
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import Parameter

from saccade.files import cache_folder

logger = logging.getLogger("saccade")

_HEADERS = Path(__file__).parent
_REAL = {torch.float32: "float", torch.float64: "double"}


class Library(NamedTuple):
    """The functions of a C file, if they could be built, and how or why not."""

    functions: ctypes.CDLL | None
    reason: str


def library_for(tensor: Tensor, source: Path) -> ctypes.CDLL | None:
    """The loops of `source` that can work on `tensor`, or None where torch's own operations must do."""
    # subclasses of Tensor, as in torch.compile and torch.export, stand for numbers that are not there
    there = type(tensor) in (Tensor, Parameter) and tensor.device.type == "cpu"
    real = _REAL.get(tensor.dtype) if there else None
    return None if real is None else load_library(source, real).functions


def call(function: Callable[..., None], tensors: tuple[Tensor | None, ...], *numbers: float) -> None:
    """Call a loop: pointers to contiguous tensors, then int64 and double numbers, then how many threads it may use."""
    pointers = [None if tensor is None else ctypes.c_void_p(tensor.data_ptr()) for tensor in tensors]
    sizes = [ctypes.c_int64(number) if isinstance(number, int) else ctypes.c_double(number) for number in numbers]
    function(*pointers, *sizes, ctypes.c_int(torch.get_num_threads()))


@functools.cache
def load_library(source: Path, real: str) -> Library:
    """Build and open the C file for numbers of the type `real`, which it calls REAL."""
    try:
        library = _build(source, real)
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        library = Library(None, f"the C loops could not be built ({error})")
    if library.functions is None:
        logger.warning("%s: torch's operations do the work, several times slower: %s", source.stem, library.reason)
    else:
        logger.info("%s: native loops do the work: %s", source.stem, library.reason)
    return library


def _build(source: Path, real: str) -> Library:
    if os.environ.get("SACCADE_NATIVE") == "0":
        return Library(None, "SACCADE_NATIVE=0 is set")
    if os.name != "posix":
        return Library(None, f"they are not built on {platform.system()}")
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CC", "cc"), "gcc", "clang"))), None)
    if compiler is None:
        return Library(None, "no C compiler was found; install gcc or clang, or set CC")

    # The name says all that the machine code depends on, so a cache shared between machines stays right. torch's word
    # for the processor is taken rather than -march=native, whose meaning differs from machine to machine.
    vector_flags = ["-mavx2", "-mfma"] if torch.backends.cpu.get_cpu_capability().startswith("AVX") else []
    flags = ["-O3", "-std=c99", "-ffp-contract=fast", "-shared", "-fPIC", *vector_flags, f"-DREAL={real}"]
    texts = [source.read_text(), *(header.read_text() for header in sorted(_HEADERS.glob("*.h")))]
    identity = "\n".join([platform.system(), platform.machine(), compiler, *flags, *texts])
    name = f"{source.stem}-{real}-{hashlib.sha256(identity.encode()).hexdigest()[:16]}.so"

    folder = _safe_cache()
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="saccade-") as passing:
            return Library(_open(Path(passing) / name, source, compiler, flags), f"built by {compiler}, and not kept")
    return Library(_open(folder / name, source, compiler, flags), f"{folder / name} by {compiler}")


def _open(path: Path, source: Path, compiler: str, flags: list[str]) -> ctypes.CDLL:
    """The library at `path`, built if it is not there, or is there and cannot be loaded."""
    if path.exists():
        try:
            return ctypes.CDLL(str(path))
        except OSError as error:
            logger.warning("%s is damaged and will be built anew: %s", path, error)
    _compile(source, compiler, flags, path)
    return ctypes.CDLL(str(path))


def _compile(source: Path, compiler: str, flags: list[str], path: Path) -> None:
    """Build beside `path`, then rename: another process sees the whole library or none."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        built = Path(folder) / path.name
        # OpenMP spreads the work over cores; a compiler without its runtime still knows the simd pragmas
        for threads in ("-fopenmp", "-fopenmp-simd"):
            command = [compiler, *flags, threads, f"-I{_HEADERS}", str(source), "-o", str(built)]
            result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)  # noqa: S603 - our own source, the user's compiler
            if result.returncode == 0:
                built.replace(path)
                return
        complaint = result.stderr.strip().splitlines() or [f"exit code {result.returncode}"]
        raise OSError(f"{compiler} said: {complaint[0]}")


def _safe_cache() -> Path | None:
    """A folder that this user alone can write, because what lies there is loaded as code; None if there is none."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        status = folder.stat()
    except OSError as error:
        logger.warning("%s cannot be the cache: %s", folder, error)
        return None
    if status.st_uid != os.getuid() or status.st_mode & 0o022 or not os.access(folder, os.W_OK):
        logger.warning(
            "%s cannot be the cache: it must be yours, and writable for you alone (chmod 700), or set SACCADE_CACHE",
            folder,
        )
        return None
    return folder
