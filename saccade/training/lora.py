"""Low-rank adaptation (Hu 2021): large matrices stay as they are, and small ones beside them learn."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from saccade.base.errors import InputError
from saccade.training.freezing import norms_of
from saccade.training.names import means, some_names
from saccade.training.settings import LoraSettings
from saccade.training.task import count_parameters


class LowRank(nn.Module):
    """W + (alpha / rank) B A, of W `[out, in]` with A `[rank, in]` and B `[out, rank]`.

    A is drawn, B begins with zeros: so it begins with W.
    """

    def __init__(self, weight: Tensor, *, rank: int, alpha: float, generator: torch.Generator) -> None:
        super().__init__()
        out, size = weight.shape
        self.A = nn.Parameter(torch.randn(rank, size, generator=generator) * size**-0.5)
        self.B = nn.Parameter(torch.zeros(out, rank))
        self.scale = alpha / rank

    def forward(self, weight: Tensor) -> Tensor:
        return torch.addmm(weight, self.B, self.A, alpha=self.scale)


class _Adapted(NamedTuple):
    layer: nn.Linear
    added: LowRank


class Lora:
    """A net whose linear maps of some names learn by low rank; of all else only `trained` learns.

    trained  names of parameters that learn in full, such as those that a start had not
    """

    def __init__(self, net: nn.Module, settings: LoraSettings, *, seed: int, trained: Collection[str] = ()) -> None:
        layers = _linear_maps(net, trained)
        meant = {
            name: layer
            for name, layer in layers.items()
            if any(means(one, f"{name}.weight") for one in settings.targets)
        }
        for pattern in settings.targets:
            if not any(means(pattern, f"{name}.weight") for name in meant):
                there = f"there is {some_names(layers)}" if layers else "this model has none"
                raise InputError(f"train.lora.targets: no linear map is called {pattern}; {there}")
        for name, parameter in net.named_parameters():
            parameter.requires_grad_(parameter.requires_grad and name in trained)
        self._norms = norms_of(net, (one for one in net.parameters() if not one.requires_grad))
        generator = torch.Generator().manual_seed(seed)
        self._adapted: list[_Adapted] = []
        for layer in meant.values():
            added = LowRank(layer.weight, rank=settings.rank, alpha=settings.alpha, generator=generator)
            parametrize.register_parametrization(layer, "weight", added)
            self._adapted.append(_Adapted(layer, added))

    def describe(self, net: nn.Module) -> str:
        """What a person wants to know of it."""
        learn = sum(parameter.numel() for parameter in net.parameters() if parameter.requires_grad)
        return f"low rank at {len(self._adapted)} matrices: {learn:,} of {count_parameters(net):,} parameters learn"

    def begin(self, step: int) -> None:
        """Keep the statistics of frozen batch norms in this step, of a net that was told that it is in training."""
        for norm in self._norms:
            norm.eval()

    @contextmanager
    def merged(self) -> Iterator[None]:
        """Within it, the net is an ordinary one, each matrix the sum, under its own name; after all is as it was."""
        before: list[Tensor] = []
        for layer, _ in self._adapted:
            total = layer.weight.detach().clone()
            parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
            before.append(layer.weight.data)
            layer.weight.data = total
        try:
            yield
        finally:
            for (layer, added), weight in zip(self._adapted, before, strict=True):
                layer.weight.data = weight
                parametrize.register_parametrization(layer, "weight", added)


def _linear_maps(net: nn.Module, without: Collection[str]) -> dict[str, nn.Linear]:
    """The linear maps of a net by name, but for those whose matrix another part has as well, as tied outputs do."""
    uses: dict[int, int] = {}
    for _, parameter in net.named_parameters(remove_duplicate=False):
        uses[id(parameter)] = uses.get(id(parameter), 0) + 1
    return {
        name: module
        for name, module in net.named_modules()
        if type(module) is nn.Linear and uses[id(module.weight)] == 1 and f"{name}.weight" not in without
    }
