"""What `make demo` shows."""

import re
import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).parent.parent / "examples" / "reverse.py"


def test_the_demo_learns_and_shows_where_it_looks() -> None:
    run = subprocess.run([sys.executable, str(DEMO)], check=True, capture_output=True, encoding="utf-8", timeout=170)  # noqa: S603
    scores = re.findall(r"(\d+) of 1000 new words", run.stdout)
    assert len(scores) == 2
    assert all(int(score) >= 980 for score in scores)
    picture = run.stdout.split("After training")[1].splitlines()
    rows = [line.split() for line in picture if re.match(r" {3}[a-z]  \S\S ", line)]
    assert "".join(row[0] for row in rows) == "edaccas"
    # each letter looks hardest at its own place, from the last to the first
    darkest = [max(range(7), key=lambda s, cells=row[1:]: "·░▒▓█".index(cells[s][0])) for row in rows]
    assert darkest == [6, 5, 4, 3, 2, 1, 0]
