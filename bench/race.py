"""Several toolkits at the same work in one run, taking turns, so that what disturbs one disturbs all."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from saccade.base.errors import InputError
from saccade.runtime.threads import environment_without_ours
from saccade.text import VocabularySettings, learn_vocabularies, read_aligned

ROOT = Path(__file__).parent.parent
PEERS = ROOT / ".venv-peers" / "bin" / "python"
# What keeps glibc from giving memory back to the system, for peers that do not see to it themselves.
HEAP_KEPT = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**31), "MALLOC_TOP_PAD_": str(64 << 20)}


class Side(NamedTuple):
    """Who runs: a module of `bench.sides`, perhaps with the C heap kept, perhaps with products in another precision.

    Or the same module of another checkout, with the saccade that is there; or without one of the C kernels.
    """

    module: str
    heap_kept: bool = False
    precision: str = "float32"
    checkout: Path = ROOT
    without: str = ""

    @property
    def name(self) -> str:
        rounded = "" if self.precision == "float32" else f", {self.precision}"
        elsewhere = "" if self.checkout == ROOT else f" of {self.checkout}"
        lacking = f", without {self.without}" if self.without else ""
        return self.module + (", heap kept" if self.heap_kept else "") + rounded + elsewhere + lacking


class Case(NamedTuple):
    """A job, and who does it. The first side is saccade."""

    name: str
    job: dict[str, Any]
    sides: tuple[Side, ...]


class Runner:
    """A side that is under way."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self._read_until("ready")

    def turn(self) -> dict[str, float]:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self._read_until("{"))

    def end(self) -> dict[str, float]:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return json.loads(self._read_until("{"))

    def _read_until(self, beginning: str) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(beginning):
                return line
        raise InputError(f"{self.process.args}: ended with code {self.process.wait()}; its last words are above")


@contextmanager
def running(side: Side, job: dict[str, Any]) -> Iterator[Runner]:
    """A side, from its start until it is no longer needed."""
    python = sys.executable if side.module == "saccade" else str(PEERS)
    with subprocess.Popen(  # noqa: S603
        [python, "-m", f"bench.sides.{side.module}", json.dumps({**job, "precision": side.precision})],
        cwd=side.checkout,
        env=environment_of(side),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        try:
            yield Runner(process)
        finally:
            process.kill()


def environment_of(side: Side) -> dict[str, str]:
    """As the user has it: what saccade has set for this process is for saccade to set for others."""
    environment = environment_without_ours(os.environ) | {"PYTHONPATH": str(side.checkout)}
    without = {"SACCADE_NATIVE": f"-{side.without}"} if side.without else {}
    return environment | without | (HEAP_KEPT if side.heap_kept else {})


def race(case: Case, *, turns: int) -> dict[str, Any]:
    """One line: for each side its rate (median and range), how many times as fast saccade is, and its memory."""
    with ExitStack() as stack:
        runners = {side.name: stack.enter_context(running(side, case.job)) for side in case.sides}
        rates: dict[str, list[float]] = {name: [] for name in runners}
        for number in range(turns + 1):
            for name, runner in runners.items():
                done = runner.turn()
                if number:  # the first turn warms up
                    rates[name].append(done["units"] / done["seconds"])
        megabytes = {name: runner.end()["megabytes"] for name, runner in runners.items()}
    ours, *_ = rates.values()
    medians = {name: statistics.median(values) for name, values in rates.items()}
    return {
        "case": case.name,
        "unit": "target tokens/s" if case.job["task"] == "train" else "sentences/s",
        "rate": {name: round(value, 1) for name, value in medians.items()},
        "range": {name: [round(min(values), 1), round(max(values), 1)] for name, values in rates.items()},
        "times_as_fast": {
            name: round(statistics.median(one / other for one, other in zip(ours, values, strict=True)), 2)
            for name, values in rates.items()
        },
        "megabytes": megabytes,
    }


def main(description: str, cases: Sequence[Case]) -> None:
    """The command line of a race."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"all, or some of: {', '.join(c.name for c in cases)}")
    parser.add_argument("--data", type=Path, default=ROOT / "data" / "multi30k", help="as `saccade data get` leaves it")
    parser.add_argument("--turns", type=int, default=5, help="of each side, after one to warm up (5)")
    parser.add_argument("--threads", type=int, default=2, help="of each side (2)")
    chosen = parser.parse_args()
    unknown = set(chosen.cases) - {case.name for case in cases}
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    if not PEERS.exists():
        parser.error("the peers are not installed; run: make peers")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.json"
        path.write_text(json.dumps(numbered_pairs(chosen.data)))
        for case in cases:
            if not chosen.cases or case.name in chosen.cases:
                job = {**case.job, "pairs": str(path), "threads": chosen.threads}
                print(json.dumps(race(case._replace(job=job), turns=chosen.turns)), flush=True)


VOCABULARY = 10_000


def numbered_pairs(data: Path) -> list[tuple[list[int], list[int]]]:
    """Multi30k in joint subwords."""
    pairs = read_aligned(data / "train.en", data / "train.de")
    vocabularies = learn_vocabularies(pairs, VocabularySettings(kind="subwords", size=VOCABULARY, joint=True))
    return [(vocabularies.source.encode(a.source).ids, vocabularies.target.encode(a.target).ids) for a in pairs]


def job(**changes: Any) -> dict[str, Any]:
    """A job with the usual sizes; `pairs` and `threads` come at the start."""
    usual = {"model": "transformer", "vocabulary": VOCABULARY, "batch_tokens": 4096, "turn_tokens": 12_000}
    return {**usual, "sentences": 0, "batch": 0, "beam": 0, "length": 0, **changes}
