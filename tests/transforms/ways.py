"""What torch's users do with modules. Each way raises where a module does not stand it."""

import copy
import io
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, jvp, vmap
from torch.nn.utils import parametrizations, parametrize, prune

from tests.transforms.cases import BATCH, OTHER_BATCH, Case, Wrapped

Inputs = tuple[Tensor, ...]
Way = Callable[[Wrapped, Inputs, Case], None]


def close(found: Tensor, wanted: Tensor, *, tolerance: float = 1e-4) -> None:
    """Raise unless the two are the same to rounding."""
    torch.testing.assert_close(found, wanted, rtol=tolerance, atol=tolerance, check_dtype=False, check_stride=False)


def _loss(output: Tensor) -> Tensor:
    return (output * torch.linspace(-1, 1, output.numel(), dtype=output.dtype).view(output.shape)).sum()


def _gradients(net: Any, inputs: Inputs) -> dict[str, Tensor]:
    named = [(name, parameter) for name, parameter in net.named_parameters() if parameter.requires_grad]
    if not named:
        return {}
    found = torch.autograd.grad(_loss(net(*inputs)), [parameter for _, parameter in named], allow_unused=True)
    return {name: one for (name, _), one in zip(named, found, strict=True) if one is not None}


def _same_gradients(found: dict[str, Tensor], wanted: dict[str, Tensor], *, tolerance: float = 1e-4) -> None:
    assert found.keys() == wanted.keys()
    for name, one in wanted.items():
        close(found[name], one, tolerance=tolerance)


def _compile(net: Wrapped, inputs: Inputs, *, fullgraph: bool) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(net, backend="aot_eager", fullgraph=fullgraph)
    with torch.no_grad():
        close(compiled(*inputs), net(*inputs))
    _same_gradients(_gradients(compiled, inputs), {f"_orig_mod.{k}": v for k, v in _gradients(net, inputs).items()})


def compiled(net: Wrapped, inputs: Inputs, case: Case) -> None:
    _compile(net, inputs, fullgraph=False)


def compiled_whole(net: Wrapped, inputs: Inputs, case: Case) -> None:
    _compile(net, inputs, fullgraph=True)


def exported(net: Wrapped, inputs: Inputs, case: Case) -> None:
    """With an open batch, and an open length where the module has one."""
    batch = torch.export.Dim("batch", min=2, max=64)
    lengths = case.lengths or (None,) * len(inputs)
    shapes: list[dict[int, Any]] = []
    for number, (one, length) in enumerate(zip(inputs, lengths, strict=True)):
        open_dims: dict[int, Any] = {0: batch} if one.shape[0] == BATCH else {}
        if length is not None:
            open_dims[length] = torch.export.Dim(f"length{number}", min=2, max=64)
        shapes.append(open_dims)
    with torch.no_grad():
        program = torch.export.export(net, inputs, dynamic_shapes=(tuple(shapes),)).module()
        others = tuple(
            one if length is None else torch.cat([one, one.narrow(length, 0, 2)], dim=length)
            for one, length in zip(case.inputs(OTHER_BATCH), lengths, strict=True)
        )
        close(program(*others), net(*others))


def mapped(net: Wrapped, inputs: Inputs, case: Case) -> None:
    """`vmap` over a dimension before the batch."""
    others = case.inputs(BATCH)
    floats = [one.is_floating_point() for one in inputs]
    dims = tuple(0 if real or not any(floats) else None for real in floats)
    stacked = tuple(
        one if dim is None else torch.stack([one, one.flip(0) if one.dim() > 1 else one])
        for one, dim in zip(others, dims, strict=True)
    )
    if not any(floats):
        dims = tuple(0 if one.dim() > 1 else None for one in inputs)
        stacked = tuple(
            torch.stack([one, one.roll(1, 0)]) if dim == 0 else one for one, dim in zip(others, dims, strict=True)
        )
    with torch.no_grad():
        found = vmap(net, in_dims=dims)(*stacked)
        for row in range(2):
            close(found[row], net(*(one if dim is None else one[row] for one, dim in zip(stacked, dims, strict=True))))


def func_grad(net: Wrapped, inputs: Inputs, case: Case) -> None:
    parameters = {name: one.detach() for name, one in net.named_parameters()}
    wanted = _gradients(net, inputs)

    def loss(parameters: dict[str, Tensor]) -> Tensor:
        return _loss(functional_call(net, parameters, inputs))

    found = grad(loss)(parameters) if parameters else {}
    _same_gradients({name: found[name] for name in wanted}, wanted)


