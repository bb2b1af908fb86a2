"""The fast paths against the plain ones, and that they are really taken."""

import copy
import ctypes
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode

from bench.watch import Watch
from saccade.attention import (
    SCORES,
    Additive,
    Attention,
    Cosine,
    Hard,
    LocalMonotonic,
    LocalPredictive,
    Monotonic,
    MultiHead,
    SelfAttention2d,
    Soft,
    Sparse,
    additive_backend,
    attend,
    attention_path,
    padding_mask,
)
from saccade.attention._kernels import additive as additive_kernel
from saccade.attention._kernels import native
from saccade.attention._kernels.additive import (
    TorchLoops,
    additive_scores,
    exponential,
    plain_additive_scores,
)
from saccade.attention._kernels.fused import fused_attention
from saccade.attention._kernels.length import plain_to_length, to_length
from saccade.attention._kernels.plain import masked_softmax
from saccade.attention._kernels.tiled import tiled_attention
from tests.attention.helpers import DIM, VALUE_DIM, relative_error, score_named, some_mask, tensors

FLASH = "_scaled_dot_product_flash_attention_for_cpu"


@pytest.fixture(params=["native", "torch"])
def loops(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to compute additive scores."""
    if request.param == "torch":
        monkeypatch.setattr(additive_kernel, "_loops", lambda tensor: TorchLoops())
        monkeypatch.setattr(additive_kernel, "_TILE", 40)  # several tiles, with remainders
    elif not additive_backend().startswith("native"):
        pytest.skip(f"no native loops here: {additive_backend()}")
    return request.param


# B, T, S, D around the strides of four and of a vector register
SHAPES = [(1, 1, 1, 1), (2, 3, 5, 7), (3, 4, 8, 4), (1, 9, 17, 13), (2, 8, 33, 6), (5, 1, 3, 2)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_additive_scores(loops: str, shape: tuple[int, int, int, int], dtype: torch.dtype) -> None:
    batch, queries, keys, dim = shape
    query = torch.randn(batch, queries, dim, dtype=dtype, requires_grad=True)
    key = torch.randn(batch, keys, dim, dtype=dtype, requires_grad=True)
    v = torch.randn(dim, dtype=dtype, requires_grad=True)
    exact = [x.detach().double().requires_grad_() for x in (query, key, v)]
    found, wanted = additive_scores(exponential(query), exponential(key), v), plain_additive_scores(*exact)
    limit = 1e-5 if dtype == torch.float32 else 1e-12
    assert relative_error(found, wanted) <= limit

    direction = torch.randn_like(wanted)
    grads = torch.autograd.grad(found, (query, key, v), direction.to(dtype))
    wanted_grads = torch.autograd.grad(wanted, exact, direction)
    for mine, theirs in zip(grads, wanted_grads, strict=True):
        assert relative_error(mine, theirs) <= limit


def test_additive_scores_by_differences(loops: str) -> None:
    inputs = [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((2, 5, 3), (2, 6, 3), (3,))]
    assert torch.autograd.gradcheck(
        lambda query, key, v: additive_scores(exponential(query), exponential(key), v), inputs
    )


@pytest.mark.parametrize("shift", [0.0, 20.0, 42.0, -42.0])
def test_additive_scores_of_large_numbers(loops: str, shift: float) -> None:
    """Queries and keys that are large with opposite signs cancel; large ones with one sign saturate."""
    query, key, v = torch.randn(2, 3, 5).double(), torch.randn(2, 4, 5).double(), torch.randn(5).double()
    for sign in (1, -1):
        q, k = (query + shift).float().clamp(-43, 43), (sign * key - shift * sign).float().clamp(-43, 43)
        found = additive_scores(exponential(q), exponential(k), v.float())
        wanted = plain_additive_scores(q.double(), k.double(), v)
        assert (found.double() - wanted).abs().max() <= 1e-5
    beyond = additive_scores(exponential(torch.full((1, 1, 1), 1e4)), exponential(torch.zeros(1, 1, 1)), torch.ones(1))
    assert float(beyond) == 1.0


def test_additive_scores_of_tiny_gradients_do_not_vanish(loops: str) -> None:
    """The gradient is handed back for x, not for e^2x, which would be 0 · inf at either end of the range."""
    query = torch.tensor([[[40.0]]], requires_grad=True)
    key = torch.tensor([[[-40.0]]], requires_grad=True)
    additive_scores(exponential(query), exponential(key), torch.ones(1)).sum().backward()
    assert query.grad is not None
    assert float(query.grad) == pytest.approx(1.0, rel=1e-5)


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
            scores = additive_scores(exponential(inputs[0]), exponential(inputs[1]), inputs[2])
            results.append((scores, *torch.autograd.grad(scores.square().sum(), inputs)))
    finally:
        torch.set_num_threads(threads)
    for one, two in zip(*results, strict=True):
        torch.testing.assert_close(one, two, rtol=0, atol=0)


@pytest.mark.parametrize("tile", [1, 7, 24, 1000])
@pytest.mark.parametrize("score_name", [name for name in SCORES if name not in {"coverage", "location-aware"}])
def test_tiled_is_plain(score_name: str, tile: int) -> None:
    """Any score, tiles of all sizes, with rows that see nothing in some of them or in all."""
    score = score_named(score_name, dtype=torch.float64)
    query, key, value = tensors(dtype=torch.float64, grad=True, queries=6, keys=11)
    mask = torch.rand(2, 6, 11) > 0.6
    mask[0, 2] = False
    inputs = (query, key, value, *score.parameters())

    found = tiled_attention(
        score.queries(query),
        score.keys(key),
        value,
        mask=mask,
        compare=lambda queries, keys, *parameters: score.compare(queries, keys),
        parameters=tuple(score.parameters()),
        tile=tile,
    )
    wanted = masked_softmax(score(query, key), mask) @ value
    torch.testing.assert_close(found, wanted)
    assert (found[0, 2] == 0).all()
    direction = torch.randn_like(found)
    for mine, theirs in zip(
        *(
            torch.autograd.grad(x, inputs, direction, allow_unused=True, materialize_grads=True)
            for x in (found, wanted)
        ),
        strict=True,
    ):
        torch.testing.assert_close(mine, theirs)


def test_tiled_takes_any_function_of_query_and_key() -> None:
    """A score of somebody else's, even one whose result is a view of its inputs; some parameters frozen."""
    query, key, value = tensors(dtype=torch.float64, grad=True)
    scale = torch.randn(DIM, dtype=torch.float64, requires_grad=True)
    frozen = torch.randn((), dtype=torch.float64)

    def compare(queries: Tensor, keys: Tensor, scale: Tensor, frozen: Tensor) -> Tensor:
        return -torch.cdist(queries * scale, keys * scale) + frozen

    def first_number(queries: Tensor, keys: Tensor, *_: Tensor) -> Tensor:
        return keys[..., 0][..., None, :].expand(*queries.shape[:-1], -1)

    for function in (compare, first_number):
        found = tiled_attention(query, key, value, mask=None, compare=function, parameters=(scale, frozen), tile=4)
        wanted = function(query, key, scale, frozen).softmax(-1) @ value
        torch.testing.assert_close(found, wanted)
        for mine, theirs in zip(
            *(
                torch.autograd.grad(
                    x.square().sum(), (query, key, value, scale), allow_unused=True, materialize_grads=True
                )
                for x in (found, wanted)
            ),
            strict=True,
        ):
            torch.testing.assert_close(mine, theirs)


def test_long_additive_attention_takes_the_tiled_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `attend` gives past the size of a tile is what it gives below."""
    score = score_named("additive", dtype=torch.float64)
    query, key, value = tensors(dtype=torch.float64, grad=True)
    mask = some_mask()
    below = attend(query, key, value, score=score, mask=mask).context
    monkeypatch.setattr("saccade.attention.functional.TILE", 8)
    assert attention_path(score, Soft(), shape=(2, 3, 5)) == "tiled"
    above = attend(query, key, value, score=score, mask=mask).context
    torch.testing.assert_close(above, below)
    assert "TiledAttention" in str(above.grad_fn)


def test_tiled_in_half_precision_keeps_its_sums_in_full() -> None:
    """Values far from zero, whose sums cancel in the backward pass: bfloat16 sums would be off by half and more."""
    layer = Attention(Additive(16, 16)).bfloat16()
    query, key = (torch.randn(4, 600, 16, dtype=torch.bfloat16, requires_grad=True) for _ in range(2))
    value = (torch.randn(4, 600, 16) + 3).bfloat16().requires_grad_()
    assert attention_path(layer.score, Soft(), shape=(4, 600, 600)) == "tiled"
    direction = torch.randn(4, 600, 16)
    inputs = (query, key, value, *layer.parameters())
    found = torch.autograd.grad(layer(query, key, value).context, inputs, direction.bfloat16())
    exact, exact_inputs = copy.deepcopy(layer).double(), [x.detach().double().requires_grad_() for x in inputs[:3]]
    wanted = torch.autograd.grad(
        exact(*exact_inputs, need_weights=True).context, (*exact_inputs, *exact.parameters()), direction.double()
    )
    for mine, theirs in zip(found, wanted, strict=True):
        assert (mine.double() - theirs).norm() <= 0.02 * theirs.norm()


def test_tiled_under_functional_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """The backward pass uses the parameters of its forward pass, not those that the module has by then."""
    layer = Attention(score_named("additive", dtype=torch.float64))
    query, key, value = tensors(dtype=torch.float64)
    parameters = {name: (3 * x).detach().requires_grad_() for name, x in layer.named_parameters()}

    def grads() -> tuple[Tensor, ...]:
        context = torch.func.functional_call(layer, parameters, (query, key, value)).context
        return torch.autograd.grad(context.square().sum(), tuple(parameters.values()))

    wanted = grads()
    monkeypatch.setattr("saccade.attention.functional.TILE", 8)
    assert attention_path(layer.score, shape=(2, 3, 5)) == "tiled"
    torch.testing.assert_close(grads(), wanted)


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


def test_a_decoder_holds_its_keys_once() -> None:
    """Step after step, the backward pass keeps the prepared keys, not a copy of them for each step."""
    layer, key = Attention(Additive(8, 8)), torch.randn(2, 50, 8, requires_grad=True)
    memory = layer.remember(key)
    saved: set[int] = set()

    def note(tensor: Tensor) -> Tensor:
        if tensor.numel() == memory.key.numel():
            saved.add(tensor.untyped_storage().data_ptr())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        outputs = [layer.recall(torch.randn(2, 1, 8), memory).context for _ in range(6)]
    assert outputs
    assert saved <= {memory.key.untyped_storage().data_ptr(), memory.value.untyped_storage().data_ptr()}


def test_paths() -> None:
    """Which way is taken is a plain function of what is asked."""
    small, large = (2, 3, 5), (8, 512, 512)
    for name in ("dot", "scaled-dot", "general", "cosine", "location"):
        assert attention_path(score_named(name), Soft(), shape=large) == "fused"
        assert attention_path(score_named(name), LocalMonotonic(2), shape=large) == "fused"
        assert attention_path(score_named(name), Soft(), shape=large, need_weights=True) == "plain"
    assert attention_path(score_named("additive"), Soft(), shape=large) == "tiled"
    assert attention_path(score_named("additive"), Soft(), shape=small) == "plain"
    for weighting in (Hard(), LocalPredictive(DIM, 2), Monotonic(), Sparse()):
        assert attention_path(score_named("dot"), weighting, shape=large) == "plain"
    assert attention_path(score_named("coverage"), Soft(), shape=large) == "stepwise"


class Maps(nn.Module):
    """SelfAttention2d, called with a sequence."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = SelfAttention2d(8)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, **_: object) -> Tensor:
        return self.layer(torch.randn(2, 8, 3, 4)).context


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(
    "layer",
    [
        *(Attention(score_named(name)) for name in ("dot", "scaled-dot", "general", "cosine", "location")),
        Attention(score_named("dot"), LocalMonotonic(2)),
        Attention(score_named("dot"), dropout=0.5).train(),
        MultiHead(DIM, 1),
        MultiHead(DIM, 1, dropout=0.5).train(),
        Maps(),
    ],
    ids=lambda layer: type(layer).__name__,
)
def test_the_flash_kernel_is_taken(layer: nn.Module, masked: bool) -> None:  # noqa: FBT001
    """With values of another size than the keys, a mask, a window, dropout: torch would fall back without a word."""
    query, key, value = tensors(grad=True)
    value = value if isinstance(layer, Attention) else value[..., :DIM]
    with Watch() as watch:
        layer(query, key, value, mask=padding_mask(torch.tensor([5, 3])) if masked else None)
    assert watch.saw(FLASH)


@pytest.mark.parametrize("batch", [(), (2,), (2, 3), (2, 3, 2)])
def test_fused_with_any_leading_dimensions(batch: tuple[int, ...]) -> None:
    query, key, value = (torch.randn(*batch, *size) for size in ((3, DIM), (5, DIM), (5, VALUE_DIM)))
    for mask in (None, torch.rand(5) > 0.3, torch.rand(3, 1) > 0.3, torch.rand(*batch, 3, 5) > 0.3):
        wanted = masked_softmax(query @ key.transpose(-1, -2), mask) @ value
        torch.testing.assert_close(fused_attention(query, key, value, mask=mask), wanted)


def test_to_length() -> None:
    x, length = torch.randn(3, 5, dtype=torch.float64, requires_grad=True), torch.tensor(1.7, dtype=torch.float64)
    length.requires_grad_()
    torch.testing.assert_close(to_length(x, length), plain_to_length(x, length))
    assert torch.autograd.gradcheck(to_length, (x, length))
    zeros = torch.zeros(2, 5, requires_grad=True)
    to_length(zeros, torch.ones(())).sum().backward()
    assert zeros.grad is not None
    assert (zeros.grad == 0).all()


def test_cosine_is_torch_s() -> None:
    query, key, _ = tensors()
    score = Cosine(sharpness=1.7)
    wanted = score.sharpness * F.cosine_similarity(query[:, :, None], key[:, None], dim=-1)
    torch.testing.assert_close(score(query, key), wanted)


@pytest.mark.parametrize("score_name", SCORES)
def test_half_precision(score_name: str) -> None:
    """bfloat16 goes through and stays near; no exponential overflows."""
    score, (query, key, value) = score_named(score_name), tensors()
    wanted = attend(query, key, value, score=score).context
    found = attend(query.bfloat16(), key.bfloat16(), value.bfloat16(), score=score.bfloat16()).context
    assert found.dtype == torch.bfloat16
    assert relative_error(found, wanted) < 0.05


@pytest.fixture
def fresh_native(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The native loops as on a new machine, with a cache folder of its own."""
    monkeypatch.setenv("SACCADE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SACCADE_NATIVE", raising=False)
    native._load.cache_clear()
    yield tmp_path / "cache"
    native._load.cache_clear()


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
    native._load.cache_clear()
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
    native._load.cache_clear()
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


def test_no_tensor_of_queries_by_keys_by_dim() -> None:
    """The point of the additive kernel: its largest new tensor is that of the scores, or a tile of torch's loops."""
    batch, queries, keys, dim = 4, 60, 70, 50
    layer = Attention(Additive(dim, dim))
    query = torch.randn(batch, queries, dim, requires_grad=True)
    key = torch.randn(batch, keys, dim, requires_grad=True)
    with Watch() as watch:
        layer(query, key).context.sum().backward()
    tile = 0 if additive_backend().startswith("native") else additive_kernel._TILE
    assert watch.largest <= max(batch * queries * keys, tile) < batch * queries * keys * dim
