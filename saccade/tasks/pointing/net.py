"""Inputs to their indices as one net."""

from collections.abc import Sequence

from torch import Tensor, nn

from saccade.attention import make_score
from saccade.nets import Encoded, LayerShape, PointerDecoder, SequenceEncoder, SetEncoder
from saccade.tasks.pointing.settings import PointerLstmSettings, PointerTransformerSettings
from saccade.text import END, START, pad


class PointerEncoderDecoder(nn.Module):
    """Inputs `[B, n, C]` and how many of them are real `[B]`, to indices."""

    def __init__(self, settings: PointerLstmSettings | PointerTransformerSettings) -> None:
        super().__init__()
        self.encoder = _make_encoder(settings)
        score = make_score(settings.score, settings.dim, settings.dim, activation=settings.score_activation)
        self.decoder = PointerDecoder(
            settings.dim, score=score, mask_visited=settings.mask_visited, dropout=settings.dropout
        )

    def encode(self, inputs: Tensor, lengths: Tensor) -> Encoded:
        return self.encoder(inputs, lengths)

    def loss(self, inputs: Tensor, lengths: Tensor, answers: Sequence[Sequence[int]]) -> Tensor:
        """The cross entropy of the indices of the answers, END after them, summed over the batch."""
        previous = pad([[START, *as_tokens(answer)[:-1]] for answer in answers])  # [B, T]
        targets = pad([as_tokens(answer) for answer in answers])
        log_probs = self.decoder(self.encode(inputs, lengths), previous).log_softmax(-1)  # [B, T, S]
        chosen = log_probs.gather(-1, (targets - END).clamp(min=0)[..., None])[..., 0]
        return -chosen[targets >= END].sum()


def _make_encoder(settings: PointerLstmSettings | PointerTransformerSettings) -> SequenceEncoder | SetEncoder:
    if isinstance(settings, PointerLstmSettings):
        return SequenceEncoder(settings.input_size, settings.dim, layers=settings.layers, dropout=settings.dropout)
    shape = LayerShape(
        dim=settings.dim,
        heads=settings.heads,
        feed_forward=settings.feed_forward,
        norm="pre",
        positions="sinusoidal" if settings.positions else "none",
        score="scaled-dot",
        activation="relu",
        dropout=settings.dropout,
        attention_dropout=0.0,
    )
    return SetEncoder(settings.input_size, shape, layers=settings.layers)


def as_tokens(answer: Sequence[int]) -> list[int]:
    """The tokens of an answer, END last: those of the inputs come after END's."""
    return [*(index + END + 1 for index in answer), END]
