"""The score and the task of CONTRIBUTING.md: its steps are carried out on a copy of the project, and used there."""

import json
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()

# Kills itself in the midst of a training, as a power cut would.
KILLED = """
import os, signal, saccade

class Killer(saccade.training.Callback):
    def on_step_end(self, step, loss, model):
        if step == 170:
            os.kill(os.getpid(), signal.SIGKILL)

saccade.train("tags", run="killed", settings=["train.tensorboard=false"], callbacks=[Killer()])
"""


COMMANDS = """
import contextlib, io, json, sys
from saccade.cli.main import main

printed = []
for command in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):  # of --help
        assert main(command) == 0, command
    printed.append(out.getvalue())
print(json.dumps(printed))
"""


def section(heading: str) -> str:
    return CONTRIBUTING.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def copy_project(folder: Path) -> Path:
    for name in ("saccade", "tests", "bench", "soak", "pyproject.toml", "CONTRIBUTING.md"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    return folder


def python(folder: Path, *arguments: str, code: int = 0) -> "subprocess.CompletedProcess[str]":
    """Run Python in a copy of the project; it has to end with that exit code."""
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)  # noqa: S603
    assert done.returncode == code, done.stdout + done.stderr
    return done


def saccade(folder: Path, *commands: list[str]) -> list[str]:
    """What each of the commands prints; one process runs them all, as torch takes its time to come."""
    return json.loads(python(folder, "-c", COMMANDS, json.dumps(commands)).stdout)


def passed(folder: Path, *arguments: str) -> int:
    """How many tests of the copy pass; none may fail."""
    found = re.search(
        r"(\d+) passed", python(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments).stdout
    )
    assert found is not None
    return int(found[1])


def insert(path: Path, where: str, what: str, *, after: bool = False) -> None:
    """Put `what` before or after the first line that begins with `where`."""
    lines = path.read_text().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if line.startswith(where))
    lines.insert(at + after, what)
    path.write_text("".join(lines))


def test_the_steps_for_a_new_score_are_enough(tmp_path: Path) -> None:
    copy_project(tmp_path)
    blocks = re.findall(r"   ```python\n(.*?)   ```", section("How to add a score"), re.DOTALL)
    the_file, the_line, the_formula = map(textwrap.dedent, blocks)

    (tmp_path / "saccade/attention/scores/distance.py").write_text(the_file)
    insert(tmp_path / "saccade/attention/scores/__init__.py", "SCORES: dict", f"    {the_line}", after=True)
    for name in ("saccade/attention/scores/__init__.py", "saccade/attention/__init__.py"):
        line = "from saccade.attention.scores.distance import Distance\n"
        insert(tmp_path / name, "from saccade.attention.scores.dot import", line)
    reference = tmp_path / "tests/attention/reference.py"
    insert(reference, "SCORE_FORMULAS: dict", "    Distance: distance,\n", after=True)
    insert(reference, "SCORE_FORMULAS: dict", f"{the_formula}\n\n")
    insert(reference, "# (score, query vector", "from saccade.attention import Distance\n\n")

    slowest = "tests/tasks/translation/test_learning.py"  # and the same for every score
    assert passed(tmp_path, "-k", "distance or has_a_formula", "--ignore", slowest) >= 100


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the folder and the line of the new task."""
    folder = copy_project(tmp_path_factory.mktemp("project"))
    steps = section("How to add a task")
    files = re.findall(r"^\*\*`(\S+)`\*\*.*?^```(?:python|yaml)\n(.*?)^```", steps, re.DOTALL | re.MULTILINE)
    named = re.search(r"```text\n(\S+)\n(.*?)```", steps, re.DOTALL)
    assert named is not None
    assert sorted(path for path, _ in files) == sorted(named[1] + line.split()[0] for line in named[2].splitlines())
    for path, text in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    line = re.search(r"^\*\*The line\*\*, in `TASKS` of `(\S+)`: `(\S+)`$", steps, re.MULTILINE)
    assert line is not None
    insert(folder / line[1], "TASKS = (", f"    {line[2]}\n", after=True)
    entry = re.search(r"\*\*The entry\*\*, in `TINY` of `(\S+)`.*?```python\n(.*?)```", steps, re.DOTALL)
    assert entry is not None
    insert(folder / entry[1], "}\n", entry[2])
    insert(folder / entry[1], "from saccade.tasks.translation", "from saccade.tasks.tagging.model import Tagger\n")
    return folder


@pytest.fixture(scope="module")
def trained(project: Path) -> Path:
    """The project once the new task's recipe has been trained, as the run `run`."""
    saccade(project, ["train", "tags", "--run", "run", "train.tensorboard=false"])
    return project


def test_the_new_task_is_known_by_its_name(project: Path) -> None:
    overview = python(project, "-m", "saccade", "--help").stdout
    assert re.search(r"^ +tag +say which part of speech", overview, re.MULTILINE)
    listed, shown, evaluating, looking = saccade(
        project, ["recipe", "list"], ["recipe", "show", "tags"], ["evaluate", "--help"], ["look", "--help"]
    )
    assert re.search(r"^tags +Parts of speech: ", listed, re.MULTILINE)
    assert shown == (project / "saccade/tasks/tagging/recipes/tags.yaml").read_text()
    assert "of a model that tags words: --sentences N" in evaluating
    assert "a sentence of a model that tags words" in " ".join(looking.split())


def test_the_new_task_learns_and_is_used(trained: Path) -> None:
    (trained / "sentences").write_text("they never fish\n\nThe old fish saw a red duck\n")
    scores, tagged, seen = saccade(
        trained,
        ["evaluate", "run", "--json"],
        ["tag", "run/model", "sentences"],
        ["look", "run", "they never fish", "--json", "--html", "seen.html"],
    )
    assert json.loads(scores)["sentences"] == 1000
    assert json.loads(scores)["accuracy"] > 99
    assert tagged.splitlines() == ["PRON ADV VERB", "", "DET ADJ NOUN VERB DET ADJ NOUN"]
    assert json.loads(seen)["rows"] == ["they", "never", "fish"]
    assert "they never fish" in (trained / "seen.html").read_text()
    code = "import saccade; print(saccade.load('run').tag(['we watch the plant'])[0].tags)"
    assert python(trained, "-c", code).stdout == "['PRON', 'VERB', 'DET', 'NOUN']\n"


def test_a_killed_training_of_the_new_task_goes_on_bit_for_bit(trained: Path) -> None:
    python(trained, "-c", KILLED, code=-signal.SIGKILL)
    assert weights(trained / "killed") != weights(trained / "run")
    done = python(trained, "-m", "saccade", "train", "--run", "killed")
    assert "going on after step 100" in done.stderr
    assert weights(trained / "killed") == weights(trained / "run")


def weights(run: Path) -> bytes:
    return (run / "model/model.safetensors").read_bytes()


def test_the_new_task_keeps_the_rules_of_the_house(project: Path) -> None:
    python(project, "-m", "ruff", "check", "saccade/tasks")
    python(project, "-m", "ruff", "format", "--check", "saccade/tasks")
    rules = "imports_point or table_of_tasks or nobody_asks or one_subject or smallest_model"
    files = ("tests/test_house.py", "tests/tasks/test_find_recipe.py", "tests/tasks/test_models.py")
    assert passed(project, *files, "-k", f"{rules} or tags or tagging") >= 18
