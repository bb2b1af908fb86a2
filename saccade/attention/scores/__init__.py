"""The alignment scores, and the table of their names."""

from collections.abc import Callable

from saccade.attention._checks import expect_choice
from saccade.attention.scores.additive import ACTIVATIONS, Activation, Additive
from saccade.attention.scores.cosine import Cosine
from saccade.attention.scores.coverage import Coverage
from saccade.attention.scores.dot import Dot, ScaledDot
from saccade.attention.scores.general import General
from saccade.attention.scores.location import Location
from saccade.attention.scores.location_aware import LocationAware
from saccade.attention.scores.location_recurrent import LocationRecurrent
from saccade.attention.scores.mix import Mix
from saccade.attention.scores.perceptron import Perceptron
from saccade.attention.scores.score import DotProductScore, Score, StatefulScore
from saccade.attention.scores.static import Static

# How many keys a location score is made for when it is asked for by name.
POSITIONS = 512

# One line a score: its name, and how to make it from the sizes of a query and of a key.
SCORES: dict[str, Callable[[int, int], Score]] = {
    "cosine": lambda query_dim, key_dim: Cosine(),
    "additive": Additive,
    "perceptron": Perceptron,
    "location": lambda query_dim, key_dim: Location(query_dim, POSITIONS),
    "general": General,
    "dot": lambda query_dim, key_dim: Dot(),
    "scaled-dot": lambda query_dim, key_dim: ScaledDot(),
    "location-aware": LocationAware,
    "location-recurrent": LocationRecurrent,
    "coverage": Coverage,
    "mix": lambda query_dim, key_dim: Mix(Additive(query_dim, key_dim), Location(query_dim, POSITIONS)),
    "static": lambda query_dim, key_dim: Static(key_dim),
}

# Those that follow the query, for whoever has nothing but a query to learn with.
QUERY_SCORES = tuple(name for name in SCORES if name != "static")


# Those that have an activation.
ADDITIVE_SCORES = ("additive", "perceptron", "location-aware", "location-recurrent", "coverage", "mix")


def make_score(name: str, query_dim: int, key_dim: int, *, activation: Activation = "tanh") -> Score:
    """The score of that name, with its usual settings, for queries and keys of these sizes.

    activation  of an additive score, or of the additive part of another; no other score has one
    """
    if name not in SCORES:
        raise ValueError(f"score: found {name!r}, wanted one of {', '.join(SCORES)}")
    expect_activation(name, activation)
    score = SCORES[name](query_dim, key_dim)
    for part in score.modules():
        if isinstance(part, Additive | Perceptron):
            part.activation = activation
    return score


def expect_activation(score: str, activation: Activation, *, name: str = "activation") -> None:
    """Raise unless the score of that name has an activation, or the usual one is asked for."""
    expect_choice(name, activation, ACTIVATIONS)
    if activation != "tanh" and score not in ADDITIVE_SCORES:
        raise ValueError(
            f"{name}: found {activation!r}, wanted 'tanh' with score {score}, which has no activation; those that have"
            f" one are {', '.join(ADDITIVE_SCORES)}"
        )


__all__ = [
    "ACTIVATIONS",
    "ADDITIVE_SCORES",
    "POSITIONS",
    "QUERY_SCORES",
    "SCORES",
    "Activation",
    "Additive",
    "Cosine",
    "Coverage",
    "Dot",
    "DotProductScore",
    "General",
    "Location",
    "LocationAware",
    "LocationRecurrent",
    "Mix",
    "Perceptron",
    "ScaledDot",
    "Score",
    "StatefulScore",
    "Static",
    "expect_activation",
    "make_score",
]
