"""A net that sees an image through small glimpses, and chooses where the next one goes (RAM, Mnih 2014).

Letters: `B` batch, `H` height, `W` width, `N` glimpses, `D` dim, `K` classes.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class RecurrentAttentionOutput(NamedTuple):
    """What all glimpses give."""

    logits: Tensor  # [B, K], after the last
    locations: Tensor  # [B, N, 2], where each glimpse was: x and y from -1 to 1, (0, 0) is the middle
    log_probs: Tensor  # [B, N - 1], of the locations that were drawn, all but the first; zeros when they are not drawn
    baselines: Tensor  # [B, N - 1], the reward that was expected before each choice


class GlimpseSensor(nn.Module):
    """A retina: patches of `size` x `size` around a location, each `scales` further one twice as wide and half as
    sharp.

    `[B, 1, H, W]` and locations `[B, 2]` -> `[B, scales · size²]`. What lies outside the image is black.
    """

    def __init__(self, size: int, scales: int) -> None:
        super().__init__()
        self.size, self.scales = size, scales

    def forward(self, images: Tensor, locations: Tensor) -> Tensor:
        patches: list[Tensor] = []
        for scale in range(self.scales):
            wide = self.size * 2**scale
            # the locations of the patch's pixels around its middle, in shares of the image: one pixel is 2 / (W - 1)
            steps = torch.arange(wide, device=locations.device, dtype=locations.dtype) - (wide - 1) / 2
            y = steps * 2 / max(images.shape[2] - 1, 1)
            x = steps * 2 / max(images.shape[3] - 1, 1)
            around = torch.stack(torch.meshgrid(x, y, indexing="xy"), dim=-1)  # [wide, wide, 2]
            grid = locations[:, None, None, :] + around
            patch = F.grid_sample(images, grid, mode="bilinear", padding_mode="zeros", align_corners=True)
            patches.append(F.avg_pool2d(patch, 2**scale).flatten(1))
        return torch.cat(patches, dim=1)


class RecurrentAttention(nn.Module):
    """Glimpse after glimpse, what was seen goes into a state; the state says where to look next, and last what it was.

        g_n = relu(W_x relu(W_p patch) + W_y relu(W_l l_n-1)),   h_n = relu(W_h h_n-1 + W_g g_n)
        l_n ~ Normal(tanh(W h_n), σ) in training, its mean in use;   P(class) = softmax(W h_N)

    The first glimpse is at a random location in training and in the middle in use. Locations are drawn, not computed:
    no gradient goes through them, nor from their choice into the states. They learn by REINFORCE alone.
    """

    def __init__(
        self, *, classes: int, glimpses: int, patch_size: int, scales: int, dim: int, location_std: float
    ) -> None:
        super().__init__()
        self.glimpses, self.location_std = glimpses, location_std
        self.sensor = GlimpseSensor(patch_size, scales)
        half = max(1, dim // 2)
        self.encode_patch, self.encode_location = nn.Linear(scales * patch_size**2, half), nn.Linear(2, half)
        self.patch_projection, self.location_projection = nn.Linear(half, dim), nn.Linear(half, dim)
        self.recurrent, self.input = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.next_location, self.baseline = nn.Linear(dim, 2), nn.Linear(dim, 1)
        self.classes = nn.Linear(dim, classes)

    def forward(self, images: Tensor) -> RecurrentAttentionOutput:
        """Look at images `[B, 1, H, W]`."""
        count = images.shape[0]
        location = images.new_zeros(count, 2)
        if self.training:
            location = location.uniform_(-1, 1)
        state = images.new_zeros(count, self.recurrent.in_features)
        locations, log_probs, baselines = [location], [], []
        for number in range(self.glimpses):
            patch = F.relu(self.encode_patch(self.sensor(images, location)))
            glimpse = F.relu(
                self.patch_projection(patch) + self.location_projection(F.relu(self.encode_location(location)))
            )
            state = F.relu(self.recurrent(state) + self.input(glimpse))
            if number < self.glimpses - 1:
                # the state is not to learn to please whoever chooses
                location, log_prob = self._choose(state.detach())
                locations.append(location)
                log_probs.append(log_prob)
                baselines.append(self.baseline(state.detach())[:, 0])
        nothing = images.new_zeros(count, 0)
        return RecurrentAttentionOutput(
            self.classes(state),
            torch.stack(locations, dim=1),
            torch.stack(log_probs, dim=1) if log_probs else nothing,
            torch.stack(baselines, dim=1) if baselines else nothing,
        )

    def _choose(self, state: Tensor) -> tuple[Tensor, Tensor]:
        """The next location `[B, 2]`, and the log of how likely it was `[B]`."""
        mean = torch.tanh(self.next_location(state))
        if not self.training:
            return mean, mean.new_zeros(mean.shape[0])
        drawn = (mean + self.location_std * torch.randn_like(mean)).detach()
        # up to a constant, which has no gradient
        log_prob = -((drawn - mean) ** 2).sum(-1) / (2 * self.location_std**2)
        return drawn.clamp(-1, 1), log_prob


def glimpse_loss(output: RecurrentAttentionOutput, labels: Tensor, *, smoothing: float) -> Tensor:
    """The hybrid loss of Mnih 2014, summed over the batch: cross entropy, REINFORCE, and how far off the baselines are.

    The reward of every choice is 1 where the class was right in the end, else 0.
    """
    reward = (output.logits.argmax(-1) == labels).to(output.logits.dtype)[:, None]  # [B, 1]
    advantage = (reward - output.baselines).detach()
    reinforce = -(output.log_probs * advantage).sum()
    baseline_loss = (output.baselines - reward).square().sum()
    return (
        F.cross_entropy(output.logits, labels, reduction="sum", label_smoothing=smoothing) + reinforce + baseline_loss
    )
