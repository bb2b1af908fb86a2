"""The soak: that it tries what it says, and that it notices when a promise is broken."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from soak.damage import Damage
from soak.folders import broken as broken_folder
from soak.folders import first_named
from soak.kills import stopped_badly
from soak.lines import Record, grown, read_records, wrong_records
from soak.nursery import Outcome
from soak.report import Check, table
from soak.sandbox import Named, touched, tree_of

# All that forks is done by one process of its own: the tests' own has threads, which no fork would have.
PIECES = """
import json, os, sys, time
from pathlib import Path
from soak.__main__ import settle

scratch = Path(sys.argv[1])
settle(scratch)

import saccade.training.loop
import saccade
from soak import commands, folders, kills, lines
from soak.report import Options
from soak.tiny import RECIPES, train_model

def folder(name):
    (scratch / name).mkdir(exist_ok=True)
    return scratch / name

def bad_load(folder):
    raise ValueError("fake")

def careless_load(folder):
    return saccade.load(scratch / "folders" / "pointing" / "run" / "model")

def careless_command(words):
    Path("vocabulary/my-terms.tsv").write_text("gone")
    Path(".saccade-0123456789abcdef.tmp").touch()
    raise KeyError("fake")

def slow_command(words):
    time.sleep(60)

def tell(name, checks):
    for check in checks:
        print(json.dumps({"piece": name, **vars(check)}), flush=True)

