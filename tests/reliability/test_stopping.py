"""Stopping is saving, and a run goes on from wherever one is."""

import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

import saccade
from saccade.cli.main import main
from saccade.training import read_journal
from tests.reliability.conftest import TINY

# a validation that takes its time, as those of large models do
SLOW_VALIDATION = """
import sys, time
from saccade.cli.main import main
from saccade.tasks.translation.training import TranslationTask

def validate(task):
    print("validating", flush=True)
    time.sleep(60)

TranslationTask.validate = validate
sys.exit(main(sys.argv[1:]))
"""


def begin(run: Path, *settings: str, code: str | None = None) -> "subprocess.Popen[str]":
    way = ["-m", "saccade.cli.main"] if code is None else ["-c", code]
    command = [sys.executable, *way, "train", *TINY, *settings, "--run", str(run)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")  # noqa: S603


def until(run: Path, step: int) -> None:
    deadline = time.monotonic() + 60
    path = run / "metrics.jsonl"
    while not path.exists() or max((one["step"] for one in read_journal(path)), default=0) < step:
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_loses_no_step_and_leaves_a_model(number: int, code: int, tmp_path: Path) -> None:
    """Before the first validation and the first checkpoint."""
    run = tmp_path / "run"
    settings = ["train.log_every=5", "train.save_every=100000", "train.validate_every=100000"]
    process = begin(run, *settings, "train.steps=100000")
    until(run, 10)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    last = said.splitlines()[-1]
    assert process.returncode == code
    assert last.startswith(f"saccade: stopped by {signal.Signals(number).name} after step ")
    assert last.endswith(f"to go on: saccade train --run {run}")
    stopped = int(last.partition("after step ")[2].partition(",")[0])
    assert stopped >= 10
    assert saccade.load(run, saccade.Translator).translate(["May 3"])[0].text is not None

    assert main(["train", *TINY, *settings, f"train.steps={stopped + 5}", "--run", str(run)]) == 0
    other = tmp_path / "undisturbed"
    assert main(["train", *TINY, *settings, f"train.steps={stopped + 5}", "--run", str(other)]) == 0
    for name in ("model/model.safetensors", "best.safetensors"):
        assert (run / name).read_bytes() == (other / name).read_bytes()


def test_a_long_validation_can_be_stopped_and_is_made_when_the_training_goes_on(tmp_path: Path) -> None:
    run, other = tmp_path / "run", tmp_path / "undisturbed"
    settings = ["train.steps=6", "train.validate_every=3", "train.log_every=1"]
    process = begin(run, *settings, code=SLOW_VALIDATION)
    assert process.stdout is not None
    assert process.stdout.readline() == "validating\n"
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert time.monotonic() < began + 30
    assert process.returncode == 130
    assert "stopped by SIGINT after step 3, and saved" in said
    assert not [record for record in read_journal(run / "metrics.jsonl") if "valid" in record]
    for folder in (run, other):
        assert main(["train", *TINY, *settings, "--run", str(folder)]) == 0
    ours, theirs = (
        [{name: record[name] for name in record if name not in {"seconds", "rate"}} for record in read_journal(path)]
        for path in (run / "metrics.jsonl", other / "metrics.jsonl")
    )
    assert ours == theirs
    assert [record["step"] for record in ours if "valid" in record] == [3, 6]
    assert (run / "model/model.safetensors").read_bytes() == (other / "model/model.safetensors").read_bytes()


def test_the_best_model_so_far_is_there_while_the_training_goes_on(tmp_path: Path) -> None:
    run = tmp_path / "run"
    process = begin(run, "train.steps=100000", "train.validate_every=5", "train.log_every=5")
    try:
        until(run, 15)
        assert saccade.load(run, saccade.Translator).translate(["May 3"])
        assert process.poll() is None
    finally:
        process.kill()
        process.communicate()
    saccade.load(run)


def test_a_checkpoint_is_never_older_than_some_minutes(tmp_path: Path) -> None:
    run = tmp_path / "run"
    settings = ["train.steps=100000", "train.save_every=100000", "train.validate_every=100000", "train.log_every=5"]
    process = begin(run, *settings, "train.save_minutes=0.001")
    try:
        until(run, 25)
        assert (run / "checkpoint.safetensors").exists()
    finally:
        process.kill()
        process.communicate()


def pairs(path: Path) -> Path:
    lines = ["source\ttarget", *(f"a{n % 7} b\tc{n % 5}" for n in range(60))]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_a_run_goes_on_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home, away = tmp_path / "home", tmp_path / "away"
    home.mkdir()
    away.mkdir()
    pairs(home / "pairs.tsv")
    settings = ["vocabulary.kind=words", "model.dim=8", "train.tensorboard=false"]
    monkeypatch.chdir(home)
    assert main(["train", "rnn", "data.train=pairs.tsv", *settings, "train.steps=2", "--run", "runs/rnn"]) == 0
    monkeypatch.chdir(away)
    assert main(["train", "train.steps=3", "--run", "../home/runs/rnn"]) == 0

    # data that was moved is the same data
    (home / "pairs.tsv").rename(away / "moved.tsv")
    capsys.readouterr()
    assert main(["train", "train.steps=4", "--run", "../home/runs/rnn"]) == 2
    assert "pairs.tsv: no such file" in capsys.readouterr().err
    assert main(["train", "train.steps=4", "data.train=moved.tsv", "--run", "../home/runs/rnn"]) == 0
    assert "data.train.table: pairs.tsv -> moved.tsv" in capsys.readouterr().err

    # a run that was moved with its data
    (tmp_path / "home").rename(tmp_path / "house")
    (away / "moved.tsv").rename(tmp_path / "house" / "moved.tsv")
    monkeypatch.chdir("/")
    assert main(["train", "train.steps=5", "data.train=moved.tsv", "--run", str(tmp_path / "house/runs/rnn")]) == 0

    # other data under the same name is not
    with (tmp_path / "house" / "moved.tsv").open("a") as file:
        file.write("new\tpair\n")
    capsys.readouterr()
    assert main(["train", "train.steps=6", "--run", str(tmp_path / "house/runs/rnn")]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert "was begun with other data than there is now; name the files that it was begun with" in last


def test_what_a_run_knows_of_itself(run: Path) -> None:
    record = json.loads((run / "run.json").read_text())
    assert record["format"] == "saccade run"
    assert record["folders"] == [[os.path.relpath(Path.cwd(), run), str(Path.cwd())]]


def test_a_damaged_vocabulary_of_a_run_is_noticed(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With it, the training would go on, and the model write other words than it learnt."""
    shutil.copytree(run, tmp_path / "run")
    path = tmp_path / "run" / "vocabulary" / "target.txt"
    path.write_text(path.read_text().replace("8", "@"))
    assert main(["train", "train.steps=40", "--run", str(tmp_path / "run")]) == 2
    assert f"{path}: damaged, or changed since it was given" in capsys.readouterr().err


def test_sigterm_while_torch_is_imported_is_heard_as_later_ones_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The seconds before a training begins, in which somebody may find that it is the wrong one."""
    imported = importlib.import_module

    def import_and_stop(name: str) -> ModuleType:
        if name == "saccade.cli.train":
            os.kill(os.getpid(), signal.SIGTERM)
        return imported(name)

    monkeypatch.setattr("saccade.cli.main.importlib.import_module", import_and_stop)
    before = signal.getsignal(signal.SIGTERM)
    assert main(["train", "dates", "--run", str(tmp_path / "run")]) == 143
    assert capsys.readouterr().err == "saccade: stopped before the first step; there was nothing to save\n"
    assert signal.getsignal(signal.SIGTERM) == before
    assert not (tmp_path / "run").exists()
