"""Memory that is kept."""

import subprocess
import sys

import pytest

from saccade.runtime.allocator import keep_heap

CODE = """
import resource, sys, torch
from saccade.runtime.allocator import keep_heap
if sys.argv[1] == "keep":
    assert keep_heap()
def work():
    torch.ones(20_000_000).sum()  # 80 MB
for _ in range(20):  # the first few still find their place
    work()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    work()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how: str) -> int:
    command = [sys.executable, "-c", CODE, how]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)  # noqa: S603


def test_kept_memory_needs_no_new_pages() -> None:
    if not keep_heap():
        pytest.skip("the C library of this system has no mallopt")
    assert faults("keep") < faults("as it is") / 10
