"""What a decoder is trained by."""

from typing import TypeVar

import torch
from torch import Tensor

from saccade.attention import Choice
from saccade.data import PAD
from saccade.nets import Decoder, Forced, projected_cross_entropy

StateT = TypeVar("StateT")


def target_loss(decoder: Decoder[StateT], forced: Forced, target: Tensor, *, smoothing: float) -> Tensor:
    """The label-smoothed cross entropy (Szegedy 2016) of targets `[B, T]`, summed over their tokens.

    With hard attention that learns by REINFORCE, its extra loss is added.
    """
    output = decoder.output
    losses = projected_cross_entropy(
        forced.features.flatten(0, 1), output.weight, output.bias, target.flatten(), smoothing=smoothing, ignore=PAD
    )
    if forced.choice is not None:
        return losses.total + _reinforce(forced.choice, losses.each.view_as(target), target != PAD)
    return losses.total


def _reinforce(choice: Choice, losses: Tensor, real: Tensor) -> Tensor:
    """The extra loss of hard attention (Xu 2015), for rewards that are the log likelihood of the words.

    A draw is rewarded for the word that it is for. The baseline is the mean reward of the other words of the batch, so
    that nothing has to be kept from one batch to the next.
    """
    reward = -losses  # [B, T]
    count = real.sum()
    baseline = (reward.sum() - reward) / (count - 1).clamp(min=1)
    return torch.where(real, choice.loss(reward, baseline=baseline, entropy_weight=0.01), 0.0).sum()
