"""What all tests share."""

import pytest
from hypothesis import HealthCheck, settings

# The same examples on every machine, and no opinion on how long they take there.
settings.register_profile(
    "saccade", deadline=None, derandomize=True, max_examples=8, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("saccade")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest test first, so that nobody waits for it at the end."""
    items.sort(key=lambda item: "test_demo" not in item.nodeid)
