"""Trainings that are killed, and go on as if they had not been."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import safetensors.torch

from saccade.cli.main import main
from saccade.training import read_journal

COMMON = [
    "data.pairs=300",
    "data.validation_size=20",
    "train.batch_tokens=256",
    "train.accumulate=2",
    "train.save_every=3",
    "train.log_every=2",
    "train.validate_every=20",
    "train.tensorboard=false",
    "train.select_checkpoint=average",
    "train.average_checkpoints=3",
]
RNN = ["dates", "model.dim=16", "model.embedding=8", "train.steps=60", *COMMON]
TRANSFORMER = [
    "numbers",
    "model.dim=16",
    "model.feed_forward=16",
    "data.max_number=9999",
    "train.steps=70",
    "vocabulary.method=bpe",
    "vocabulary.bpe_dropout=0.1",
    *COMMON,
]

# Forks a training from a process that has imported everything and computed nothing, so that a kill costs no start-up.
NURSERY = """
import os, sys
import torch._dynamo  # which optimizers import
from saccade.cli import train
from saccade.cli.main import main
from saccade.tasks.translation.dates import Dates
[Dates(0).pair(n) for n in range(500)]  # Babel has read its locales
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        os._exit(main(["train", *sys.argv[1:]]))
    print("child", child, flush=True)
    print("code", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def train(*arguments: str) -> int:
    return main(["train", *arguments])


def told(nursery: "subprocess.Popen[str]", word: str) -> int:
    """The number that the nursery says after `word`, whatever its children print."""
    assert nursery.stdout is not None
    for line in nursery.stdout:
        if line.startswith(word):
            return int(line.split()[1])
    raise AssertionError("the nursery has ended")


def step_of(run: Path) -> int:
    """The last step that the journal knows of."""
    path = run / "metrics.jsonl"
    return max((record["step"] for record in read_journal(path)), default=0) if path.exists() else 0


def wait_for_step(run: Path, step: int) -> None:
    deadline = time.monotonic() + 60
    while step_of(run) < step and time.monotonic() < deadline:
        time.sleep(0.01)


def without_times(run: Path) -> list[dict[str, object]]:
    records = read_journal(run / "metrics.jsonl")
    return [{name: value for name, value in record.items() if name not in {"seconds", "rate"}} for record in records]


@pytest.mark.parametrize("recipe", [RNN, TRANSFORMER], ids=["rnn", "transformer"])
def test_ten_kills_change_nothing(recipe: list[str], tmp_path: Path) -> None:
    undisturbed, disturbed = tmp_path / "undisturbed", tmp_path / "disturbed"
    command = [sys.executable, "-m", "saccade.cli.main", "train", *recipe, "--run", str(undisturbed)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603

    steps = without_times(undisturbed)[-1]["step"]
    assert isinstance(steps, int)
    rng = random.Random()
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", NURSERY, *recipe, "--run", str(disturbed)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as nursery:
        killed_at_steps: list[int] = []
        while True:
            assert nursery.stdin is not None
            nursery.stdin.write("\n")
            nursery.stdin.flush()
            child = told(nursery, "child")
            if len(killed_at_steps) < 10:
                # sometimes before it has done anything, mostly after it got on by a few steps, however busy the machine
                wait_for_step(disturbed, min(step_of(disturbed) + rng.choice([0, 2, 4, 6, 8]), steps))
                time.sleep(rng.uniform(0.0, 0.05))
                with contextlib.suppress(ProcessLookupError):  # it was done before that: try again
                    os.kill(child, signal.SIGKILL)
                    killed_at_steps.append(step_of(disturbed))
            code = told(nursery, "code")
            assert code in (-signal.SIGKILL, 0)
            if (disturbed / "checkpoint.safetensors").exists():  # whole, whenever the kill came
                safetensors.torch.load_file(disturbed / "checkpoint.safetensors")
            if code == 0 and len(killed_at_steps) == 10:
                break
        nursery.stdin.close()
    assert len(set(killed_at_steps)) > 2  # some of the kills came in the midst of it

    for name in ("model/model.safetensors", "best.safetensors"):
        assert (disturbed / name).read_bytes() == (undisturbed / name).read_bytes(), name
    ours, theirs = (safetensors.torch.load_file(run / "checkpoint.safetensors") for run in (disturbed, undisturbed))
    assert ours.keys() == theirs.keys()
    assert all(ours[name].equal(theirs[name]) for name in ours)
    assert without_times(disturbed) == without_times(undisturbed)
    assert not [path for path in disturbed.rglob(".*") if path.name != ".saccade-lock"]


def test_a_finished_training_run_again_leaves_the_same_journal(tmp_path: Path) -> None:
    arguments = [*RNN, "train.steps=8", "--run", str(tmp_path / "run")]
    assert train(*arguments) == 0
    journal = without_times(tmp_path / "run")
    assert "model" in journal[-1]
    assert train(*arguments) == 0
    assert without_times(tmp_path / "run") == journal


def test_what_differs_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = ["--run", str(tmp_path / "run")]
    short = [*RNN, "train.steps=8"]
    assert train(*short, *run) == 0
    capsys.readouterr()
    assert train(*RNN, "train.steps=16", "train.lr=2e-3", *run) == 0
    said = capsys.readouterr().err
    assert "changed since this training began: train.steps: 8 -> 16" in said
    assert "changed since this training began: train.lr: 0.003 -> 0.002" in said
    assert "going on after step 8" in said
    assert json.loads((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()[-1])["step"] == 16

    assert train(*short, "model.dim=32", "data.pairs=299", *run) == 2
    said = capsys.readouterr().err
    assert "was begun with other settings: data.pairs: 300 -> 299; model.dim: 16 -> 32; begin in another" in said
    assert said.count("\n") == 1


def test_without_a_recipe_the_folders_own_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = ["--run", str(tmp_path / "run")]
    assert train(*run) == 2
    assert "no training was begun there; name a recipe" in capsys.readouterr().err
    assert train(*RNN, "train.steps=8", *run) == 0
    assert train("train.steps=12", *run) == 0
    assert "train.steps: 8 -> 12" in capsys.readouterr().err
    assert train(*run) == 0
    assert "going on after step 12" in capsys.readouterr().err


def test_other_pairs_are_noticed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "pairs.tsv"
    lines = ["source\ttarget", *(f"a{n % 7} b\tc{n % 5}" for n in range(60))]
    table.write_text("\n".join(lines))
    recipe = ["rnn", f"data.train={table}", "vocabulary.kind=words", "model.dim=8", "train.steps=3"]
    recipe += ["train.tensorboard=false", "--run", str(tmp_path / "run")]
    assert train(*recipe) == 0
    table.write_text("\n".join([*lines, "new\tpair"]))
    assert train(*recipe) == 2
    assert "was begun with other data than there is now" in capsys.readouterr().err


def test_a_full_disk_leaves_the_last_good_checkpoint(tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk."""
    run = tmp_path / "run"
    arguments = [*RNN, "--run", str(run)]
    assert train(*arguments, "train.steps=14") == 0
    before = {path: path.read_bytes() for path in run.rglob("*") if path.suffix == ".safetensors"}
    limit = (run / "checkpoint.safetensors").stat().st_size - 1000
    code = (
        f"import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}));"
        "from saccade.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "train", *arguments, "train.steps=28"]
    full = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)  # noqa: S603
    assert full.returncode == 2
    last = full.stderr.splitlines()[-1]
    assert last.startswith(f"saccade: {run / 'checkpoint.safetensors'} cannot be written: File too large")
    assert "Traceback" not in full.stderr
    assert (run / "checkpoint.safetensors").read_bytes() == before[run / "checkpoint.safetensors"]
    assert not [path for path in run.rglob(".*") if path.name != ".saccade-lock"]
    assert train(*arguments, "train.steps=28") == 0  # with room again, it goes on


def test_fewer_steps_than_were_done_before_the_first_validation(tmp_path: Path) -> None:
    run = tmp_path / "run"
    arguments = [*RNN, "train.validate_every=1000", "--run", str(run)]
    command = [sys.executable, "-m", "saccade.cli.main", "train", *arguments, "train.steps=100000"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as first:  # noqa: S603
        while not (run / "checkpoint.safetensors").exists():
            assert first.poll() is None
            time.sleep(0.05)
        first.kill()
    assert train(*arguments, "train.steps=1") == 0
    assert (run / "model" / "model.safetensors").is_file()


def test_two_trainings_in_one_folder(tmp_path: Path) -> None:
    run = tmp_path / "run"
    command = [sys.executable, "-m", "saccade.cli.main", "train", *RNN, "train.steps=100000", "--run", str(run)]
    first = subprocess.Popen(command, stderr=subprocess.PIPE)  # noqa: S603
    try:
        while not (run / "metrics.jsonl").exists():
            assert first.poll() is None
            time.sleep(0.05)
        second = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)  # noqa: S603
    finally:
        first.kill()
        first.communicate()
    assert second.returncode == 2
    assert "another training is at work there" in second.stderr


def test_a_damaged_checkpoint_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    assert train(*RNN, "train.steps=8", "--run", str(run)) == 0
    path = run / "checkpoint.safetensors"
    path.write_bytes(path.read_bytes()[:-500])
    assert train(*RNN, "train.steps=20", "--run", str(run)) == 2
    assert "checkpoint.safetensors: damaged" in capsys.readouterr().err


def test_checkpoints_do_not_change_the_result(tmp_path: Path) -> None:
    """However often one is written."""
    for name, every in (("often", 1), ("seldom", 1000)):
        assert train(*RNN, "train.steps=12", f"train.save_every={every}", "--run", str(tmp_path / name)) == 0
    model = Path("model") / "model.safetensors"
    assert (tmp_path / "often" / model).read_bytes() == (tmp_path / "seldom" / model).read_bytes()
    shutil.rmtree(tmp_path / "often")
    assert train(*RNN, "train.steps=12", "train.seed=2", "--run", str(tmp_path / "often")) == 0
    assert (tmp_path / "often" / model).read_bytes() != (tmp_path / "seldom" / model).read_bytes()
