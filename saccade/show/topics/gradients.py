"""how much of the last word's gradient reaches the first of 50 words, without and with attention"""

import torch
from torch import Tensor, nn

from saccade.nets import RnnDecoder, RnnEncoder, make_rnn_decoder
from saccade.nets.settings import RecurrentSettings
from saccade.show._numbers import number
from saccade.show.lesson import Curves, Lesson, Table, Text

WORDS = 50  # of the source, and of the target
DIM = 32
CELLS = ("elman", "gru", "lstm")
SCORES = {"without attention": "none", "with attention": "additive"}


def lesson(*, seed: int = 1) -> Lesson:
    reach = {
        cell: {name: reach_of(*make_nets(cell, score, seed=seed)) for name, score in SCORES.items()} for cell in CELLS
    }
    shown = {name: lengths.tolist() for name, lengths in reach["gru"].items()}
    without, with_ = (lengths[0] for lengths in shown.values())
    return Lesson(
        "The way back to the first word",
        (
            Text(
                f"A net has read {WORDS} words and written {WORDS} others. Training asks: had each word of the source"
                " been a little different, how much would that have changed the last word written? That is a gradient,"
                " and torch has just computed it, for new recurrent nets without and with attention. Where it is next"
                " to 0, nothing can be learned from that word."
            ),
            Curves(
                range(1, WORDS + 1),
                shown,
                "word of the source",
                "length of the gradient",
                log_y=True,
                caption="Gradient of the loss of the last word with respect to each word of the source (GRU)",
            ),
            Table(
                ("cell", "first, without", "first, with", "last, without", "last, with"),
                tuple(
                    (
                        cell,
                        *(number(float(lengths[0])) for lengths in reach[cell].values()),
                        *(number(float(lengths[-1])) for lengths in reach[cell].values()),
                    )
                    for cell in CELLS
                ),
                caption="The same at the first and at the last word of the source, without attention and with it",
            ),
            Text(
                f"Without attention, the way from the last word written to the first word read goes through"
                f" {2 * WORDS - 1} steps of the cell, each of which multiplies the gradient by something below 1:"
                f" {number(without)} is left. With attention, the last step looks at the state of every word read, the"
                f" first as well, so that there is a way of one step to each of them: {number(with_)}. That is how"
                " translation with attention got long sentences right, too (Bahdanau 2015, figure 2). Training can"
                " open the gates of a GRU and an LSTM further than they are in these new nets, but it has to find that"
                " out through the same narrow way."
            ),
        ),
        paper="Bengio 1994, Learning Long-Term Dependencies with Gradient Descent is Difficult; Bahdanau 2015",
    )


def make_nets(cell: str, score: str, *, seed: int) -> tuple[RnnEncoder, RnnDecoder]:
    """An encoder and a decoder as they start, in float64: float32 ends at 1e-45."""
    torch.manual_seed(seed)
    settings = RecurrentSettings.model_validate(
        {"kind": "rnn", "cell": cell, "embedding": DIM, "dim": DIM, "score": score, "dropout": 0.0}
    )
    embedding = nn.Embedding(WORDS, DIM)
    encoder = RnnEncoder(embedding, DIM, cell=settings.cell, layers=1, bidirectional=False, dropout=0.0)
    return encoder.double(), make_rnn_decoder(settings, WORDS).double()


def reach_of(encoder: RnnEncoder, decoder: RnnDecoder) -> Tensor:
    """The length of the gradient with respect to the vector of each source word, `[S]`."""
    words = torch.arange(WORDS)[None]  # [B, S], each another, so that each row of the embedding is one word
    (gradient,) = torch.autograd.grad(last_loss(encoder, decoder, words), encoder.embedding.weight)
    return gradient.norm(dim=-1)


def last_loss(encoder: RnnEncoder, decoder: RnnDecoder, words: Tensor) -> Tensor:
    """-log P of the last target word; the target is the source here, as a net knows neither yet."""
    encoded = encoder(words, torch.tensor([words.shape[1]]))
    last = decoder(encoded, words).features[:, -1]  # [B, D]
    return nn.functional.cross_entropy(decoder.output(last), words[:, -1])
