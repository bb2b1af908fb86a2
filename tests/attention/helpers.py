"""Small things that many tests of the attention room need."""

import torch
from torch import Tensor

from saccade.attention import (
    SCORES,
    LocalMonotonic,
    LocalPredictive,
    Location,
    LocationRecurrent,
    Monotonic,
    Score,
    StatefulScore,
    Weighting,
    make_score,
    make_weighting,
)

# distinct primes, so that a transposed axis fails
BATCH, QUERIES, KEYS, DIM, VALUE_DIM = 2, 3, 5, 7, 11
POSITIONS = 13  # that a location score knows

# names of scores whose queries do not wait for each other
STATELESS = [name for name in SCORES if not isinstance(make_score(name, 1, 1), StatefulScore)]


def relative_error(found: Tensor, wanted: Tensor) -> float:
    """The largest difference, as a share of the largest number that was wanted."""
    found, wanted = found.detach().double(), wanted.detach().double()
    return float((found - wanted).abs().max() / wanted.abs().max().clamp_min(1e-30))


def tensors(
    *,
    dtype: torch.dtype = torch.float32,
    queries: int = QUERIES,
    keys: int = KEYS,
    batch: int = BATCH,
    grad: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """A query, a key and a value."""
    query = torch.randn(batch, queries, DIM, dtype=dtype, requires_grad=grad)
    key = torch.randn(batch, keys, DIM, dtype=dtype, requires_grad=grad)
    value = torch.randn(batch, keys, VALUE_DIM, dtype=dtype, requires_grad=grad)
    return query, key, value


def score_named(name: str, *, dtype: torch.dtype = torch.float32, dim: int = DIM) -> Score:
    """A score whose numbers are all random and of ordinary size, not as they are at the start of training."""
    score = make_score(name, dim, dim)
    if isinstance(score, LocationRecurrent):
        score = LocationRecurrent(dim, dim, units=2, width=3)  # quick to differentiate, too
    for part in score.modules():
        if isinstance(part, Location):
            part.weight = torch.nn.Parameter(part.weight[:POSITIONS].detach())  # enough, and quick to differentiate
    for parameter in score.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    return score.to(dtype)


def weighting_named(name: str, *, dtype: torch.dtype = torch.float32, window: int = 2, dim: int = DIM) -> Weighting:
    """A weighting with a window that is smaller than the tests' sequences, and no noise."""
    weighting = make_weighting(name, dim)
    for parameter in weighting.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    if isinstance(weighting, LocalMonotonic | LocalPredictive):
        weighting.window = window
    if isinstance(weighting, Monotonic):
        weighting.noise = 0.0
    return weighting.to(dtype)


def some_mask(*, queries: int = QUERIES, keys: int = KEYS, batch: int = BATCH) -> Tensor:
    """Random, with at least one key to see in each row."""
    mask = torch.rand(batch, queries, keys) > 0.3
    mask[..., 0] = True
    return mask
