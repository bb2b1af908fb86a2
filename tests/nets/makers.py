"""Small nets of every kind, for tests that hold for all of them."""

import torch

from saccade.attention import SCORES, WEIGHTINGS
from saccade.nets.context import FIXED_CONTEXTS
from saccade.tasks.translation.net import TranslationNet, make_net
from saccade.tasks.translation.settings import RnnSettings, TransformerSettings
from saccade.text import END, Batch, Example, make_batch

SOURCE_SIZE, TARGET_SIZE = 13, 11

# One net for each thing that makes a difference, by name. Sizes are distinct, so that a mixed-up axis fails.
SETTINGS: dict[str, RnnSettings | TransformerSettings] = {
    **{
        f"rnn {score}": RnnSettings(kind="rnn", embedding=6, dim=10, score=score)
        for score in (*FIXED_CONTEXTS, *SCORES)
    },
    **{
        f"rnn {weighting} luong": RnnSettings(kind="rnn", embedding=6, dim=10, weighting=weighting, order="luong")
        for weighting in WEIGHTINGS
    },
    **{
        f"rnn {weighting} bahdanau": RnnSettings(kind="rnn", embedding=6, dim=10, weighting=weighting)
        for weighting in WEIGHTINGS
        if weighting != "soft"
    },
    "rnn elman": RnnSettings(kind="rnn", cell="elman", embedding=6, dim=10, bidirectional=False),
    "rnn elman last": RnnSettings(kind="rnn", cell="elman", embedding=6, dim=10, score="last", readout=False),
    "rnn elman without readout": RnnSettings(kind="rnn", cell="elman", embedding=6, dim=10, readout=False),
    "rnn lstm first": RnnSettings(kind="rnn", cell="lstm", layers=2, embedding=6, dim=10, score="first", bridge="mlp"),
    "rnn fed last": RnnSettings(kind="rnn", embedding=6, dim=10, input_feeding=True, score="last"),
    "rnn fed static luong": RnnSettings(
        kind="rnn", embedding=6, dim=10, input_feeding=True, score="static", order="luong"
    ),
    "rnn static local-m": RnnSettings(kind="rnn", embedding=6, dim=10, score="static", weighting="local-m"),
    "rnn lstm": RnnSettings(kind="rnn", cell="lstm", layers=3, embedding=6, dim=10),
    "rnn lstm none": RnnSettings(kind="rnn", cell="lstm", layers=2, embedding=6, dim=10, score="none"),
    "rnn fed": RnnSettings(kind="rnn", embedding=6, dim=10, order="luong", input_feeding=True),
    "rnn fed bahdanau": RnnSettings(kind="rnn", embedding=6, dim=10, input_feeding=True),
    "rnn fed none": RnnSettings(kind="rnn", embedding=6, dim=10, input_feeding=True, score="none"),
    "rnn coverage luong": RnnSettings(kind="rnn", embedding=6, dim=10, score="coverage", order="luong"),
    "rnn relu": RnnSettings(kind="rnn", embedding=6, dim=10, score_activation="relu"),
    "rnn tied": RnnSettings(kind="rnn", embedding=10, dim=10, tie_embeddings="output"),
    **{
        f"transformer {norm} {positions}": TransformerSettings(
            kind="transformer", layers=3, dim=12, heads=2, feed_forward=7, norm=norm, positions=positions
        )
        for norm in ("pre", "post")
        for positions in ("sinusoidal", "learned", "rotary", "none")
    },
    **{
        f"transformer beside {positions}": TransformerSettings(
            kind="transformer",
            layers=1,
            dim=12,
            heads=2,
            feed_forward=7,
            positions=positions,
            positions_combine="concatenate",
        )
        for positions in ("sinusoidal", "learned")
    },
    **{
        f"transformer {score}": TransformerSettings(
            kind="transformer", layers=1, dim=12, heads=3, feed_forward=7, score=score, activation="gelu"
        )
        for score in ("dot", "general", "cosine", "additive", "perceptron")
    },
}


def small_net(name: str, *, seed: int = 16, sharpness: float = 3.0) -> TranslationNet:
    """The net of that name with random weights; its outputs are far from even, so that a wrong one shows."""
    torch.manual_seed(seed)
    net = make_net(SETTINGS[name], source_size=SOURCE_SIZE, target_size=TARGET_SIZE, joint=False)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(sharpness if parameter.dim() > 1 else 1.0)
    return net.eval()


def small_batch(lengths: list[tuple[int, int]], *, seed: int = 5) -> Batch:
    """Random pairs of these source and target lengths, END included."""
    torch.manual_seed(seed)
    return make_batch(
        [Example(_sentence(source, SOURCE_SIZE), _sentence(target, TARGET_SIZE)) for source, target in lengths]
    )


def _sentence(length: int, size: int) -> list[int]:
    return [*torch.randint(4, size, (length - 1,)).tolist(), END]
