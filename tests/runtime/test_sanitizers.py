"""That `make sanitize` looks: kernels are built with sanitizers, which end whoever touches what is not theirs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from saccade.runtime.native import KERNELS, load_library

pytestmark = pytest.mark.skipif("SACCADE_SANITIZED" not in os.environ, reason="make sanitize runs this")

SOURCE = """
#include <stdint.h>

void put(REAL *numbers, int64_t index, int threads) { numbers[index] = 1; }
void get(const REAL *numbers, REAL *out, int64_t index, int threads) { out[0] = numbers[index]; }
void twice(int64_t number, int threads) { volatile int64_t product = number * 2; }
"""

# What a new process does with a tensor of seven numbers, and one more.
CALLS = {
    "nothing wrong": (
        "call(loops.put, (numbers,), 6); call(loops.get, (numbers, out), 0); call(loops.twice, (), 2)",
        "",
    ),
    "a write behind the end": ("call(loops.put, (numbers,), 7)", "heap-buffer-overflow"),
    "a write before the beginning": ("call(loops.put, (numbers,), -1)", "heap-buffer-overflow"),
    "a read behind the end": ("call(loops.get, (numbers, out), 7)", "heap-buffer-overflow"),
    "a number too large": ("call(loops.twice, (), 2**62)", "signed integer overflow"),
}


@pytest.mark.parametrize("name", CALLS)
def test_whoever_touches_what_is_not_theirs_is_ended(name: str, tmp_path: Path) -> None:
    call, complaint = CALLS[name]
    (tmp_path / "touch.c").write_text(SOURCE)
    code = (
        "import pathlib, sys, torch; from saccade.runtime.native import call, load_library\n"
        "loops = load_library(pathlib.Path(sys.argv[1]), 'float').functions; assert loops\n"
        f"numbers, out = torch.zeros(7), torch.zeros(1); {call}; print('done')"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "touch.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if complaint:
        assert done.returncode != 0
        assert complaint in done.stderr
        assert "touch.c" in done.stderr
    else:
        assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


@pytest.mark.parametrize("source", sorted(KERNELS.glob("*.c")), ids=lambda source: source.stem)
def test_every_kernel_is_watched(source: Path) -> None:
    library = load_library(source, "float")
    assert library.functions is not None, library.reason
    content = Path(library.reason.split(" by ")[0]).read_bytes()
    assert b"__asan_report_load4" in content
    assert b"__ubsan_handle" in content
