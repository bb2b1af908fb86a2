"""What stands beside a Neural Turing Machine: an LSTM."""

from torch import Tensor, nn


class LstmBaseline(nn.Module):
    """Inputs `[B, T, I]` to logits `[B, T, O]`."""

    def __init__(self, inputs: int, outputs: int, *, dim: int, layers: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(inputs, dim, layers, batch_first=True)
        self.answer = nn.Linear(dim, outputs)

    def forward(self, inputs: Tensor) -> tuple[Tensor, None]:
        return self.answer(self.lstm(inputs)[0]), None