def per_sample_grad(net: Wrapped, inputs: Inputs, case: Case) -> None:
    """`vmap` of `grad`: the gradients of each of a batch, beside one backward pass for each."""
    parameters = {name: one.detach() for name, one in net.named_parameters()}
    if not parameters:
        return
    dims = tuple(0 if one.shape[0] == BATCH else None for one in inputs)

    def loss(parameters: dict[str, Tensor], *row: Tensor) -> Tensor:
        alone = tuple(one if dim is None else one[None] for one, dim in zip(row, dims, strict=True))
        return _loss(functional_call(net, parameters, alone))

    found = vmap(grad(loss), in_dims=(None, *dims))(parameters, *inputs)
    for row in range(BATCH):
        alone = tuple(one if dim is None else one[row : row + 1] for one, dim in zip(inputs, dims, strict=True))
        wanted = _gradients(net, alone)
        _same_gradients({name: found[name][row] for name in wanted}, wanted)


def forward_mode(net: Wrapped, inputs: Inputs, case: Case) -> None:
    """`jvp`: ⟨J t, g⟩ has to be ⟨t, Jᵀ g⟩."""
    parameters = {name: one.detach() for name, one in net.named_parameters()}
    floats = {str(number): one for number, one in enumerate(inputs) if one.is_floating_point()}
    torch.manual_seed(3)
    tangents = {name: torch.randn_like(one) for name, one in parameters.items()}
    float_tangents = {name: torch.randn_like(one) for name, one in floats.items()}

    def run(parameters: dict[str, Tensor], floats: dict[str, Tensor]) -> Tensor:
        given = tuple(floats.get(str(number), one) for number, one in enumerate(inputs))
        return _loss(functional_call(net, parameters, given))

    found = jvp(run, (parameters, floats), (tangents, float_tangents))[1]
    leaves = {name: one.clone().requires_grad_() for name, one in parameters.items()}
    float_leaves = {name: one.clone().requires_grad_() for name, one in floats.items()}
    every = [*leaves.values(), *float_leaves.values()]
    slopes = torch.autograd.grad(run(leaves, float_leaves), every, allow_unused=True)
    pairs = zip(slopes, [*tangents.values(), *float_tangents.values()], strict=True)
    wanted = torch.stack([(slope * tangent).sum() for slope, tangent in pairs if slope is not None]).sum()
    close(found, wanted, tolerance=1e-3)


def traced(net: Wrapped, inputs: Inputs, case: Case) -> None:
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # that shapes become constants is what tracing is
        program = torch.jit.trace(net, inputs, check_trace=False)
        stored = io.BytesIO()
        torch.jit.save(program, stored)  # what depends on Python could not be stored
        stored.seek(0)
        close(torch.jit.load(stored)(*inputs), net(*inputs))


def autocast(net: Wrapped, inputs: Inputs, case: Case) -> None:
    with torch.no_grad():
        wanted = net(*inputs)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = net(*inputs)
        slopes = _gradients(net, inputs)
    close(found.float(), wanted, tolerance=0.1)
    assert all(bool(slope.isfinite().all()) for slope in slopes.values())


def _as(net: Wrapped, inputs: Inputs, dtype: torch.dtype, tolerance: float) -> None:
    with torch.no_grad():
        wanted = net(*inputs)
    net = copy.deepcopy(net).to(dtype)
    given = tuple(one.to(dtype) if one.is_floating_point() else one for one in inputs)
    found = net(*given)
    assert found.dtype == dtype
    close(found.float(), wanted, tolerance=tolerance)
    assert all(slope.dtype == dtype and bool(slope.isfinite().all()) for slope in _gradients(net, given).values())


def float64(net: Wrapped, inputs: Inputs, case: Case) -> None:
    _as(net, inputs, torch.float64, 1e-4)


def bfloat16(net: Wrapped, inputs: Inputs, case: Case) -> None:
    _as(net, inputs, torch.bfloat16, 0.15)


def deepcopied(net: Wrapped, inputs: Inputs, case: Case) -> None:
    with torch.no_grad():
        close(copy.deepcopy(net)(*inputs), net(*inputs), tolerance=0)


def pickled(net: Wrapped, inputs: Inputs, case: Case) -> None:
    again = pickle.loads(pickle.dumps(case.module))  # noqa: S301 - our own
    with torch.no_grad():
        close(case.call(again, *inputs), net(*inputs), tolerance=0)


def meta(net: Wrapped, inputs: Inputs, case: Case) -> None:
    with torch.no_grad():
        wanted = net(*inputs).shape
        found = copy.deepcopy(net).to("meta")(*(one.to("meta") for one in inputs))
    assert found.shape == wanted
    assert found.is_meta


def non_contiguous(net: Wrapped, inputs: Inputs, case: Case) -> None:
    """Weights that lie in memory the other way round."""
    twisted = copy.deepcopy(net)
    for parameter in twisted.parameters():
        if parameter.dim() > 1:
            parameter.data = parameter.data.transpose(0, -1).contiguous().transpose(0, -1)
    for recorded in (False, True):
        with torch.set_grad_enabled(recorded):
            close(twisted(*inputs), net(*inputs))
    _same_gradients(_gradients(twisted, inputs), _gradients(net, inputs))


def _linears(net: nn.Module) -> list[nn.Module]:
    """The linear maps, but for those that share their weight with an embedding."""
    tied = {id(part.weight) for part in net.modules() if isinstance(part, nn.Embedding)}
    return [part for part in net.modules() if isinstance(part, nn.Linear) and id(part.weight) not in tied]


