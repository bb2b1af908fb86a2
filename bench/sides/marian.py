"""Hugging Face's Marian: a plain training loop over buckets, and `generate`."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import MarianConfig, MarianMTModel

from bench.sides.turns import (
    DROPOUT,
    END,
    PAD,
    SMOOTHING,
    START,
    TRANSFORMER,
    Job,
    Pair,
    Turn,
    bucketed_batches,
    decoding_turn,
    pad,
    plain_training,
    serve,
)


def make(job: Job, pairs: list[Pair]) -> Turn:
    sizes: dict[str, Any] = {
        f"{side}_{name}": TRANSFORMER[ours]
        for side in ("encoder", "decoder")
        for name, ours in (("layers", "layers"), ("attention_heads", "heads"), ("ffn_dim", "feed_forward"))
    }
    config = MarianConfig(
        vocab_size=job.vocabulary,
        d_model=TRANSFORMER["dim"],
        dropout=DROPOUT,
        activation_function="relu",
        pad_token_id=PAD,
        eos_token_id=END,
        decoder_start_token_id=START,
        forced_eos_token_id=None,
        max_position_embeddings=512,
        **sizes,
    )
    model: Any = MarianMTModel(config)
    if job.task == "decode":
        model.eval()

        def search(sources: list[list[int]]) -> Any:
            ids = pad(sources)
            with torch.inference_mode():
                return model.generate(
                    input_ids=ids,
                    attention_mask=(ids != PAD).long(),
                    num_beams=job.beam,
                    do_sample=False,
                    min_new_tokens=job.length,
                    max_new_tokens=job.length,
                )

        return decoding_turn(job, pairs, search)

    def loss(source: Tensor, previous: Tensor, target: Tensor) -> Tensor:
        found = model(input_ids=source, attention_mask=(source != PAD).long(), decoder_input_ids=previous)
        logits = found.logits.flatten(0, 1)
        return F.cross_entropy(logits, target.flatten(), ignore_index=PAD, label_smoothing=SMOOTHING)

    return plain_training(job, model, bucketed_batches(pairs, job.batch_tokens), loss)


if __name__ == "__main__":
    serve(make)
