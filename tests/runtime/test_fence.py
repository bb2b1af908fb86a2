"""That the fence of the fuzz is one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import ctypes, sys, torch
from tests.runtime.fence import call_fenced

@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int)
def touch(numbers, index, threads):
    ctypes.c_float.from_address(numbers + 4 * index).value = 3

numbers = torch.zeros(7)
for _ in range(2):
    call_fenced(touch, (numbers,), int(sys.argv[1]))
print(numbers.tolist())
"""


@pytest.mark.skipif(os.name != "posix", reason="no fences here")
@pytest.mark.parametrize(("index", "ends"), [(6, False), (7, True), (-1, True)])
def test_who_steps_over_it_is_ended(index: int, ends: bool) -> None:  # noqa: FBT001
    command = [sys.executable, "-c", CODE, str(index)]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root)  # noqa: S603
    assert (done.returncode != 0) == ends, done.stderr
    assert ends or done.stdout == "[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0]\n"
