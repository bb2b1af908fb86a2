"""What all tests share."""

from hypothesis import HealthCheck, settings

# The same examples on every machine, and no opinion on how long they take there.
settings.register_profile(
    "saccade", deadline=None, derandomize=True, max_examples=8, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("saccade")
