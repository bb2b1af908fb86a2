"""Seeing which of torch's operations run."""

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode


class Watch(TorchDispatchMode):
    """Notes which of torch's operations run, and how large their largest result is."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.largest = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # pyright: ignore[reportMissingParameterType]
        result = func(*args, **(kwargs or {}))
        self.names.add(str(func))
        for tensor in result if isinstance(result, tuple) else (result,):
            if isinstance(tensor, Tensor):
                self.largest = max(self.largest, tensor.numel())
        return result

    def saw(self, name: str) -> bool:
        return any(name in seen for seen in self.names)
