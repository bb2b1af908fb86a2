"""the same scores weighted soft, hard, local-m and local-p: what is looked at, and where a gradient goes

    soft      softmax over all keys                                     Bahdanau 2015
    hard      one key: the likeliest, or in training one that is drawn  Xu 2015
    local-m   softmax over a window that moves one key with each query  Luong 2015
    local-p   the same around a predicted position, under a Gaussian    Luong 2015

Letters: `B` draws, `S` keys.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from saccade.attention import Choice, Hard, LocalMonotonic, LocalPredictive, Soft, Weighting
from saccade.show.lesson import Lesson, Matrix, Table, Text

SENTENCE = ["The", "treaty", "was", "signed", "in", "May"]
# How well a query for "signed" fits each word, as a model might say: its neighbour fits too, and one that is far off.
SCORES = (0.1, 1.3, 1.4, 2.4, 0.2, 1.9)
STEP = 2  # of the output, counted from 0, at which all look
WINDOW = 1  # keys to each side
DRAWS = 10_000

_ORDINAL = "third"  # which word that is
_QUERY = 4  # numbers of a query, from which local-p predicts its position
_SPREAD = 4.0  # of the values, so that a gradient can be seen beside 1


class Looked(NamedTuple):
    """What a weighting made of the scores, `S` numbers each."""

    weights: Tensor
    gradient: Tensor  # of the context with regard to the scores; zeros if none comes through the weights


class Reinforced(NamedTuple):
    """The gradients of REINFORCE, the reward being the context."""

    drawn: int  # the key of the first draw
    one: Tensor  # [S], of that draw
    mean: Tensor  # [S], of all draws
    spread: float  # how far a draw is off the mean, on average


def lesson(*, seed: int = 1) -> Lesson:
    torch.manual_seed(seed)
    scores, query, values = torch.tensor(SCORES), torch.randn(_QUERY), _SPREAD * torch.randn(len(SCORES))
    local_p = LocalPredictive(_QUERY, WINDOW)
    position = float(local_p.positions(query[None], mask=None, keys=len(SCORES)).detach())
    soft, hard, straight, local_m, predictive = (
        look(weighting, scores, values, query=query)
        for weighting in (Soft(), Hard().eval(), Hard("straight-through"), LocalMonotonic(WINDOW), local_p)
    )
    reinforced = reinforce(scores, values)
    return Lesson(
        "From scores to weights, in four ways",
        (
            Text(f"""
                At the {_ORDINAL} word of a translation, a query has been compared with all {len(SCORES)} words of the
                source. The scores are the same in every line of this picture; only what is made of them differs.
            """),
            _matrix(
                {"soft": soft.weights, "hard": hard.weights, "local-m": local_m.weights, "local-p": predictive.weights},
                "Weights",
            ),
            Text(f"""
                Soft attention looks at everything, at each word as far as it fits: {_word(soft.weights)!r} gets
                {float(soft.weights.max()):.2f}, and what lies far off keeps its share. Hard attention takes the
                likeliest word and nothing else. Local-m expects the {_ORDINAL} word to stand for the {_ORDINAL}, and
                looks {WINDOW} word to each side. Local-p predicts the position from the query (not trained yet, it
                says {position:.1f}, counted from 0), and a Gaussian around it makes the weights smaller: they sum to
                {float(predictive.weights.sum()):.2f}.
            """),
            _table(soft, hard, local_m, predictive),
            Text("""
                A weighting also decides how scores are learned. Give each word one number as its value: the context is
                then a number, too, and this is its gradient with regard to the scores.
            """),
            _matrix(
                {
                    "soft": soft.gradient,
                    "hard": hard.gradient,
                    "REINFORCE, one": reinforced.one,
                    "… mean of draws": reinforced.mean,
                    "straight-through": straight.gradient,
                    "local-m": local_m.gradient,
                    "local-p": predictive.gradient,
                },
                "Gradient of the context with regard to each score",
                diverging=True,
            ),
            Text(f"""
                Hard weights are 0 or 1, and a small change of a score changes none of them: the gradient is 0
                everywhere. REINFORCE draws a word (at first {SENTENCE[reinforced.drawn]!r}) and makes it likelier by as
                much as it brought. The mean of {DRAWS:,} draws is soft attention's gradient, to
                {float((reinforced.mean - soft.gradient).norm()):.2f}; a single one is off by {reinforced.spread:.2f} on
                average, where that gradient has a length of {float(soft.gradient.norm()):.2f}: right, but noisy.
                Straight-through takes soft attention's gradient as if it were its own: exact here, where the context
                is a plain sum, and biased once a nonlinear layer follows. A local window learns inside of it, and is
                blind to the rest.
            """),
        ),
        paper="Xu 2015, Show, Attend and Tell, section 4; Luong 2015, section 3.2",
    )


def look(weighting: Weighting, scores: Tensor, values: Tensor, *, query: Tensor) -> Looked:
    """The weights of one query, and the gradient of its context `Σ_s weights[s] values[s]`."""
    scores = scores.clone().requires_grad_()
    step = torch.tensor([STEP]) if isinstance(weighting, LocalMonotonic) else None
    weights = weighting(scores[None, None], mask=None, query=query[None, None], state=step).weights[0, 0]
    context = weights @ values
    gradient = torch.zeros_like(scores)
    if context.requires_grad:
        (gradient,) = torch.autograd.grad(context, scores)
    return Looked(weights.detach(), gradient)


def reinforce(scores: Tensor, values: Tensor) -> Reinforced:
    """What the extra loss of REINFORCE gives, for `DRAWS` draws."""
    each = scores.repeat(DRAWS, 1, 1).requires_grad_()  # [B, 1, S]
    weights, _, choice = Hard("reinforce")(each, mask=None, query=each)
    assert isinstance(choice, Choice)  # it is in training
    reward = weights @ values  # [B, 1], the context of each draw
    (gradients,) = torch.autograd.grad(-choice.loss(reward).sum(), each)
    mean = gradients.mean((0, 1))
    spread = float((gradients - mean).norm(dim=-1).mean())
    return Reinforced(int(weights[0, 0].argmax()), gradients[0, 0], mean, spread)


def _matrix(rows: dict[str, Tensor], caption: str, *, diverging: bool = False) -> Matrix:
    return Matrix(torch.stack(list(rows.values())).numpy(), list(rows), SENTENCE, caption=caption, diverging=diverging)


def _table(soft: Looked, hard: Looked, local_m: Looked, local_p: Looked) -> Table:
    learns = {
        "soft": (soft, "by its gradient"),
        "hard": (hard, "by draws, or straight through"),
        "local-m": (local_m, "by its gradient, within the window"),
        "local-p": (local_p, "likewise, and so is the position"),
    }
    return Table(
        ("weighting", "words seen", "sum of weights", "how its scores are learned"),
        [
            (name, f"{int((looked.weights > 0).sum())}", f"{float(looked.weights.sum()):.2f}", how)
            for name, (looked, how) in learns.items()
        ],
    )


def _word(weights: Tensor) -> str:
    return SENTENCE[int(weights.argmax())]
