"""The alignment scores, and the table of their names."""

from collections.abc import Callable

from saccade.attention.scores.additive import Additive
from saccade.attention.scores.cosine import Cosine
from saccade.attention.scores.coverage import Coverage
from saccade.attention.scores.dot import Dot, ScaledDot
from saccade.attention.scores.general import General
from saccade.attention.scores.location import Location
from saccade.attention.scores.location_aware import LocationAware
from saccade.attention.scores.mix import Mix
from saccade.attention.scores.score import DotProductScore, Score, StatefulScore
from saccade.attention.scores.static import Static

# How many keys a location score is made for when it is asked for by name.
POSITIONS = 512

# One line a score: its name, and how to make it from the sizes of a query and of a key.
SCORES: dict[str, Callable[[int, int], Score]] = {
    "cosine": lambda query_dim, key_dim: Cosine(),
    "additive": Additive,
    "location": lambda query_dim, key_dim: Location(query_dim, POSITIONS),
    "general": General,
    "dot": lambda query_dim, key_dim: Dot(),
    "scaled-dot": lambda query_dim, key_dim: ScaledDot(),
    "location-aware": LocationAware,
    "coverage": Coverage,
    "mix": lambda query_dim, key_dim: Mix(Additive(query_dim, key_dim), Location(query_dim, POSITIONS)),
    "static": lambda query_dim, key_dim: Static(key_dim),
}

# Those that follow the query, for whoever has nothing but a query to learn with.
QUERY_SCORES = tuple(name for name in SCORES if name != "static")


def make_score(name: str, query_dim: int, key_dim: int) -> Score:
    """The score of that name, with its usual settings, for queries and keys of these sizes."""
    if name not in SCORES:
        raise ValueError(f"score: found {name!r}, wanted one of {', '.join(SCORES)}")
    return SCORES[name](query_dim, key_dim)


__all__ = [
    "POSITIONS",
    "QUERY_SCORES",
    "SCORES",
    "Additive",
    "Cosine",
    "Coverage",
    "Dot",
    "DotProductScore",
    "General",
    "Location",
    "LocationAware",
    "Mix",
    "ScaledDot",
    "Score",
    "StatefulScore",
    "Static",
    "make_score",
]
