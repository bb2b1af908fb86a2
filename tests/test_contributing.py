"""The score that CONTRIBUTING.md adds, added: its steps are carried out on a copy of the project, and its tests run."""

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_steps_for_a_new_score_are_enough(tmp_path: Path) -> None:
    for name in ("saccade", "tests", "bench", "pyproject.toml"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    blocks = re.findall(r"   ```python\n(.*?)   ```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    the_file, the_line, the_formula = map(textwrap.dedent, blocks)

    (tmp_path / "saccade/attention/scores/distance.py").write_text(the_file)
    insert(tmp_path / "saccade/attention/scores/__init__.py", "SCORES: dict", f"    {the_line}", after=True)
    insert(
        tmp_path / "saccade/attention/scores/__init__.py",
        "from saccade.attention.scores.dot import",
        "from saccade.attention.scores.distance import Distance\n",
    )
    insert(
        tmp_path / "saccade/attention/__init__.py",
        "from saccade.attention.scores.dot import",
        "from saccade.attention.scores.distance import Distance\n",
    )
    reference = tmp_path / "tests/attention/reference.py"
    insert(reference, "SCORE_FORMULAS: dict", "    Distance: distance,\n", after=True)
    insert(reference, "SCORE_FORMULAS: dict", f"{the_formula}\n\n")
    insert(reference, "# (score, query vector", "from saccade.attention import Distance\n\n")

    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-k",
        "distance or has_a_formula",
        "--ignore",
        "tests/tasks/translation/test_learning.py",  # the slowest, and the same for every score
    ]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)  # noqa: S603
    assert run.returncode == 0, run.stdout
    passed = re.search(r"(\d+) passed", run.stdout)
    assert passed is not None
    assert int(passed[1]) >= 100


def insert(path: Path, where: str, what: str, *, after: bool = False) -> None:
    """Put `what` before or after the first line that begins with `where`."""
    lines = path.read_text().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if line.startswith(where))
    lines.insert(at + after, what)
    path.write_text("".join(lines))