def parametrized(net: Wrapped, inputs: Inputs, case: Case) -> None:
    """Orthogonal weights, whose values come out of another net: the same once they are put in for good."""
    turned = copy.deepcopy(net)
    for part in _linears(turned):
        parametrizations.orthogonal(part)
    with torch.no_grad():
        found = turned(*inputs)
        for part in list(turned.modules()):
            if parametrize.is_parametrized(part):
                parametrize.remove_parametrizations(part, "weight")
        close(found, turned(*inputs))


def _double(module: nn.Module, given: Any, output: Tensor) -> Tensor:
    return 2 * output


def hooked(net: Wrapped, inputs: Inputs, case: Case) -> None:
    """A hook that doubles what linear layers give, beside doubled layers."""
    doubled, hooks = copy.deepcopy(net), copy.deepcopy(net)
    with torch.no_grad():
        for part in _linears(doubled):
            for parameter in part.parameters():
                parameter.mul_(2)
    for part in _linears(hooks):
        part.register_forward_hook(_double)
    for recorded in (False, True):
        with torch.set_grad_enabled(recorded):
            close(hooks(*inputs), doubled(*inputs))


def pruned(net: Wrapped, inputs: Inputs, case: Case) -> None:
    """Weights of which half are masked: the same once the masks are put in for good."""
    less = copy.deepcopy(net)
    parts = _linears(less)
    for part in parts:
        prune.l1_unstructured(part, "weight", amount=0.5)
    with torch.no_grad():
        found = less(*inputs)
        for part in parts:
            prune.remove(part, "weight")
        close(found, less(*inputs))


def flattened(net: Wrapped, inputs: Inputs, case: Case) -> None:
    """All weights as views of one vector, as FSDP keeps them."""
    flat = copy.deepcopy(net)
    parameters = list(flat.parameters())
    if parameters:
        sizes = [parameter.numel() for parameter in parameters]
        vector = torch.cat([parameter.detach().flatten() for parameter in parameters])
        for parameter, piece in zip(parameters, vector.split(sizes), strict=True):
            parameter.data = piece.view_as(parameter)
    with torch.no_grad():
        close(flat(*inputs), net(*inputs))
    _same_gradients(_gradients(flat, inputs), _gradients(net, inputs))


def partial_gradients(net: Wrapped, inputs: Inputs, case: Case) -> None:
    """A gradient of some of the tensors, with the graph kept, then of all: as if the first had not been."""
    given = tuple(one.clone().requires_grad_() if one.is_floating_point() else one for one in inputs)
    wanted = _gradients(net, given)
    loss = _loss(net(*given))
    named = dict(net.named_parameters())
    some = [one for one in given if one.requires_grad] or [next(iter(named.values()))]
    for _ in range(2):
        torch.autograd.grad(loss, some, retain_graph=True, allow_unused=True)
    loss.backward()
    found = {name: one.grad for name, one in named.items() if one.grad is not None}
    _same_gradients(found, wanted)


def second_derivative(net: Wrapped, inputs: Inputs, case: Case) -> None:
    """Of the loss along a direction; refused by name, or right; and right within `torch_only`."""
    from saccade.runtime import torch_only  # noqa: PLC0415

    def curvature(net: nn.Module, inputs: Inputs) -> Tensor | None:
        named = [one for one in net.parameters() if one.requires_grad]
        if not named:
            return None
        first = torch.autograd.grad(_loss(net(*inputs).square()), named, create_graph=True, allow_unused=True)
        length = torch.stack([one.square().sum() for one in first if one is not None]).sum()
        second = torch.autograd.grad(length, named, allow_unused=True)
        return torch.cat([one.flatten() for one in second if one is not None])

    exact = copy.deepcopy(net).double()
    with torch_only():
        wanted = curvature(exact, tuple(one.double() if one.is_floating_point() else one for one in inputs))
        found = curvature(net, inputs)
        if wanted is not None and found is not None:
            close(found / wanted.norm(), wanted / wanted.norm(), tolerance=1e-3)
    found = curvature(net, inputs)
    if wanted is not None and found is not None:
        close(found / wanted.norm(), wanted / wanted.norm(), tolerance=1e-3)


WAYS: dict[str, Way] = {
    "compile": compiled,
    "compile, whole graph": compiled_whole,
    "export, open shapes": exported,
    "vmap": mapped,
    "func.grad": func_grad,
    "per-sample gradients": per_sample_grad,
    "jvp": forward_mode,
    "jit.trace": traced,
    "autocast": autocast,
    "float64": float64,
    "bfloat16": bfloat16,
    "deepcopy": deepcopied,
    "pickle": pickled,
    "meta": meta,
    "non-contiguous weights": non_contiguous,
    "parametrizations": parametrized,
    "pruning": pruned,
    "flat weights": flattened,
    "hooks": hooked,
    "partial gradients": partial_gradients,
    "second derivatives": second_derivative,
}
