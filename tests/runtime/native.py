"""For tests that hold the C loops and torch's operations together."""

from collections.abc import Iterator

import pytest

from saccade.runtime.native import load_library


@pytest.fixture(params=["native", "torch"])
def loops(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Once with the C loops, where they can be built, and once without."""
    if request.param == "torch":
        monkeypatch.setenv("SACCADE_NATIVE", "0")
    load_library.cache_clear()
    yield request.param
    load_library.cache_clear()
