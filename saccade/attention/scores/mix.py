"""A score made of two: content and location."""

import torch
from torch import Tensor, nn

from saccade.attention._checks import expect_instance
from saccade.attention.scores.location import Location
from saccade.attention.scores.score import Score, StatefulScore


class Mix(Score):
    """A content score and the location score, mixed by a learned gate `g` (as a Neural Turing Machine mixes its two
    kinds of addressing; Graves 2014).

    e[t, s] = (1 - g) content[t, s] + g location[t, s],    g = sigmoid(learned number), 1/2 at the start

    The parts of both scores are laid end to end, so if the content score is a dot product, the mix is one too.
    """

    def __init__(self, content: Score, location: Location) -> None:
        super().__init__()
        expect_instance("content", content, Score, example="Additive(8, 8)")
        expect_instance("location", location, Location, example="Location(8, 100)")
        if isinstance(content, StatefulScore):
            raise ValueError(f"content: found {type(content).__name__}, wanted a score without a state")
        self.content = content
        self.location = location
        self.gate_logit = nn.Parameter(torch.zeros(()))

    @property
    def gate(self) -> Tensor:
        """The share of the location score, between 0 and 1."""
        return self.gate_logit.sigmoid()

    @property
    def is_dot_product(self) -> bool:
        return self.content.is_dot_product

    @property
    def order_matters(self) -> bool:
        return True

    def queries(self, query: Tensor) -> Tensor:
        content, location = self.content.queries(query), self.gate * self.location.queries(query)
        if self.is_dot_product:
            content = (1 - self.gate) * content
        return torch.cat((content, location), dim=-1)

    def keys(self, key: Tensor, *, start: int = 0) -> Tensor:
        return torch.cat((self.content.keys(key, start=start), self.location.keys(key, start=start)), dim=-1)

    def compare(self, queries: Tensor, keys: Tensor) -> Tensor:
        if self.is_dot_product:
            return queries @ keys.transpose(-1, -2)
        where = self.location.weight.shape[1]  # the location score's share of the last dimension
        content = self.content.compare(queries[..., :-where], keys[..., :-where])
        return (1 - self.gate) * content + queries[..., -where:] @ keys[..., -where:].transpose(-1, -2)
