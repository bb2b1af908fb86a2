"""What torch's dispatcher costs a call of an operator: `python -m bench.dispatch`.

Each operator is called with little work, in turns, in three ways. One JSON line an operator and a mode: microseconds a
call, the median of the turns.

    compute      the checks and C alone
    called       as saccade calls it: past the dispatcher where nobody looks on
    dispatched   `torch.ops.saccade.NAME`, as whoever exports or maps it does
"""

import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from saccade.runtime.kernels import additive, best, dropout

CALLS, TURNS = 2000, 9


def ways(name: str) -> tuple[dict[str, Callable[..., Any]], tuple[Any, ...]]:
    """How an operator is called, and what with."""
    torch.manual_seed(0)
    operator = getattr(torch.ops.saccade, name).default
    if name == "best_tokens":
        arguments = (torch.randn(1, 64), 4, 3)
        return {"compute": best._best_tokens, "called": best.best_tokens, "dispatched": operator}, arguments  # noqa: SLF001
    if name == "drop":
        arguments = (torch.randn(2, 64, requires_grad=True), None, 0.1, 1, 2)
        return {"compute": dropout._drop, "called": dropout.drop, "dispatched": operator}, arguments  # noqa: SLF001
    arguments = tuple(torch.rand(*shape, requires_grad=True) for shape in ((1, 2, 16), (1, 16, 4), (16,)))
    ways = {"compute": additive._scores, "called": additive.additive_scores, "dispatched": operator}  # noqa: SLF001
    return ways, arguments


def microseconds(call: Callable[..., Any], arguments: tuple[Any, ...]) -> float:
    began = time.perf_counter()
    for _ in range(CALLS):
        call(*arguments)
    return 1e6 * (time.perf_counter() - began) / CALLS


def main() -> None:
    torch.set_num_threads(1)
    for name in ("best_tokens", "drop", "additive_scores"):
        calls, arguments = ways(name)
        for mode in ("no gradient", "gradient"):
            if name == "best_tokens" and mode == "gradient":
                continue  # it has none
            with torch.set_grad_enabled(mode == "gradient"):
                times = [[microseconds(call, arguments) for call in calls.values()] for _ in range(TURNS + 1)][1:]
            medians = (round(statistics.median(column), 1) for column in zip(*times, strict=True))
            line = {"operator": name, "mode": mode, **dict(zip(calls, medians, strict=True))}
            if mode == "gradient":
                del line["compute"]  # which records none
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
