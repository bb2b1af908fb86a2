"""How the layers multiply by their weights."""

from torch import Tensor, nn

from saccade.runtime.bfloat16 import learns_in_bfloat16, linear
from saccade.runtime.eager import is_bare


def through(layer: nn.Module, x: Tensor) -> Tensor:
    """What calling a linear layer gives, in the precision that training asks for: `[..., in]` -> `[..., out]`.

    The layer stays a plain `nn.Linear`, for all that looks for those by their class and puts others in their place, as
    `torch.ao.quantization.quantize_dynamic` does. Whatever is there then is called as it is.
    """
    if learns_in_bfloat16() and is_bare(layer, nn.Linear):
        assert isinstance(layer, nn.Linear)
        return linear(x, layer.weight, layer.bias)
    return layer(x)
