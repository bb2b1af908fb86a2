"""`saccade doctor`: what it says is so."""

import json
import os
import subprocess
import sys

import pytest
import torch

from saccade.cli.main import main
from saccade.runtime.native import KERNELS, load_library


def _examined(**environment: str) -> dict[str, dict[str, str]]:
    command = [sys.executable, "-m", "saccade", "doctor", "--json"]
    run = subprocess.run(command, env=os.environ | environment, capture_output=True, check=True)  # noqa: S603
    return json.loads(run.stdout)


def test_every_kernel_is_there_with_the_reason_of_how_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    for source in KERNELS.glob("*.c"):
        assert f"  {source.stem:<24} {load_library(source, 'float').reason}\n" in said
    assert f"  {'torch':<24} {torch.__version__}\n" in said


def test_what_is_off_says_why() -> None:
    found = _examined(SACCADE_NATIVE="-best,-quantized", OMP_NUM_THREADS="1")
    assert found["kernels"]["best"] == "SACCADE_NATIVE=-best,-quantized is set"
    assert found["precision"]["int8"].startswith("no faster than float32")
    assert found["threads"]["torch uses"] == 1
    assert found["environment"] | {"OMP_NUM_THREADS": "1", "SACCADE_NATIVE": "-best,-quantized"} == found["environment"]
    assert _examined(CC="no-such-compiler", SACCADE_CACHE=os.devnull)["compiler"]["C"].startswith("none")
