"""The addressing of a head as pytorch-ntm and other Neural Turing Machines in torch have it, in numpy.

It is not on PyPI, so the equations of Graves 2014 stand here with its conventions: 1e-16 beside what it divides by, and
shifts as a cross-correlation over the ring, so that the first of three offsets moves a head on, not back as ours does.
"""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from saccade.attention import Addressing, address

Array = NDArray[np.float64]
BATCH, HEADS, LOCATIONS, WIDTH = 2, 3, 7, 5
EPSILON = 1e-16


def softmax(x: Array) -> Array:
    exps = np.exp(x - x.max())
    return exps / exps.sum()


def softplus(x: Array) -> Array:
    return np.log1p(np.exp(x))


def their_address(memory: Array, last: Array, raw: dict[str, Array]) -> Array:
    """Where one head goes: memory `[N, M]`, weights `[N]`, and the head parameters before their activations."""
    key, beta, gate = raw["key"], softplus(raw["beta"]), 1 / (1 + np.exp(-raw["gate"]))
    offsets, gamma = softmax(raw["offsets"]), 1 + softplus(raw["gamma"])
    locations, mine = memory + EPSILON, key + EPSILON
    likeness = locations @ mine / (np.linalg.norm(locations, axis=1) * np.linalg.norm(mine))
    gated = gate * softmax(beta * likeness) + (1 - gate) * last
    reach = len(offsets) // 2
    ring = np.concatenate([gated[-reach:], gated, gated[:reach]])
    moved = np.array([ring[location : location + len(offsets)] @ offsets for location in range(len(gated))])
    return moved**gamma / ((moved**gamma).sum() + EPSILON)


@pytest.mark.parametrize("spread", [0.5, 3.0])
def test_where_the_heads_go(spread: float) -> None:
    generator = np.random.default_rng(7)
    memory = generator.normal(size=(BATCH, LOCATIONS, WIDTH))
    last = np.array([[softmax(2 * row) for row in rows] for rows in generator.normal(size=(BATCH, HEADS, LOCATIONS))])
    sizes = {"key": (WIDTH,), "beta": (), "gate": (), "offsets": (3,), "gamma": ()}
    raw = {name: spread * generator.normal(size=(BATCH, HEADS, *size)) for name, size in sizes.items()}

    tensors = {name: torch.from_numpy(one) for name, one in raw.items()}
    how = Addressing(
        key=tensors["key"],
        beta=torch.nn.functional.softplus(tensors["beta"]),
        gate=tensors["gate"].sigmoid(),
        offsets=tensors["offsets"].softmax(-1).flip(-1),
        gamma=1 + torch.nn.functional.softplus(tensors["gamma"]),
    )
    found = address(torch.from_numpy(memory), torch.from_numpy(last), how)
    for batch in range(BATCH):
        for head in range(HEADS):
            one = {name: values[batch, head] for name, values in raw.items()}
            np.testing.assert_allclose(
                found[batch, head], their_address(memory[batch], last[batch, head], one), rtol=1e-7, atol=1e-9
            )


def test_which_way_the_offsets_point() -> None:
    """All of the weight on the last offset: ours moves one on, theirs one back."""
    memory, last = np.zeros((4, 2)), np.array([0.0, 1.0, 0.0, 0.0])
    far = np.array([-50.0, -50.0, 50.0])
    shut = {"key": np.ones(2), "beta": np.array(0.0), "gate": np.array(-50.0), "gamma": np.array(0.0)}
    theirs = their_address(memory, last, {**shut, "offsets": far})
    how = Addressing(
        torch.ones(1, 2).double(),
        torch.zeros(1).double(),
        torch.zeros(1).double(),
        torch.tensor([[0.0, 0.0, 1.0]]).double(),
        torch.ones(1).double(),
    )
    ours = address(torch.from_numpy(memory), torch.from_numpy(last)[None], how)[0]
    assert (int(theirs.argmax()), int(ours.argmax())) == (0, 2)
