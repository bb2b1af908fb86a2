"""How threads wait: that OpenMP gets to know it, and that whoever has chosen otherwise keeps their choice."""

import os
import subprocess
import sys

import pytest

from saccade.runtime import threads as waiting


def openmp_of(code: str, **environment: str) -> str:
    """What OpenMP says of its settings in a new process."""
    clean = {name: value for name, value in os.environ.items() if name not in waiting._CHOICES}
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code],
        env={**clean, "OMP_DISPLAY_ENV": "VERBOSE", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    if "GOMP_SPINCOUNT" not in done.stderr:
        pytest.skip("torch has another OpenMP here than GNU's")
    return done.stderr


def test_threads_wait_briefly() -> None:
    assert "GOMP_SPINCOUNT = '100000'" in openmp_of("import saccade, torch")


def test_every_room_comes_after_it() -> None:
    assert "GOMP_SPINCOUNT = '100000'" in openmp_of("import saccade.cli.main, saccade.attention")


@pytest.mark.parametrize(("name", "value"), [("GOMP_SPINCOUNT", "77"), ("OMP_WAIT_POLICY", "ACTIVE")])
def test_what_the_user_has_set_stays(name: str, value: str) -> None:
    said = openmp_of("import saccade, torch", **{name: value})
    assert f"{name} = '{value}'" in said
    assert "GOMP_SPINCOUNT = '100000'" not in said


def test_where_torch_is_there_already_nothing_is_set() -> None:
    """It would be too late, and only others would get to know it."""
    assert "torch" in sys.modules or __import__("torch")
    environment: dict[str, str] = {}
    assert not waiting.wait_briefly(environment)
    assert environment == {}


def test_other_programs_get_what_the_user_has_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_ours", [])
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    environment = {"HOME": "/"}
    assert waiting.wait_briefly(environment)
    assert environment["GOMP_SPINCOUNT"] == "100000"
    assert waiting.environment_without_ours(environment) == {"HOME": "/"}
    assert not waiting.wait_briefly(environment)
    chosen = {"GOMP_SPINCOUNT": "77"}
    monkeypatch.setattr(waiting, "_ours", [])
    assert not waiting.wait_briefly(chosen)
    assert waiting.environment_without_ours(chosen) == chosen
