"""what a row may see: the causal mask, the padding mask, and a row that may see nothing"""

from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from saccade.attention import ScaledDot, attend, causal_mask, padding_mask
from saccade.show._numbers import number
from saccade.show.lesson import Lesson, Matrix, Table, Text

WORDS = ("she", "reads", "a", "long", "book")
LENGTH = 3  # words of the sentence that is padded
SIZE = 8


def lesson(*, seed: int = 1) -> Lesson:
    torch.manual_seed(seed)
    words = 0.6 * torch.randn(1, len(WORDS), SIZE)
    causal, padded = causal_mask(len(WORDS))[None], padding_mask(torch.tensor([LENGTH]), size=len(WORDS))
    short = [*WORDS[:LENGTH], *["<pad>"] * (len(WORDS) - LENGTH)]
    changed = future_changes(words)
    (context, gradient), softmax = nothing_to_see(words), torch.full((len(WORDS),), -torch.inf).softmax(-1)
    return Lesson(
        "Who may look at whom",
        (
            Text(
                "A mask says which keys a query may look at: True is yes. What is hidden gets no weight at all, and"
                " the others share the whole of it. In the pictures, what is hidden has no number. The rows of"
                " <pad> are computed like all others, and nobody reads what comes out of them."
            ),
            Matrix(
                weights_of(words, causal),
                WORDS,
                WORDS,
                caption="Causal: a word sees itself and what came before, as a decoder must",
            ),
            Matrix(
                weights_of(words, padded),
                short,
                short,
                caption=f"Padding: a sentence of {LENGTH} words in a batch with one of {len(WORDS)}",
            ),
            Table(
                ("what was tried", "what came out"),
                (
                    ("another last word: change of all outputs before it", number(changed[0])),
                    ("the same, without the mask", number(changed[1])),
                    ("a sentence of no words, all hidden: size of the context", number(float(context.norm()))),
                    ("size of the gradient that comes back from it", number(float(gradient.norm()))),
                    ("a plain softmax over scores that are all -∞", f"{float(softmax[0])}"),
                ),
                caption="Measured",
            ),
            Text(
                "With the causal mask no word knows what comes later, so that all words of a text can be trained on at"
                " once, each as if it were the last. A row that may see nothing, as in a batch with an empty sentence,"
                " gives zeros here, and gets no gradient. A plain softmax would divide 0 by 0 there, and what is no"
                " number spreads to everything that is computed with it."
            ),
        ),
        paper="Vaswani 2017, Attention Is All You Need, section 3.2.3",
    )


def weights_of(words: Tensor, mask: Tensor) -> NDArray[Any]:
    """The weights of self-attention `[S, S]`; NaN where the mask hides."""
    output = attend(words, words, score=ScaledDot(), mask=mask, need_weights=True)
    assert output.weights is not None
    return output.weights.masked_fill(~mask, torch.nan)[0].numpy()


def future_changes(words: Tensor) -> tuple[float, float]:
    """How much the outputs before the last word change with that word: with the causal mask, and without it."""
    other = torch.cat((words[:, :-1], torch.randn_like(words[:, -1:])), dim=1)
    changes = (
        (attend(one, one, score=ScaledDot(), causal=causal).context for one in (words, other))
        for causal in (True, False)
    )
    masked, open_ = ((first - second)[:, :-1].abs().max() for first, second in changes)
    return float(masked), float(open_)


def nothing_to_see(words: Tensor) -> tuple[Tensor, Tensor]:
    """The context of queries that may see nothing, and the gradient that their words get."""
    words = words.clone().requires_grad_()
    mask = padding_mask(torch.tensor([0]), size=words.shape[1])
    context = attend(words, words, score=ScaledDot(), mask=mask).context
    (gradient,) = torch.autograd.grad(context.sum(), words)
    return context.detach(), gradient
