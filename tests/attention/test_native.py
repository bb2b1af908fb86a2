"""The compiled loops: what they may be handed, how they are built, and what happens where they cannot be."""

import ctypes
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode

from saccade.attention import SCORES, Additive, Attention, attend, recall, remember
from saccade.attention._kernels.additive import additive_scores, exp2x
from saccade.runtime.kernels.additive import additive_backend
from saccade.runtime.native import load_library
from tests.attention.helpers import score_named, tensors


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_native_loops_do_not_depend_on_threads(dtype: torch.dtype) -> None:
    if not additive_backend().startswith("native"):
        pytest.skip(f"no native loops here: {additive_backend()}")
    inputs = [torch.randn(*shape, dtype=dtype, requires_grad=True) for shape in ((3, 7, 9), (3, 11, 9), (9,))]
    results: list[tuple[Tensor, ...]] = []
    threads = torch.get_num_threads()
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            scores = additive_scores(exp2x(inputs[0]), exp2x(inputs[1]), inputs[2])
            results.append((scores, *torch.autograd.grad(scores.square().sum(), inputs)))
    finally:
        torch.set_num_threads(threads)
    for one, two in zip(*results, strict=True):
        torch.testing.assert_close(one, two, rtol=0, atol=0)


def test_what_is_not_there_is_not_handed_to_native_loops() -> None:
    """Meta and fake tensors have shapes and no numbers; a key of another dtype would be read as nonsense."""
    layer = Attention(Additive(8, 8))
    query, key = torch.randn(2, 3, 8), torch.randn(2, 5, 8)
    assert layer.to("meta")(query.to("meta"), key.to("meta")).context.shape == (2, 3, 8)
    with FakeTensorMode():
        fake = Attention(Additive(8, 8))
        assert fake(torch.randn(2, 3, 8), torch.randn(2, 5, 8)).context.shape == (2, 3, 8)
    layer = Attention(Additive(8, 8))
    memory = layer.remember(key)
    with pytest.raises(ValueError, match=r"key: found torch\.float32 on cpu, wanted torch\.float64 on cpu"):
        layer.double().recall(query.double(), memory)


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("size", [1, 4, 6, 24])
def test_a_memory_of_another_size_is_refused(name: str, size: int) -> None:
    """Even one that could be read as if it fitted: keys of size 1 are spread, 2 times 4 numbers are 1 times 8."""
    score = SCORES[name](8, 8)
    right = remember(torch.randn(2, 5, 8), score=score).key.shape[-1]
    wanted = rf"key: found .*, wanted .*{1 if name == 'perceptron' else 8}"
    for other in SCORES:
        memory = remember(torch.randn(2, 5, size), score=SCORES[other](size, size))
        if memory.key.shape[-1] == right:  # that of a mix of scores is as large as all of theirs
            continue
        for needs_grad in (False, True):
            with torch.set_grad_enabled(needs_grad), pytest.raises(ValueError, match=wanted):
                recall(torch.randn(2, 3, 8), memory, score=score)


def test_additive_attention_can_be_exported() -> None:
    layer = Attention(Additive(8, 8)).eval()
    query, key = torch.randn(2, 3, 8), torch.randn(2, 5, 8)

    class ContextOnly(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, query: Tensor, key: Tensor) -> Tensor:
            return self.layer(query, key).context

    with torch.no_grad():
        exported = torch.export.export(ContextOnly(), (query, key)).module()
    torch.testing.assert_close(exported(query, key), layer(query, key).context)


@pytest.fixture
def fresh_native(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The native loops as on a new machine, with a cache folder of its own."""
    monkeypatch.setenv("SACCADE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SACCADE_NATIVE", raising=False)
    load_library.cache_clear()
    yield tmp_path / "cache"
    load_library.cache_clear()


def test_without_a_compiler_torch_does_the_work_and_says_so(
    fresh_native: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    score, (query, key, value) = score_named("additive"), tensors()
    with caplog.at_level(logging.WARNING, logger="saccade"):
        found = attend(query, key, value, score=score).context
        attend(query, key, value, score=score)
    assert additive_backend() == "torch: no C compiler was found; install gcc or clang, or set CC"
    assert len([record for record in caplog.records if "no C compiler" in record.getMessage()]) == 1
    load_library.cache_clear()
    monkeypatch.undo()
    torch.testing.assert_close(attend(query, key, value, score=score).context, found)


def test_a_broken_compiler_is_not_fatal(fresh_native: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = fresh_native.parent / "cc"
    broken.write_text("#!/bin/sh\necho 'nothing works' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    assert additive_backend() == f"torch: the C loops could not be built ({broken} said: nothing works)"
    assert not any(fresh_native.iterdir())


def test_the_loops_can_be_switched_off(fresh_native: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SACCADE_NATIVE", "0")
    assert additive_backend() == "torch: SACCADE_NATIVE=0 is set"
    assert not fresh_native.exists()


def test_the_library_is_built_once(fresh_native: Path) -> None:
    if not additive_backend().startswith("native"):
        pytest.skip(f"no native loops here: {additive_backend()}")
    (library,) = fresh_native.iterdir()
    built = library.stat()
    load_library.cache_clear()
    assert additive_backend().startswith("native")
    (again,) = fresh_native.iterdir()
    assert (again, again.stat().st_mtime_ns) == (library, built.st_mtime_ns)
    assert ctypes.CDLL(str(library)).additive_scores


def test_a_cache_that_others_can_write_is_not_trusted(fresh_native: Path, caplog: pytest.LogCaptureFixture) -> None:
    fresh_native.mkdir()
    fresh_native.chmod(0o777)
    planted = fresh_native / "planted"
    planted.touch()
    assert additive_backend().startswith(("native: built by", "torch: no C compiler"))
    assert list(fresh_native.iterdir()) == [planted]
    if additive_backend().startswith("native"):
        assert "chmod 700" in caplog.text


def start_backend(cache: Path) -> "subprocess.Popen[str]":
    """A new process that prints what computes its additive scores."""
    code = "from saccade.attention import additive_backend; print(additive_backend())"
    environment = {**os.environ, "SACCADE_CACHE": str(cache)}
    command = [sys.executable, "-c", code]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True)  # noqa: S603


def test_a_damaged_library_is_built_anew(tmp_path: Path) -> None:
    first = start_backend(tmp_path).communicate(timeout=120)[0]
    if not first.startswith("native"):
        pytest.skip(f"no native loops here: {first}")
    (library,) = tmp_path.iterdir()
    whole = library.read_bytes()
    library.write_bytes(b"half a library")
    output, complaint = start_backend(tmp_path).communicate(timeout=120)
    assert output == first
    assert "is damaged and will be built anew" in complaint
    assert library.read_bytes()[:4] == whole[:4]


def test_no_home_is_not_fatal(fresh_native: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("SACCADE_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert additive_backend().startswith("torch: ")


def test_two_processes_may_build_at_once(tmp_path: Path) -> None:
    """Each ends with a whole library, whoever was first."""
    children = [start_backend(tmp_path) for _ in range(2)]
    outputs = [child.communicate(timeout=120)[0] for child in children]
    assert [child.returncode for child in children] == [0, 0]
    assert outputs[0] == outputs[1]
    assert len(list(tmp_path.iterdir())) == outputs[0].startswith("native")
