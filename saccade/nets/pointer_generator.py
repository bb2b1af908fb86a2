"""The pointer-generator (See 2017): a decoder that can copy each token of its source, known to its vocabulary or not.

    P(w) = p_gen P_vocab(w) + (1 - p_gen) Σ_{i: x_i = w} a_i,    p_gen = σ(g · f + b)

P_vocab = softmax(O f) is what the decoder says by itself. Its features f are made of its state, the context that it
looked at, and the token that it read. Their attention a is the pointer; of a decoder with several layers and heads it
is the mean over the heads of the last layer.

Words of the source that the vocabulary does not know have numbers of their own, V and up, which mean something beside
that source alone. So P stands over the vocabulary and as many numbers more as a batch has. What reads such a number
reads UNKNOWN.

Letters: `B` batch, `S` source items, `T` target items, `D` dim, `L` layers, `H` heads, `V` vocabulary, `U` numbers of
unknown words, at most, of one of the sources.
"""

from typing import Any, Generic, NamedTuple, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from saccade.nets._kernels.cross_entropy import Losses
from saccade.nets.decoder import Copying, Decoder, DecoderOutput, Encoded, Step, repeat_rows
from saccade.runtime.linear import apply_linear
from saccade.text import PAD, UNKNOWN

StateT = TypeVar("StateT")


def known_ids(tokens: Tensor, size: int) -> Tensor:
    """The tokens as a net with a vocabulary of that size can read them."""
    return tokens.masked_fill(tokens >= size, UNKNOWN)


def copy_attention(weights: Tensor) -> Tensor:
    """`[B, L, H, ..., S]` -> `[B, ..., S]`: what is pointed at, the mean over the heads of the last layer."""
    return weights[:, -1].mean(1).float()


def log_mixture(logits: Tensor, gate: Tensor, attention: Tensor, copy_ids: Tensor, *, unknown: int) -> Tensor:
    """The log P of all tokens: of logits `[B, V]`, gate `[B]`, attention and copy ids `[B, S]`: `[B, V + U]`."""
    written = logits.float().log_softmax(-1) + F.logsigmoid(gate)[:, None]
    written = F.pad(written, (0, unknown), value=-torch.inf)
    copied = torch.zeros_like(written).scatter_add(1, copy_ids, attention)
    return torch.logaddexp(written, copied.log() + F.logsigmoid(-gate)[:, None])


def target_log_probs(logits: Tensor, copying: Copying, target: Tensor) -> Tensor:
    """The log P of the targets `[B, T]` alone, of logits `[B, T, V]`; finite, with finite gradients."""
    size = logits.shape[-1]
    is_known = target < size
    losses = F.cross_entropy(logits.float().flatten(0, 1), known_ids(target, size).flatten(), reduction="none")
    written = torch.where(is_known, F.logsigmoid(copying.gate) - losses.view_as(target), -torch.inf)
    is_there = copying.copy_ids[:, None] == target[..., None]  # [B, T, S]
    # an attention may be too small for a number, and its logarithm still has to be one
    share = (copying.attention * is_there).sum(-1).clamp_min(torch.finfo(torch.float32).tiny)
    copied = torch.where(is_there.any(-1), F.logsigmoid(-copying.gate) + share.log(), -torch.inf)
    return torch.logaddexp(written, copied)


def coverage_loss(attention: Tensor, target: Tensor) -> Tensor:
    """Σ_t Σ_i min(a_ti, c_ti) with c_t = a_1 + ... + a_t-1 (See 2017): to look at something again costs something.

    The attention is `[B, T, S]`; the sum is over the tokens of `target` `[B, T]`, without padding.
    """
    covered = attention.cumsum(1) - attention
    return torch.minimum(attention, covered).sum(-1).masked_fill(target == PAD, 0.0).sum()


class CopyState(NamedTuple, Generic[StateT]):
    """What a pointer-generator goes on with."""

    state: StateT  # of the decoder
    copy_ids: Tensor  # [B, S]
    unknown: int  # U


class PointerGenerator(Decoder[CopyState[Any]]):
    """Any decoder that looks at a source, made to copy from it. What it encodes has to have `copy_ids`.

    A step's logits are log P, `[B, V + U]`, so that each search copies as it writes.
    """

    def __init__(self, decoder: Decoder[Any]) -> None:
        super().__init__()
        self.decoder = decoder
        self.gate = nn.Linear(decoder.output.in_features, 1)

    @property
    def output(self) -> nn.Linear:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Of features, the logits of what is written, not copied."""
        return self.decoder.output

    def start(self, encoded: Encoded | None, *, prefix: Tensor | None = None, copies: int = 1) -> CopyState[Any]:
        read = None if prefix is None else known_ids(prefix, self.output.out_features)
        state, copy_ids = self.decoder.start(encoded, prefix=read, copies=copies), _copy_ids(encoded)
        unknown = max(0, int(copy_ids.max()) + 1 - self.output.out_features)
        return CopyState(state, copy_ids[repeat_rows(len(copy_ids), copies, copy_ids.device)], unknown)

    def step(
        self, tokens: Tensor, state: CopyState[Any], *, need_weights: bool = False, best: int | None = None
    ) -> Step[CopyState[Any]]:
        # any of the logits may be that of a token to copy, so `best` is of no use here
        step = self.decoder.step(known_ids(tokens, self.output.out_features), state.state, need_weights=True)
        assert step.features is not None
        assert step.weights is not None
        gate, attention = self._gate(step.features), copy_attention(step.weights)
        log_probs = log_mixture(step.logits, gate, attention, state.copy_ids, unknown=state.unknown)
        weights = step.weights if need_weights else None
        return Step(log_probs, state._replace(state=step.state), weights, step.features)

    def reorder(self, state: CopyState[Any], index: Tensor) -> CopyState[Any]:
        inner = self.decoder.reorder(state.state, index)
        return CopyState(inner, state.copy_ids.index_select(0, index), state.unknown)

    def forward(self, encoded: Encoded | None, previous: Tensor, *, need_weights: bool = False) -> DecoderOutput:
        output = self.decoder(encoded, known_ids(previous, self.output.out_features), need_weights=True)
        copying = Copying(self._gate(output.features), copy_attention(output.weights), _copy_ids(encoded))
        return output._replace(weights=output.weights if need_weights else None, copying=copying)

    def losses(self, decoder_output: DecoderOutput, target: Tensor, *, smoothing: float = 0.0) -> Losses:
        """-log P of each of the tokens `[B, T]`, of padding 0. Labels are not smoothed."""
        if smoothing:
            raise ValueError(f"smoothing: found {smoothing}, wanted 0: what is copied has one right answer")
        assert decoder_output.copying is not None
        logits = apply_linear(self.output, decoder_output.features)
        log_probs = target_log_probs(logits, decoder_output.copying, target)
        each = -log_probs.masked_fill(target == PAD, 0.0).flatten()
        return Losses(each.sum(), each.detach())

    def log_prob(self, encoded: Encoded | None, tokens: Tensor) -> Tensor:
        target = tokens[:, 1:]
        return -self.losses(self(encoded, tokens[:, :-1]), target).each.view_as(target).sum(1)

    def _gate(self, features: Tensor) -> Tensor:
        return apply_linear(self.gate, features).squeeze(-1).float()


def _copy_ids(encoded: Encoded | None) -> Tensor:
    if encoded is None or encoded.copy_ids is None:
        raise ValueError("encoded: wanted a source with copy_ids, the numbers of its tokens when they are copied")
    return encoded.copy_ids
