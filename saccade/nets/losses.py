"""What a decoder is trained by."""

from typing import TypeVar

import torch
from torch import Tensor

from saccade.nets.decoder import Decoder, DecoderOutput
from saccade.text import PAD

StateT = TypeVar("StateT")

_REINFORCE_WEIGHT = 0.1  # what the extra loss of hard attention counts beside the words' own (λ of Xu 2015)


def target_loss(decoder: Decoder[StateT], decoder_output: DecoderOutput, target: Tensor, *, smoothing: float) -> Tensor:
    """The label-smoothed cross entropy (Szegedy 2016) of targets `[B, T]`, summed over their tokens.

    With hard attention that learns by REINFORCE, its extra loss is added.
    """
    losses = decoder.losses(decoder_output, target, smoothing=smoothing)
    if decoder_output.choice is not None:
        reward = -losses.each.view_as(target)  # the log likelihood of each word; 0 for padding
        extra = decoder_output.choice.loss(reward, baseline=_per_word_baseline(reward, target), entropy_weight=0.01)
        return losses.total + _REINFORCE_WEIGHT * torch.where(target != PAD, extra, 0.0).sum()
    return losses.total


def _per_word_baseline(reward: Tensor, target: Tensor) -> Tensor:
    """The baseline of hard attention: for each word `[B, T]`, the mean reward of the batch's other uses of that word.

    Xu 2015 has one number for all words. Then a draw for an easy word is always praised, wherever it looked, and one
    for a hard word always blamed, until all draws fall on one region. A word that is alone gets its own reward as the
    baseline: nothing is learnt from its draw.
    """
    words, inverse = target.unique(return_inverse=True)  # [W], [B, T]
    uses = reward.new_zeros(len(words)).index_add_(0, inverse.flatten(), torch.ones_like(reward).flatten())
    sums = reward.new_zeros(len(words)).index_add_(0, inverse.flatten(), reward.flatten())
    others = uses[inverse] - 1
    return torch.where(others > 0, (sums[inverse] - reward) / others.clamp(min=1), reward)
