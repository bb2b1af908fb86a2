"""What a careful user writes by hand on torch alone: `nn.Transformer`, or a GRU with Bahdanau's attention."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.sides.turns import (
    DROPOUT,
    PAD,
    RNN,
    SMOOTHING,
    TRANSFORMER,
    Job,
    Pair,
    Turn,
    bucketed_batches,
    plain_training,
    serve,
)


class Transformer(nn.Module):
    """`nn.Transformer` between tied embeddings with learned positions."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        dim = TRANSFORMER["dim"]
        self.embedding = nn.Embedding(vocabulary, dim)
        self.positions = nn.Parameter(torch.zeros(512, dim))
        self.dropout = nn.Dropout(DROPOUT)
        layers = TRANSFORMER["layers"]
        self.body = nn.Transformer(
            dim,
            TRANSFORMER["heads"],
            layers,
            layers,
            TRANSFORMER["feed_forward"],
            DROPOUT,
            batch_first=True,
            norm_first=True,
        )

    def embed(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)
        return self.dropout(x + self.positions[: tokens.shape[1]])

    def forward(self, source: Tensor, previous: Tensor) -> Tensor:
        features = self.body(
            self.embed(source),
            self.embed(previous),
            tgt_mask=nn.Transformer.generate_square_subsequent_mask(previous.shape[1]),
            src_key_padding_mask=torch.zeros(source.shape).masked_fill_(source == PAD, -math.inf),
            memory_key_padding_mask=torch.zeros(source.shape).masked_fill_(source == PAD, -math.inf),
            tgt_is_causal=True,
        )
        return F.linear(features, self.embedding.weight)


class Rnn(nn.Module):
    """A tidy loop: keys are projected once, the logits of all steps are one product."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        size, dim = RNN["embedding"], RNN["dim"]
        self.read, self.write = nn.Embedding(vocabulary, size), nn.Embedding(vocabulary, size)
        self.dropout = nn.Dropout(DROPOUT)
        self.encoder = nn.GRU(size, dim // 2, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(dim, dim)
        self.query, self.key, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, 1, bias=False)
        self.cell = nn.GRUCell(size + dim, dim)
        self.readout = nn.Linear(2 * dim + size, dim)
        self.output = nn.Linear(dim, vocabulary)

    def forward(self, source: Tensor, previous: Tensor) -> Tensor:
        lengths = (source != PAD).sum(1)
        packed = nn.utils.rnn.pack_padded_sequence(
            self.dropout(self.read(source)), lengths, batch_first=True, enforce_sorted=False
        )
        packed, last = self.encoder(packed)
        states, _ = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)  # [B, S, D]
        state = torch.tanh(self.bridge(torch.cat((last[0], last[1]), dim=-1)))  # [B, D]
        keys, hidden = self.key(states), source == PAD
        embedded = self.dropout(self.write(previous))
        steps: list[Tensor] = []
        for t in range(previous.shape[1]):
            scores = self.v(torch.tanh(self.query(state)[:, None] + keys)).squeeze(-1)  # [B, S]
            weights = scores.masked_fill(hidden, -math.inf).softmax(-1)
            context = (weights[:, None] @ states).squeeze(1)
            state = self.cell(torch.cat((embedded[:, t], context), dim=-1), state)
            steps.append(torch.cat((state, context, embedded[:, t]), dim=-1))
        return self.output(self.dropout(torch.tanh(self.readout(torch.stack(steps, dim=1)))))


def make(job: Job, pairs: list[Pair]) -> Turn:
    net = Transformer(job.vocabulary) if job.model == "transformer" else Rnn(job.vocabulary)

    def loss(source: Tensor, previous: Tensor, target: Tensor) -> Tensor:
        logits = net(source, previous).flatten(0, 1)
        return F.cross_entropy(logits, target.flatten(), ignore_index=PAD, label_smoothing=SMOOTHING)

    return plain_training(job, net, bucketed_batches(pairs, job.batch_tokens), loss)


if __name__ == "__main__":
    serve(make)
