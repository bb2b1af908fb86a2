"""Compiles, loads and calls the C loops of `additive.c`; compiled once for each dtype and machine.

The library is built by the system's C compiler in well under a second and kept in a cache folder: `SACCADE_CACHE` if
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

logger = logging.getLogger("saccade")

_SOURCE = Path(__file__).with_name("additive.c")
_REAL = {torch.float32: "float", torch.float64: "double"}


class NativeLoops:
    """The loops over contiguous tensors of one dtype. `N` batch, `T` queries, `S` keys, `D` dim."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def scores(self, query: Tensor, key: Tensor, v: Tensor) -> Tensor:
        """`[N, T, D]`, `[N, D, S]`, `[D]` -> `[N, T, S]`."""
        scores = query.new_empty(*query.shape[:2], key.shape[2])
        _call(self._library.additive_scores, (query, key, v, scores), _sizes(query, key))
        return scores

    def backward(self, query: Tensor, key: Tensor, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """`[N, T, D]`, `[N, D, S]`, `[N, T, S]` -> slopes of query and key, each in its shape, and the level `[D]`."""
        slope_q, slope_k = torch.empty_like(query), torch.empty_like(key)
        level = query.new_empty(*key.shape[:2])
        _call(self._library.additive_backward, (query, key, grad, slope_q, slope_k, level), _sizes(query, key))
        return slope_q, slope_k, level.sum(0)


def _sizes(query: Tensor, key: Tensor) -> tuple[int, int, int, int]:
    batch, queries, dim = query.shape
    return batch, queries, key.shape[2], dim


def _call(function: Callable[..., None], tensors: tuple[Tensor, ...], sizes: tuple[int, ...]) -> None:
    pointers = (ctypes.c_void_p(tensor.data_ptr()) for tensor in tensors)
    function(*pointers, *map(ctypes.c_int64, sizes), ctypes.c_int(torch.get_num_threads()))


class _Outcome(NamedTuple):
    loops: NativeLoops | None
    reason: str


def native_loops(tensor: Tensor) -> NativeLoops | None:
    """The loops that can work on `tensor`, or None where torch's own operations must do."""
    # subclasses of Tensor, as in torch.compile and torch.export, stand for numbers that are not there
    there = type(tensor) in (Tensor, Parameter) and tensor.device.type == "cpu"
    real = _REAL.get(tensor.dtype) if there else None
    return None if real is None else _load(real).loops


def additive_backend() -> str:
    """What computes additive scores on this machine's CPU, and why: "native: ..." or "torch: ..."."""
    outcome = _load("float")
    return f"{'torch' if outcome.loops is None else 'native'}: {outcome.reason}"


@functools.cache
def _load(real: str) -> _Outcome:
    try:
        outcome = _build(real)
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        outcome = _Outcome(None, f"the C loops could not be built ({error})")
    if outcome.loops is None:
        logger.warning("additive attention runs on torch's operations, several times slower: %s", outcome.reason)
    else:
        logger.info("additive attention runs on native loops: %s", outcome.reason)
    return outcome


def _build(real: str) -> _Outcome:
    if os.environ.get("SACCADE_NATIVE") == "0":
        return _Outcome(None, "SACCADE_NATIVE=0 is set")
    if os.name != "posix":
        return _Outcome(None, f"they are not built on {platform.system()}")
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CC", "cc"), "gcc", "clang"))), None)
    if compiler is None:
        return _Outcome(None, "no C compiler was found; install gcc or clang, or set CC")

    # The name says all that the machine code depends on, so a cache shared between machines stays right. torch's word
    # for the processor is taken rather than -march=native, whose meaning differs from machine to machine.
    vector_flags = ["-mavx2", "-mfma"] if torch.backends.cpu.get_cpu_capability().startswith("AVX") else []
    flags = ["-O3", "-std=c99", "-shared", "-fPIC", *vector_flags, f"-DREAL={real}"]
    identity = "\n".join([platform.system(), platform.machine(), compiler, *flags, _SOURCE.read_text()])
    name = f"additive-{real}-{hashlib.sha256(identity.encode()).hexdigest()[:16]}.so"

    folder = _cache_folder()
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="saccade-") as passing:
            return _Outcome(_open(Path(passing) / name, compiler, flags), f"built by {compiler}, and not kept")
    return _Outcome(_open(folder / name, compiler, flags), f"{folder / name} by {compiler}")


def _open(path: Path, compiler: str, flags: list[str]) -> NativeLoops:
    """The library at `path`, built if it is not there, or is there and cannot be loaded."""
    if path.exists():
        try:
            return NativeLoops(ctypes.CDLL(str(path)))
        except OSError as error:
            logger.warning("%s is damaged and will be built anew: %s", path, error)
    _compile(compiler, flags, path)
    return NativeLoops(ctypes.CDLL(str(path)))


def _compile(compiler: str, flags: list[str], path: Path) -> None:
    """Build beside `path`, then rename: another process sees the whole library or none."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        built = Path(folder) / path.name
        # OpenMP spreads the work over cores; a compiler without its runtime still knows the simd pragmas
        for threads in ("-fopenmp", "-fopenmp-simd"):
            command = [compiler, *flags, threads, str(_SOURCE), "-o", str(built)]
            result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)  # noqa: S603 - our own source, the user's compiler
            if result.returncode == 0:
                built.replace(path)
                return
        complaint = result.stderr.strip().splitlines() or [f"exit code {result.returncode}"]
        raise OSError(f"{compiler} said: {complaint[0]}")


def _cache_folder() -> Path | None:
    """A folder that this user alone can write, because what lies there is loaded as code; None if there is none."""
    root = os.environ.get("SACCADE_CACHE") or Path(
        os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "saccade"
    )
    folder = Path(root)
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
