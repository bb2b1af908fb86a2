"""Compiles, loads and calls the package's C loops; compiled once for each machine and kind of number.

A library is built by the system's C compiler in well under a second and kept in a cache folder: `SACCADE_CACHE` if
set, else `~/.cache/saccade`. One that is kept is loaded only if it is this user's own and whole, and is built anew
otherwise. Where that fails, or `SACCADE_NATIVE=0` forbids it, the caller takes torch's operations. The setting
`SACCADE_NATIVE=-NAME` forbids one C file alone, and `-NAME,-OTHER` several.
"""

import ctypes
import functools
import logging
import os
import platform
import stat
import tempfile
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from saccade.base.files import cache_folder
from saccade.runtime.compiler import Plan, find_compiler, is_whole, write_library
from saccade.runtime.kernel_conditions import is_eager, is_plain

logger = logging.getLogger("saccade")

KERNELS = Path(__file__).parent / "kernels"  # where the C files are

_REAL = {torch.float32: "float", torch.float64: "double"}
_PREFIX = ".saccade-build-"  # of folders for libraries that are not finished; a killed process may leave one


class Library(NamedTuple):
    """The functions of a C file, if they could be built, and how or why not."""

    functions: ctypes.CDLL | None
    reason: str


def library_for(source: Path, *tensors: Tensor | None) -> ctypes.CDLL | None:
    """The loops of `source` for these tensors, or None where torch's own operations must do.

    That is the case unless all of them are plain, of one dtype that C knows, and computed here and now. Whoever looks
    at all operations (`TorchDispatchMode`) sees those of `torch.ops.saccade`, below which nobody looks any more.
    """
    if not is_eager() or torch._C._len_torch_dispatch_stack():  # noqa: SLF001 - torch has no other name for it
        return None
    dtype = None
    for tensor in tensors:
        if tensor is None:
            continue
        dtype = tensor.dtype if dtype is None else dtype
        if tensor.dtype != dtype or not is_plain(tensor):
            return None
    real = None if dtype is None else _REAL.get(dtype)
    return None if real is None else load_library(source, real).functions


def call(function: "ctypes._NamedFuncPointer", tensors: tuple[Tensor | None, ...], *numbers: float) -> None:
    """Call a loop: pointers to contiguous tensors, then int64 and double numbers, then how many threads it may use."""
    for tensor in tensors:  # the last look before C, which looks at nothing
        if tensor is not None and not (tensor.is_contiguous() and tensor.is_cpu):
            raise RuntimeError(f"{function}: found a tensor {_described(tensor)}, wanted a contiguous one on the CPU")
    if function.argtypes is None:  # said once, they take a third of the time that saying them at each call does
        kinds = [ctypes.c_int64 if isinstance(number, int) else ctypes.c_double for number in numbers]
        function.argtypes = [ctypes.c_void_p] * len(tensors) + kinds + [ctypes.c_int]
    pointers = [None if tensor is None else tensor.data_ptr() for tensor in tensors]
    function(*pointers, *numbers, torch.get_num_threads())


def _described(tensor: Tensor) -> str:
    return f"of shape {list(tensor.shape)} and strides {list(tensor.stride())} on {tensor.device}"


@functools.cache
def load_library(source: Path, real: str) -> Library:
    """Build and open the C file for numbers of the type `real`, which it calls REAL."""
    try:
        library = _find(source, real)
    except (OSError, RuntimeError) as error:
        library = Library(None, f"the C loops could not be built ({error})")
    if library.functions is None:
        logger.warning("%s: torch's operations do the work, several times slower: %s", source.stem, library.reason)
    else:
        logger.info("%s: native loops do the work: %s", source.stem, library.reason)
    return library


def _find(source: Path, real: str) -> Library:
    chosen_kernels = os.environ.get("SACCADE_NATIVE", "")
    if chosen_kernels == "0" or f"-{source.stem}" in chosen_kernels.split(","):
        return Library(None, f"SACCADE_NATIVE={chosen_kernels} is set")
    if os.name != "posix":
        return Library(None, f"they are not built on {platform.system()}")
    compiler, chosen = find_compiler(), os.environ.get("CC")
    if compiler is None and chosen:
        return Library(None, f"CC={chosen!r} is no compiler that can be run; set CC to one, or unset it")
    if compiler is None:
        return Library(None, "no C compiler was found; install gcc or clang, or set CC")

    # torch's word for the processor is taken rather than -march=native, whose meaning differs from machine to machine
    vector_flags = ["-mavx2", "-mfma"] if torch.backends.cpu.get_cpu_capability().startswith("AVX") else []
    flags = ["-O3", "-std=c99", "-ffp-contract=fast", "-shared", "-fPIC", *vector_flags, f"-DREAL={real}"]
    plan = Plan(source, compiler, flags)
    folder = _safe_cache()
    if folder is None:
        with tempfile.TemporaryDirectory(prefix=_PREFIX) as passing:
            return Library(_build(plan, Path(passing, "library.so")), f"built by {compiler[0]}, and not kept")
    path = folder / f"{source.stem}-{real}-{plan.identity.hex()[:16]}.so"
    return Library(_kept(plan, path) or _build(plan, path), f"{path} by {compiler[0]}")


def _kept(plan: Plan, path: Path) -> ctypes.CDLL | None:
    """The library at `path`; None if it is not there, or is not to be loaded."""
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
            logger.warning("%s is not a file that you alone can write, and will be built anew", path)
        elif not is_whole(plan, path):
            logger.warning("%s is damaged and will be built anew", path)
        else:
            return _load(plan, path)
    except FileNotFoundError:
        pass
    except OSError as error:
        logger.warning("%s is damaged and will be built anew: %s", path, error)
    return None


def _build(plan: Plan, path: Path) -> ctypes.CDLL:
    """Build beside `path`, see that it works, then rename: another process sees the whole library or none."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=_PREFIX, ignore_cleanup_errors=True) as folder:
        built = Path(folder, path.name)
        write_library(plan, built)
        functions = _load(plan, built)
        built.replace(path)
        return functions


def _load(plan: Plan, path: Path) -> ctypes.CDLL:
    """Open a library and ask it what it was made from."""
    functions = ctypes.CDLL(str(path))
    try:
        check = functions.saccade_self_check
    except AttributeError:
        raise OSError(f"{path} has no self-check") from None
    check.restype = ctypes.c_uint64
    if check() != plan.number:
        raise OSError(f"{path} has failed its self-check")
    return functions


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
