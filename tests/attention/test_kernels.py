"""The fast paths against the plain ones, and that they are really taken."""

import copy
from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call

from bench.watch import Watch
from saccade.attention import (
    SCORES,
    WEIGHTINGS,
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
    attend,
    attention_path,
    padding_mask,
)
from saccade.attention._kernels.additive import additive_scores, exp2x, plain_additive_scores
from saccade.attention._kernels.fused import fused_attention
from saccade.attention._kernels.plain import masked_softmax
from saccade.attention._kernels.tiled import tiled_attention
from saccade.attention.functional import _Comparison
from saccade.runtime import torch_only
from saccade.runtime.kernels import additive as additive_kernel
from saccade.runtime.kernels.additive import additive_backend
from saccade.runtime.native import load_library
from tests.attention.helpers import (
    DIM,
    STATELESS,
    VALUE_DIM,
    relative_error,
    score_named,
    some_mask,
    tensors,
    weighting_named,
)

FLASH = "_scaled_dot_product_flash_attention_for_cpu"


@pytest.fixture(params=["native", "torch"])
def loops(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Both ways to compute additive scores."""
    if request.param == "torch":
        monkeypatch.setenv("SACCADE_NATIVE", "-additive")
        monkeypatch.setattr(additive_kernel, "_TILE", 40)  # several tiles, with remainders
        load_library.cache_clear()
    elif not additive_backend().startswith("native"):
        pytest.skip(f"no native loops here: {additive_backend()}")
    yield request.param
    load_library.cache_clear()


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
    found, wanted = additive_scores(exp2x(query), exp2x(key), v), plain_additive_scores(*exact)
    limit = 1e-5 if dtype == torch.float32 else 1e-12
    assert relative_error(found, wanted) <= limit

    direction = torch.randn_like(wanted)
    grads = torch.autograd.grad(found, (query, key, v), direction.to(dtype))
    wanted_grads = torch.autograd.grad(wanted, exact, direction)
    for mine, theirs in zip(grads, wanted_grads, strict=True):
        assert relative_error(mine, theirs) <= limit


@pytest.mark.parametrize("shape", [(0, 3, 4, 5), (2, 0, 4, 5), (2, 3, 0, 5), (2, 3, 4, 0)])
def test_additive_scores_of_nothing(loops: str, shape: tuple[int, int, int, int]) -> None:
    batch, queries, keys, dim = shape
    query, key, v = torch.ones(batch, queries, dim), torch.ones(batch, keys, dim), torch.ones(dim)
    inputs = [one.requires_grad_() for one in (query, key, v)]
    scores = additive_scores(*inputs)
    assert scores.equal(torch.zeros(batch, queries, keys))
    for one, grad in zip(inputs, torch.autograd.grad(scores.sum(), inputs), strict=True):
        assert grad.equal(torch.zeros_like(one))


def test_additive_scores_by_differences(loops: str) -> None:
    inputs = [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((2, 5, 3), (2, 6, 3), (3,))]
    assert torch.autograd.gradcheck(lambda query, key, v: additive_scores(exp2x(query), exp2x(key), v), inputs)


@pytest.mark.parametrize("shift", [0.0, 20.0, 39.0, -39.0])
def test_additive_scores_of_large_numbers(loops: str, shift: float) -> None:
    """Queries and keys that are large with opposite signs cancel; large ones with one sign saturate."""
    query, key, v = torch.randn(2, 3, 5).double(), torch.randn(2, 4, 5).double(), torch.randn(5).double()
    for sign in (1, -1):
        q, k = (query + shift).float().clamp(-40, 40), (sign * key - shift * sign).float().clamp(-40, 40)
        found = additive_scores(exp2x(q), exp2x(k), v.float())
        wanted = plain_additive_scores(q.double(), k.double(), v)
        assert (found.double() - wanted).abs().max() <= 1e-5
    beyond = additive_scores(exp2x(torch.full((1, 1, 1), 1e4)), exp2x(torch.zeros(1, 1, 1)), torch.ones(1))
    assert float(beyond) == 1.0


def test_additive_scores_of_tiny_gradients_do_not_vanish(loops: str) -> None:
    """The gradient is handed back for x, not for e^2x, which would be 0 · inf at either end of the range."""
    query = torch.tensor([[[40.0]]], requires_grad=True)
    key = torch.tensor([[[-40.0]]], requires_grad=True)
    additive_scores(exp2x(query), exp2x(key), torch.ones(1)).sum().backward()
    assert query.grad is not None
    assert float(query.grad) == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize("tile", [1, 7, 24, 1000])
@pytest.mark.parametrize("score_name", STATELESS)
def test_tiled_is_plain(score_name: str, tile: int) -> None:
    """Any score, tiles of all sizes, with rows that see nothing in some of them or in all."""
    score = score_named(score_name, dtype=torch.float64)
    query, key, value = tensors(dtype=torch.float64, grad=True, queries=6, keys=11)
    mask = torch.rand(2, 6, 11) > 0.6
    mask[0, 2] = False
    inputs = (query, key, value, *score.parameters())
    comparison = _Comparison(score)
    names = [name for name, _ in comparison.named_parameters()]

    def compare(queries: Tensor, keys: Tensor, *parameters: Tensor) -> Tensor:
        return functional_call(comparison, dict(zip(names, parameters, strict=True)), (queries, keys))

    found = tiled_attention(
        score.queries(query),
        score.keys(key),
        value,
        mask=mask,
        compare=compare,
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
    for name in ("dot", "additive"):
        assert attention_path(score_named(name), Hard().eval(), shape=large) == "gathered"
        assert attention_path(score_named(name), Hard().eval(), shape=large, need_weights=True) == "plain"
        for weighting in (LocalMonotonic(2), LocalPredictive(DIM, 2)):
            # six keys of a window for each of two queries: there have to be sixteen times as many
            assert attention_path(score_named(name), weighting.eval(), shape=(8, 2, 192)) == "windowed"
            for few in ((8, 2, 191), large):
                assert attention_path(score_named(name), weighting.eval(), shape=few) != "windowed"
            assert attention_path(score_named(name), weighting.eval(), shape=(8, 2, 192), need_weights=True) == "plain"
            assert attention_path(score_named(name), weighting.train(), shape=(8, 2, 192)) != "windowed"


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


def test_vectors_without_a_direction_have_a_cosine_of_zero_and_no_gradient() -> None:
    zeros, key = torch.zeros(2, 1, 5, requires_grad=True), torch.randn(2, 3, 5)
    scores = Cosine()(zeros, key)
    assert not scores.any()
    scores.sum().backward()
    assert zeros.grad is not None
    assert (zeros.grad == 0).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_nor_have_those_of_a_precision_that_knows_no_length_so_short(dtype: torch.dtype) -> None:
    key = torch.randn(2, 3, 5, dtype=dtype)
    for short in (0.0, torch.finfo(dtype).smallest_normal / 8):
        query = torch.full((2, 1, 5), short, dtype=dtype, requires_grad=True)
        scores = Cosine().to(dtype)(query, key)
        assert not scores.any()
        scores.sum().backward()
        assert query.grad is not None
        assert (query.grad == 0).all()


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


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("weighting_name", WEIGHTINGS)
@pytest.mark.parametrize("score_name", SCORES)
def test_what_comes_out_has_the_precision_of_what_goes_in(
    score_name: str, weighting_name: str, dtype: torch.dtype
) -> None:
    """Even where scores are compared in float32."""
    score, weighting = score_named(score_name, dtype=dtype), weighting_named(weighting_name, dtype=dtype)
    query, key, value = tensors(dtype=dtype)
    for need_weights in (True, False):
        output = attend(query, key, value, score=score, weighting=weighting, need_weights=need_weights)
        assert output.context.dtype == dtype
        assert output.weights is None or output.weights.dtype == dtype


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("way", ["kernel", "torch", "compiled", "mapped", "tiled"])
def test_additive_attention_has_one_precision_in_every_path(
    way: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = MultiHead(12, 3, score=Additive(4, 4)).to(dtype)
    x = torch.randn(2, 5, 12, dtype=dtype)

    def look(x: Tensor) -> tuple[Tensor, Tensor]:
        output = layer(x, need_weights=way != "tiled")
        return output.context, output.context if output.weights is None else output.weights

    if way == "torch":
        with torch_only():
            found = look(x)
    elif way == "compiled":
        found = torch.compile(look, backend="eager", fullgraph=True)(x)
    elif way == "mapped":
        found = torch.vmap(lambda one: look(one[None]))(x)
    else:
        if way == "tiled":
            monkeypatch.setattr("saccade.attention.functional.TILE", 8)
        found = look(x)
    assert [one.dtype for one in found] == [dtype, dtype]


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
