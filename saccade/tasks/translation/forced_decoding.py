"""Forced decoding: a target that is given, scored word by word, with all that was looked at."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from saccade.nets import Copying
from saccade.tasks.output import Output, mean_weights
from saccade.tasks.translation.net import TranslationNet
from saccade.text import SPECIAL, START, Example, Tokens, make_batch, merge_to_words

Weights = NDArray[np.float32]


@dataclass(frozen=True, eq=False, repr=False)
class ForcedDecoding(Output):
    """How likely a target is, and what the model looked at for it; for words, by every layer and head.

    A model without such an attention has None there: an RNN looks at its source alone.
    """

    log_prob: float
    source_words: list[str]  # `</s>` last
    target_words: list[str]  # `</s>` last
    decoder_words: list[str]  # what the decoder could look back at: `<s>`, then the target without its end
    encoder_attention: Weights | None  # [layers, heads, source words, source words]
    decoder_attention: Weights | None  # [layers, heads, target words, decoder words]
    # as attention, but a step later, when each word has been read (Chen 2020); without a row for `</s>`
    shifted_attention: Weights | None
    attention: Weights | None = None  # [layers, heads, target words, source words]
    # of a model that copies: which share of each word was copied from where, [1, 1, target words, source words]
    copied: Weights | None = None
    p_gen: list[float] = field(default_factory=list)  # and how likely it was to write each word, not to copy it

    def as_json(self) -> dict[str, Any]:
        """Plain lists and numbers; the attention is the mean over layers and heads."""
        record = {"score": round(self.log_prob, 4), "source_words": self.source_words}
        return record | {"target_words": self.target_words, "attention": mean_weights(self.attention)}


def force_decode(net: TranslationNet, sources: Sequence[Tokens], targets: Sequence[Tokens]) -> list[ForcedDecoding]:
    """Score each target, all positions at once. A row is the word that is being written."""
    batch = make_batch([Example(source.ids, target.ids) for source, target in zip(sources, targets, strict=True)])
    encoded = net.encode(batch.source, batch.source_lengths, need_weights=True)
    decoder_output = net.decoder(encoded, batch.previous, need_weights=True)
    losses = net.decoder.losses(decoder_output, batch.target)
    each = -losses.each.view_as(batch.target)
    log_probs = each.sum(1)
    copied = None if decoder_output.copying is None else _copied(decoder_output.copying, batch.target, each)
    decodings: list[ForcedDecoding] = []
    for row, (source, target) in enumerate(zip(sources, targets, strict=True)):
        # what the decoder has written comes in one position later, after the start
        shifted = Tokens(
            [START, *target.ids[:-1]],
            [SPECIAL[START], *target.words[:-1]],
            [0, *(word + 1 for word in target.word_of[:-1])],
        )
        decodings.append(
            ForcedDecoding(
                float(log_probs[row]),
                source.words,
                target.words,
                shifted.words,
                encoder_attention=_of_words(encoded.weights, row, source, source),
                decoder_attention=_of_words(decoder_output.self_weights, row, target, shifted),
                shifted_attention=_a_step_later(decoder_output.weights, row, target, source),
                attention=_of_words(decoder_output.weights, row, target, source),
                copied=_of_words(copied, row, target, source),
                p_gen=[] if decoder_output.copying is None else _p_gen(decoder_output.copying.gate[row], target),
            )
        )
    return decodings


def _copied(copying: Copying, target: Tensor, log_probs: Tensor) -> Tensor:
    """(1 - p_gen) a_ti [x_i = y_t] / P(y_t): which share of each token was copied from where, `[B, 1, 1, T, S]`."""
    is_there = copying.copy_ids[:, None] == target[..., None]  # [B, T, S]
    from_there = F.logsigmoid(-copying.gate) - log_probs
    return (from_there.exp()[..., None] * copying.attention * is_there)[:, None, None]


def _p_gen(gate: Tensor, target: Tokens) -> list[float]:
    """Of each word, the mean over its tokens."""
    each = gate[: len(target.ids)].sigmoid()[:, None].numpy()  # [T, 1]
    return merge_to_words(each, target.word_of, [0], words=1)[:, 0].tolist()


def _of_words(weights: Tensor | None, row: int, lookers: Tokens, seen: Tokens) -> Weights | None:
    """`[B, L, H, T, S]` -> `[L, H, words, words]` of one sentence, without padding."""
    if weights is None:
        return None
    real = weights[row, :, :, : len(lookers.ids), : len(seen.ids)].to(torch.float32).numpy()
    return merge_to_words(real, lookers.word_of, seen.word_of, words=len(seen.words))


def _a_step_later(weights: Tensor | None, row: int, target: Tokens, source: Tokens) -> Weights | None:
    """What was looked at by the step that each token went into, in place of the one that it came out of."""
    if weights is None:
        return None
    without_end = Tokens(target.ids[:-1], target.words[:-1], target.word_of[:-1])
    if not without_end.ids:
        return np.zeros((*weights.shape[1:3], 0, len(source.words)), dtype=np.float32)
    return _of_words(weights[:, :, :, 1:], row, without_end, source)
