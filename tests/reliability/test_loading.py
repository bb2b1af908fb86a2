"""Loading is closed: a model's folder that is damaged, or somebody's trap, gets one line that names the file."""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import safetensors.torch
import torch

import saccade
from saccade.base.errors import InputError
from saccade.base.model_folder import file_digest
from saccade.base.settings import parse_yaml
from saccade.base.tensors import write_tensors
from saccade.cli.main import main
from soak.tiny import RECIPES


@pytest.fixture
def copy(model: Path, tmp_path: Path) -> Path:
    shutil.copytree(model, tmp_path / "model")
    return tmp_path / "model"


def refused(folder: Path) -> str:
    began = time.monotonic()
    with pytest.raises(InputError) as error:
        saccade.load(folder)
    assert time.monotonic() < began + 10
    assert "\n" not in str(error.value)
    return str(error.value)


def seal(folder: Path, tensors: dict[str, torch.Tensor] | None = None) -> None:
    """Make the checksums right again, as a stranger would who wants to be believed."""
    weights = folder / "model.safetensors"
    files = {path.name: file_digest(path) for path in folder.iterdir() if path != weights}
    tensors = safetensors.torch.load_file(weights) if tensors is None else tensors
    write_tensors(weights, tensors, {"files": json.dumps(files)})


@pytest.mark.parametrize("name", ["config.yaml", "model.safetensors", "source.txt", "target.txt"])
def test_a_flipped_bit_is_noticed_in_the_file_where_it_is(name: str, copy: Path) -> None:
    path = copy / name
    content = path.read_bytes()
    rng = random.Random(7)
    for offset in [0, len(content) - 1, *(rng.randrange(len(content)) for _ in range(25))]:
        path.write_bytes(content[:offset] + bytes([content[offset] ^ 1 << rng.randrange(8)]) + content[offset + 1 :])
        assert str(path) in refused(copy)
    path.write_bytes(content)
    saccade.load(copy)


def test_a_command_does_not_answer_with_a_damaged_vocabulary(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = (copy / "target.txt").read_text().splitlines()
    words[-1], words[-2] = words[-2], words[-1]
    (copy / "target.txt").write_text("\n".join(words) + "\n")
    assert main(["translate", str(copy), "/dev/null"]) == 2
    assert "target.txt: damaged, or changed since the model was written" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["config.yaml", "model.safetensors", "source.txt"])
@pytest.mark.parametrize("how", ["fifo", "/dev/zero", "folder", "gone"])
def test_what_is_no_regular_file_is_not_waited_for(how: str, name: str, copy: Path) -> None:
    (copy / name).unlink()
    if how == "fifo":
        os.mkfifo(copy / name)
    elif how == "folder":
        (copy / name).mkdir()
    elif how != "gone":
        (copy / name).symlink_to(how)
    assert name in refused(copy)


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x, x, x, x]\n"
        + "\n".join(f"b{n}: &b{n} [{', '.join(['*a' if n == 0 else f'*b{n - 1}'] * 9)}]" for n in range(9)),
        "\n".join(f"k{n}: 1" for n in range(50_000)),
        "task: []",
        "task: {a: 1}",
        "a: !!set {b}",
        "a: !!bool x",
        'a: "\\UFFFFFFFF"',
        'a: "\\uD800"',
        "- " * 4000,
        "[" * 4000,
        "&a [*a]",
        "? [a]\n: b",
        "1: 2",
        "task: translation\nmodel: 9" + "9" * 5000,
        "x" * (2 << 20),
        "",
    ],
    ids=lambda text: text[:12],
)
@pytest.mark.parametrize("start", ["", "format: 1\n"], ids=["no format", "format"])
def test_a_config_that_is_a_trap(start: str, text: str, copy: Path) -> None:
    (copy / "config.yaml").write_text(start + text)
    seal(copy)
    assert "config.yaml" in refused(copy)


def test_few_aliases_are_fine() -> None:
    assert parse_yaml("a: &x [1, 2]\nb: *x", where="here") == {"a": [1, 2], "b": [1, 2]}


def test_a_net_of_another_size_costs_no_memory(copy: Path) -> None:
    """`dim: 65536` would be gigabytes; in a process that may not have them, it is refused all the same."""
    config = copy / "config.yaml"
    config.write_text(config.read_text().replace("dim: 16", "dim: 65536"))
    seal(copy)
    code = (
        "import resource, sys, torch, saccade.tasks.translation.kind; from saccade.base.errors import InputError\n"
        "room = 1 << 30\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + room, used + room))\n"
        "try: saccade.load(sys.argv[1])\n"
        "except InputError as error: print(error)\n"
    )
    command = [sys.executable, "-c", code, str(copy)]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=60)  # noqa: S603
    assert "model.safetensors: " in result.stdout, result.stderr
    assert "it does not belong to the settings beside it" in result.stdout


