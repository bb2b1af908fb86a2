"""`make demo`, as it is run."""

import re
import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).parent.parent / "examples" / "dates.py"


def test_the_demo_reads_dates_and_shows_where_it_looks(tmp_path: Path) -> None:
    run = subprocess.run(  # noqa: S603
        [sys.executable, str(DEMO)], check=True, capture_output=True, encoding="utf-8", cwd=tmp_path, timeout=400
    )
    found = re.search(r"(\d+) of 1000 held-out dates read exactly right", run.stdout)
    assert found is not None
    assert int(found[1]) >= 980
    for typed, meant in (("Dienstag, 9. November 2027", "2027-11-09"), ("le 1er mai 1968", "1968-05-01")):
        assert re.search(f"{re.escape(typed)} +{meant}\n", run.stdout)
    digits = re.search(r"(\d+) of (\d+) digits that both sides write looked most at their own", run.stdout)
    assert digits is not None
    assert int(digits[2]) > 5000
    assert int(digits[1]) >= 0.9 * int(digits[2])
    rows = [line.split() for line in run.stdout.splitlines() if re.match(r" *(\d|-|END)  \S\S( \S\S)+$", line)]
    assert "".join(row[0] for row in rows) == "1989-07-14END"
    assert all(len(row) == len("le 14 juillet 1989") + 2 for row in rows)
    # the last two digits of the year, and the day, look hardest at their own letters
    for index, letter in ((2, 16), (3, 17), (8, 3), (9, 4)):
        shades = ["·░▒▓█".index(cell[0]) for cell in rows[index][1:]]
        assert shades.index(max(shades)) == letter
