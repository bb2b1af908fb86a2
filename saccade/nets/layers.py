"""The layers of a net as a table: what each gives, how large, by which formula, and how many numbers it learns."""

from typing import Any, NamedTuple

from torch import Tensor, nn

from saccade.attention import SelfAttention2d
from saccade.nets.convolution import output_size
from saccade.nets.dropout import Dropout
from saccade.nets.eval_mode import evaluating

_WHOLE = (SelfAttention2d,)  # told of as one, though they are made of others
_UNTOLD = (nn.Identity, nn.Dropout, Dropout)  # they change no size and learn nothing


class Layer(NamedTuple):
    """One of them."""

    name: str  # within the net
    kind: str  # as torch calls it
    shape: tuple[int, ...]  # of what it gives for one input
    formula: str  # of a convolution or a pooling: how the side comes about
    parameters: int


def layers_of(net: nn.Module, *inputs: Tensor) -> list[Layer]:
    """The layers that the inputs go through, in that order; the first dimension of each input is the batch."""
    found: list[Layer] = []

    def tell(name: str, module: nn.Module) -> Any:
        def hook(_: nn.Module, given: tuple[Tensor, ...], output: Any) -> None:
            tensor: Tensor = output if isinstance(output, Tensor) else output[0]
            parameters = sum(parameter.numel() for parameter in module.parameters())
            formula = _formula(module, given[0].shape[-1], tensor.shape[-1])
            found.append(Layer(name, type(module).__name__, tuple(tensor.shape[1:]), formula, parameters))

        return module.register_forward_hook(hook)

    inside = {part for module in net.modules() if isinstance(module, _WHOLE) for part in module.modules()}
    told = [
        (name, module)
        for name, module in net.named_modules()
        if isinstance(module, _WHOLE) or not (module in inside or isinstance(module, _UNTOLD) or any(module.children()))
    ]
    hooks = [tell(name, module) for name, module in told]
    try:
        with evaluating(net):
            net(*inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return found


def _formula(module: nn.Module, before: int, after: int) -> str:
    """⌊(n + 2p - k) / s⌋ + 1 with its numbers; nothing of what has no window."""
    if not isinstance(module, nn.Conv2d | nn.MaxPool2d | nn.AvgPool2d):
        return ""
    kernel, stride, padding = (_one(size) for size in (module.kernel_size, module.stride, module.padding))
    dilation = _one(getattr(module, "dilation", 1))
    if output_size(before, kernel=kernel, stride=stride, padding=padding, dilation=dilation) != after:
        return ""  # padding that follows from the size
    reach = f"{kernel}" if dilation == 1 else f"{dilation}·{kernel - 1} - 1"
    return f"⌊({before} + 2·{padding} - {reach}) / {stride}⌋ + 1 = {after}"


def _one(size: Any) -> int:
    return int(size[0] if isinstance(size, tuple) else size)
