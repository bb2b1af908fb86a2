"""Parameters that stay as they are, for good or up to a step."""

from collections.abc import Iterable

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm  # what all of them are

from saccade.base.errors import InputError
from saccade.training.names import matching
from saccade.training.settings import TrainSettings
from saccade.training.task import count_parameters


class Freezing:
    """What `train.freeze` says of a net, at each step.

    A frozen parameter gets no gradient, and the optimizer passes over it: neither momentum nor weight decay touch it.
    After `train.unfreeze_at` steps it learns as the others do, with an optimizer's state that begins there. What is
    frozen is a function of the step alone. Dropout works in frozen parts as in all others; the statistics of a batch
    norm whose parameters are frozen stay as they are, and are what it normalises by.
    """

    def __init__(self, net: nn.Module, settings: TrainSettings) -> None:
        self._until = settings.unfreeze_at
        found = matching(settings.freeze, net, setting="train.freeze")
        self.parameters = [parameter for parameter in found if parameter.requires_grad]
        frozen = set(map(id, self.parameters))
        if all(id(one) in frozen for one in net.parameters() if one.requires_grad):
            raise InputError("train.freeze: nothing would be left to learn; wanted patterns of fewer parameters")
        self._norms = norms_of(net, self.parameters)

    def describe(self, net: nn.Module) -> str:
        """What a person wants to know of it."""
        count = sum(parameter.numel() for parameter in self.parameters)
        until = "" if self._until is None else f" for {self._until:,} steps"
        return f"{count:,} of {count_parameters(net):,} parameters are frozen{until}"

    def begin(self, step: int) -> None:
        """Freeze what is frozen in this step, of a net that has been told that it is in training."""
        frozen = self._until is None or step <= self._until
        for parameter in self.parameters:
            parameter.requires_grad_(not frozen)
        for norm in self._norms:
            norm.train(not frozen)


def norms_of(net: nn.Module, parameters: Iterable[nn.Parameter]) -> list[nn.Module]:
    """The batch norms of a net that have any of the parameters."""
    among = set(map(id, parameters))
    norms = (module for module in net.modules() if isinstance(module, _BatchNorm))
    return [norm for norm in norms if any(id(one) in among for one in norm.parameters())]
