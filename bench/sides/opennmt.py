"""OpenNMT-py's recurrent modules, with input feeding and without, in a plain training loop over buckets."""

import torch
import torch.nn.functional as F
from onmt.decoders.decoder import InputFeedRNNDecoder, StdRNNDecoder  # pyright: ignore[reportMissingImports]
from onmt.encoders.rnn_encoder import RNNEncoder  # pyright: ignore[reportMissingImports]
from onmt.modules.embeddings import Embeddings  # pyright: ignore[reportMissingImports]
from torch import Tensor, nn

from bench.sides.turns import (
    DROPOUT,
    PAD,
    RNN,
    SMOOTHING,
    Job,
    Pair,
    Turn,
    bucketed_batches,
    plain_training,
    serve,
)


def make(job: Job, pairs: list[Pair]) -> Turn:
    def embeddings() -> Embeddings:
        return Embeddings(RNN["embedding"], job.vocabulary, PAD, dropout=DROPOUT)

    encoder = RNNEncoder("GRU", bidirectional=True, num_layers=1, hidden_size=RNN["dim"], embeddings=embeddings())
    kind = InputFeedRNNDecoder if job.model == "rnn-fed" else StdRNNDecoder
    decoder = kind("GRU", True, 1, RNN["dim"], attn_type="mlp", dropout=DROPOUT, embeddings=embeddings())  # noqa: FBT003
    generator = nn.Linear(RNN["dim"], job.vocabulary)
    net = nn.ModuleList([encoder, decoder, generator])

    def loss(source: Tensor, previous: Tensor, target: Tensor) -> Tensor:
        lengths = (source != PAD).sum(1)
        states, last, lengths = encoder(source[..., None], lengths)
        decoder.init_state(source, states, last)
        features, _ = decoder(previous[..., None], states, src_len=lengths)
        if isinstance(features, list):
            features = torch.stack(features)
        logits = generator(features).flatten(0, 1)
        return F.cross_entropy(logits, target.flatten(), ignore_index=PAD, label_smoothing=SMOOTHING)

    return plain_training(job, net, bucketed_batches(pairs, job.batch_tokens), loss)


if __name__ == "__main__":
    serve(make)