few = Options(count=2, tasks=("story_qa",))
tell("kills", kills.run(few, folder("kills")))
saccade.training.loop._seed_of = lambda seed, step: time.time_ns()
tell("careless kills", kills.run(few, folder("careless kills")))
some, few = Options(count=20, tasks=("pointing",)), Options(count=4, tasks=("pointing",))
tell("folders", folders.run(some, folder("folders")))
tell("bad load", folders.run(few, folder("folders"), load=bad_load))
tell("careless load", folders.run(few, folder("folders"), load=careless_load))
some, few = Options(count=10, tasks=("translation",)), Options(count=1, tasks=("translation",))
tell("commands", commands.run(some, folder("commands")))
tell("careless command", commands.run(few, folder("commands"), command=careless_command))
commands.LIMIT = commands._LIMIT_OF_TRAININGS = 0.2
tell("slow command", commands.run(few, folder("commands"), command=slow_command))
models = {task: train_model(RECIPES[task], scratch / task) for task in ("translation", "pointing")}
way = ("--beam", "1", "--json")
tell("lines", [
    lines.check_translations(models["translation"], way, 30, Options(), scratch),
    lines.check_records(models["pointing"], ["point"], ["-"], 40, Options(), lines.number_lines),
    lines.check_endless(models["translation"], 3.0),
    lines.check_first_answer(models["translation"], 2000, scratch),
    lines.check_typed(models["translation"]),
])
"""


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """What small versions of all pieces found, some of them with a part that breaks a promise."""
    command = [sys.executable, "-c", PIECES, str(tmp_path_factory.mktemp("soak"))]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    found: dict[str, list[dict[str, Any]]] = {}
    for check in map(json.loads, done.stdout.splitlines()):
        found.setdefault(check["piece"], []).append(check)
    return found


@pytest.mark.parametrize("name", ["kills", "folders", "commands", "lines"])
def test_promises_are_kept(name: str, pieces: dict[str, list[dict[str, Any]]]) -> None:
    for check in pieces[name]:
        assert check["cases"] > 0, check["name"]
        assert check["broken"] == 0, check["stories"]
        assert check["tracebacks"] == check["hangs"] == check["touched"] == 0
        assert check["megabytes"] > 100


def test_kills_come_at_random_at_operations_and_as_signals(pieces: dict[str, list[dict[str, Any]]]) -> None:
    assert [check["name"] for check in pieces["kills"]] == [
        "killed at random moments: story_qa",
        "killed at every operation on a file: story_qa",
        "stopped by a signal: story_qa",
    ]


@pytest.mark.parametrize(
    ("name", "figure", "story"),
    [
        ("careless kills", "broken", "another end: "),
        ("bad load", "tracebacks", "ValueError: fake"),
        ("careless load", "broken", "it was loaded, wanted a refusal"),
        ("careless command", "tracebacks", "KeyError: 'fake'"),
        ("careless command", "touched", "touched: 'vocabulary/my-terms.tsv'"),
        ("careless command", "touched", "touched: '.saccade-0123456789abcdef.tmp'"),
        ("slow command", "hangs", "it hung"),
    ],
)
def test_broken_promises_are_noticed(
    name: str, figure: str, story: str, pieces: dict[str, list[dict[str, Any]]]
) -> None:
    checks = pieces[name]
    assert sum(check[figure] for check in checks) > 0
    assert sum(check["broken"] for check in checks) > 0
    assert any(story in told for check in checks for told in check["stories"])


def outcome(code: int = 0, out: str = "", err: str = "", *, hung: bool = False) -> Outcome:
    return Outcome(code, 1.0, 100.0, out.encode(), err.encode(), hung)


def refusal(message: str) -> Outcome:
    return outcome(out=json.dumps({"refused": message}))


FOLDER, NAMES = Path("/m"), ["config.yaml", "model.safetensors", "source.txt"]


@pytest.mark.parametrize(
    ("done", "ended", "wanted"),
    [
        (Damage("flip", "named", "source.txt"), refusal("/m/source.txt: damaged"), ""),
        (Damage("flip", "named", "source.txt"), refusal("/m/config.yaml: not that of source.txt"), "to be named"),
        (Damage("flip", "refused"), refusal("a\nb"), "more than a line"),
        (Damage("flip", "refused"), outcome(out='{"answers": "7"}'), "wanted a refusal"),
        (Damage("link", "same"), outcome(out='{"answers": "7"}'), ""),
        (Damage("link", "same"), outcome(out='{"answers": "8"}'), "answers otherwise"),
        (Damage("link", "same"), refusal("/m: no"), "nothing was wrong"),
        (Damage("sealed", "either"), outcome(out='{"answers": "8"}'), ""),
        (Damage("sealed", "either"), outcome(-signal.SIGSEGV), "ended with -11"),
        (Damage("sealed", "either"), outcome(hung=True), "hung"),
    ],
)
def test_what_may_come_of_a_damaged_folder(done: Damage, ended: Outcome, wanted: str) -> None:
    why = broken_folder(done, ended, FOLDER, NAMES, b'{"answers": "7"}')
    assert wanted in " ".join(why)
    assert bool(why) == bool(wanted)


def test_the_file_that_a_message_names_first() -> None:
    assert first_named("/m/source.txt: not as model.safetensors says", FOLDER, NAMES) == "source.txt"
    assert first_named("/m: no", FOLDER, NAMES) is None


@pytest.mark.parametrize(
    ("ended", "when", "wanted"),
    [
        (outcome(143, err="saccade: stopped by SIGTERM after step 3, and saved"), "amid", ""),
        (outcome(143, err="saccade: stopped"), "amid", "does not name the step"),
        (outcome(130, err="saccade: stopped by SIGTERM after step 3, and saved"), "amid", "wanted 143"),
        (outcome(-15), "amid", "exit code -15"),
        (outcome(-15), "before", ""),
        (outcome(0), "after", ""),
        (outcome(0), "amid", "exit code 0"),
    ],
)
def test_how_a_training_may_stop(ended: Outcome, when: str, wanted: str) -> None:
    why = stopped_badly(ended, signal.SIGTERM, begun=when != "before", finished=when == "after")
    assert wanted in " ".join(why)
    assert bool(why) == bool(wanted)


def test_files_that_were_not_named_are_noticed(tmp_path: Path) -> None:
    """Those that were are not, nor is what comes into a new run's folder."""
    for name in ("notes.txt", "train.tsv", "run/run.json", "run/model/notes.txt", "other/x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    before = tree_of(tmp_path)
    for name in ("notes.txt", "train.tsv", "run/run.json", "run/model/notes.txt", "other/x", "new.txt", "run/new.txt"):
        (tmp_path / name).write_text("changed")
    (tmp_path / "a" / "b").mkdir(parents=True)
    after = tree_of(tmp_path)
    everything = ["a", "a/b", "new.txt", "notes.txt", "other/x", "run/model/notes.txt", "run/new.txt", "run/run.json"]
    assert touched(tmp_path, before, after, []) == [*everything, "train.tsv"]
    named = [Named("new.txt"), Named("./notes.txt"), Named("run", "run"), Named("a/b", "run"), Named("other", "run")]
    assert touched(tmp_path, before, after, named) == ["other/x", "run/model/notes.txt", "train.tsv"]
    assert "train.tsv" in touched(tmp_path, before, after, [Named(".", "corpus")])
    assert "train.tsv" not in touched(tmp_path, before, after, [Named(".", "corpus", overwrite=True)])


def test_records_are_counted_and_compared() -> None:
    lines = [b"a", b"\xff", b"b\r"]
    good = [
        Record("a", ("x",), failed=False),
        Record("", ("",), failed=True),
        Record("b", ("y",), failed=False),
    ]
    assert wrong_records(lines, good, outcome(1)) == []
    assert "2 records" in wrong_records(lines, good[:2], outcome(1))[0]
    assert "wanted 1" in wrong_records(lines, good, outcome(0))[0]
    assert "its record says" in wrong_records(lines, [good[2], good[1], good[0]], outcome(1))[0]
    assert "was answered" in wrong_records(lines, [good[0], Record(None, ("z",), None), good[2]], outcome(1))[0]
    nbest = ("--nbest", "2")
    assert [one.texts for one in read_records(b"1\t-1\tx\n1\t-2\ty\n2\t\t\n", nbest)] == [("x", "y"), ("",)]
    assert read_records(b"2\t-1\tx\n1\t-2\ty\n", nbest) == []


def test_growing_memory_is_noticed() -> None:
    assert grown([(100.0, 5), (300.0, 9), (301.0, 20)], answered=True) == []
    assert "grew by 100 MB" in grown([(100.0, 5), (300.0, 9), (400.0, 20)], answered=True)[0]
    assert "nothing was answered" in grown([(100.0, 0), (100.0, 0)], answered=True)[0]


def test_the_table_has_a_row_for_each_check() -> None:
    check = Check("something")
    check.cases = 1200
    check.count(outcome(1, err="Traceback (most recent call last)"))
    check.breaks("case 7", ["it is broken"], outcome(1))
    *_, row = table([check]).splitlines()
    assert row == "| something | 1,200 | 1 | 0 | 0 | 1.00 | 100 | BROKEN in 1 |"
    assert "case 7" in check.stories[0]
