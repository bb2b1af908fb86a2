"""JoeyNMT 2.3: its model, loss and search, with batches as its `TokenBatchSampler` makes them."""

from types import SimpleNamespace
from typing import Any

import torch
from joeynmt.batch import Batch  # pyright: ignore[reportMissingImports]
from joeynmt.model import build_model  # pyright: ignore[reportMissingImports]
from joeynmt.search import search as joey_search  # pyright: ignore[reportMissingImports]
from joeynmt.vocabulary import Vocabulary  # pyright: ignore[reportMissingImports]
from torch import nn

from bench.sides.joeynmt_config import rnn, transformer
from bench.sides.turns import (
    END,
    PAD,
    SMOOTHING,
    START,
    Job,
    Pair,
    Turn,
    decoding_turn,
    pad,
    random_batches,
    serve,
    training_turn,
)


def _vocabulary(size: int) -> Vocabulary:
    specials = {"pad_token": "<pad>", "unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "sep_token": None}
    ids = {"unk_id": 0, "pad_id": 1, "bos_id": 2, "eos_id": 3, "sep_id": None, "lang_tags": []}
    return Vocabulary([f"token{number}" for number in range(4, size)], SimpleNamespace(**specials, **ids))


def _batch(sources: list[list[int]], targets: list[list[int]] | None) -> Batch:
    """Their numbers: padding is 1, unknown 0."""
    theirs = {PAD: 1, 1: 0}
    source = [[theirs.get(token, token) for token in row] for row in sources]
    target = None if targets is None else [[START, *row] for row in targets]
    return Batch(
        src=pad(source).masked_fill_(pad(sources) == PAD, 1),
        src_length=torch.tensor([len(row) for row in sources]),
        src_prompt_mask=None,
        trg=None if target is None else pad(target).masked_fill_(pad(target) == PAD, 1),
        trg_prompt_mask=None,
        indices=torch.arange(len(sources)),
        device=torch.device("cpu"),
        pad_index=1,
        eos_index=END,
        is_train=targets is not None,
    )


def make(job: Job, pairs: list[Pair]) -> Turn:
    vocabulary = _vocabulary(job.vocabulary)
    model = build_model(transformer() if job.model == "transformer" else rnn(), vocabulary, vocabulary)
    if job.task == "decode":
        model.eval()
        beam = job.beam if job.beam > 1 else 0

        def search(sources: list[list[int]]) -> Any:
            batch = _batch(sources, None)
            batch.sort_by_src_length()
            return joey_search(model, batch, max_output_length=job.length, beam_size=beam, beam_alpha=1.0)

        return decoding_turn(job, pairs, search)
    model.loss_function = ("crossentropy", SMOOTHING)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98))
    model.train()

    def step(chosen: list[Pair]) -> None:
        batch = _batch([source for source, _ in chosen], [target for _, target in chosen])
        batch.sort_by_src_length()
        loss, _, _, _ = model(return_type="loss", **vars(batch))
        batch.normalize(loss, normalization="tokens").backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return training_turn(job, random_batches(pairs, job.batch_tokens), step)


if __name__ == "__main__":
    serve(make)