@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.float64, torch.float16, torch.float8_e4m3fn])
def test_other_kinds_of_numbers_are_refused(dtype: torch.dtype, copy: Path) -> None:
    tensors = safetensors.torch.load_file(copy / "model.safetensors")
    name = min(tensors)
    tensors[name] = tensors[name].to(dtype)
    seal(copy, tensors)
    message = refused(copy)
    assert name in message
    assert "wanted F32" in message


@pytest.mark.parametrize("name", ["a\nb", "x" * 300, "../x", ""])
def test_names_of_files_that_no_model_has(name: str, copy: Path) -> None:
    tensors = safetensors.torch.load_file(copy / "model.safetensors")
    write_tensors(copy / "model.safetensors", tensors, {"files": json.dumps({name: "0"})})
    assert "it does not say which files are beside it" in refused(copy)


def test_numbers_beyond_all_measure_are_refused(copy: Path) -> None:
    tensors = safetensors.torch.load_file(copy / "model.safetensors")
    seal(copy, {name: torch.full_like(tensor, 3e38) for name, tensor in tensors.items()})
    assert "numbers that are not finite" in refused(copy)


def test_a_header_that_lies_about_its_size(copy: Path) -> None:
    weights = copy / "model.safetensors"
    for length in (2**63, 2**40, 100_000_000, 3, 0):
        weights.write_bytes(length.to_bytes(8, "little") + b'{"a": 1}')
        assert "model.safetensors: damaged" in refused(copy)
    with weights.open("wb") as file:
        file.truncate(1 << 40)  # a hole: it takes no room on the disk
    assert "model.safetensors: damaged" in refused(copy)


def test_a_model_of_another_format_says_so(copy: Path) -> None:
    """As one that an older saccade wrote, which knew no checksums."""
    weights = copy / "model.safetensors"
    safetensors.torch.save_file(safetensors.torch.load_file(weights), weights)
    assert "it has no checksums" in refused(copy)


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("format: 2\n", "a model of format 2, wanted 1; install a newer saccade"),
        ("format: 0\n", "a model of format 0, wanted 1; train it anew with this saccade"),
        ("format: one\n", "a model of format one, wanted 1; train it anew with this saccade"),
        ("", "a model of format None, wanted 1; train it anew with this saccade"),
    ],
)
def test_a_folder_of_another_format_says_what_to_do(line: str, remedy: str, copy: Path) -> None:
    config = copy / "config.yaml"
    assert config.read_text().startswith("format: 1\n")
    config.write_text(line + config.read_text().removeprefix("format: 1\n"))
    seal(copy)
    assert refused(copy) == f"{config}: {remedy}"


def test_a_run_is_a_model_too(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sentences = ["May 3, 1999"]
    ours, theirs = (saccade.load(folder, saccade.Translator).translate(sentences) for folder in (run, run / "model"))
    assert ours == theirs
    (tmp_path / "run.json").write_text("{}")
    assert "this training has no model yet" in refused(tmp_path)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.yaml").write_text("task: translation")  # killed before the weights were written
    assert "this training has no model yet" in refused(tmp_path)
    assert main(["evaluate", str(run), "--source", "/dev/null", "--reference", "/dev/null"]) == 2
    assert "/dev/null" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"{}", b"[]", b"\xff", b'{"format": "saccade run", "version": 2}', b"[" * 100_000])
def test_a_marker_that_is_none(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run.json").write_bytes(content)
    assert main(["train", "dates", "--run", str(tmp_path)]) == 2
    assert "run.json: damaged, or not of this saccade" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_a_damaged_checkpoint_has_its_own_remedy(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(run, tmp_path / "run")
    path = tmp_path / "run" / "checkpoint.safetensors"
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    assert main(["train", "train.steps=40", "--run", str(tmp_path / "run")]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.endswith(
        "checkpoint.safetensors: damaged, its numbers are not as they were written; begin again, in another folder"
    )


def test_no_model_takes_torch_compile_to_load(tmp_path: Path) -> None:
    """Its import costs most of a second, more than all else that happens before a small model's first answer."""
    train = "import sys; from pathlib import Path; from soak.tiny import RECIPES, SUBWORDS, train_model\n"
    train += "for name, recipe in {**RECIPES, 'subwords': SUBWORDS}.items():\n"
    train += "    train_model(recipe, Path(sys.argv[1]) / name)"
    subprocess.run([sys.executable, "-c", train, tmp_path], check=True)  # noqa: S603
    runs = sorted(str(path) for path in tmp_path.glob("*/run"))
    load = "import sys, saccade\n"
    load += "for run in sys.argv[1:]:\n    saccade.load(run)\n    print(run, 'torch._dynamo' in sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", load, *runs], check=True, capture_output=True, text=True)  # noqa: S603
    assert loaded.stdout.splitlines() == [f"{run} False" for run in runs]
    assert len(runs) == len(RECIPES) + 1
