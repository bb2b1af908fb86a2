"""How the threads of a parallel loop wait for each other: on their core for a moment, then asleep.

torch and the C loops share GNU's OpenMP, whose threads wait in a loop that keeps its core busy for up to 300,000 turns,
some 20 milliseconds. Where another program wants that core, it is the very thread that is waited for that does not get
it, and each of thousands of loops a second takes so long. Asleep at once, threads would wake too late on an idle
machine.
"""

import os
import sys
from collections.abc import Mapping, MutableMapping

# A third of OpenMP's own number. With 10,000, which is shorter than what lies between two loops of a step, a search for
# one sentence at a time lost 7 %; with 100,000 it lost 1 %, and beside busy cores 0.40 to 0.64 of the speed is kept.
_NAME, _TURNS = "GOMP_SPINCOUNT", "100000"
_CHOICES = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "KMP_BLOCKTIME", "KMP_LIBRARY")
_ours: list[str] = []


def wait_briefly(environment: MutableMapping[str, str] | None = None) -> bool:
    """Set how long threads wait awake; whether it was done. Nothing but the speed depends on it.

    OpenMP reads it once, as torch is loaded: afterwards it is too late. What the user has set stays.
    """
    environment = os.environ if environment is None else environment
    if "torch" in sys.modules or any(name in environment for name in _CHOICES):
        return False
    environment[_NAME] = _TURNS
    _ours.append(_NAME)
    return True


def wait_is_ours() -> bool:
    """Whether threads wait as saccade has set it."""
    return _NAME in _ours


def environment_without_ours(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment as the user has it, for programs that are not saccade."""
    return {name: value for name, value in environment.items() if name not in _ours}
