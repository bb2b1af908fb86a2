"""one step of attention by hand: q·k = 112 and 96, the weights 0.88 and 0.12

The numbers are those of "The Illustrated Transformer" (Alammar 2018), of the words "Thinking" and "Machines".
"""

import torch

from saccade.attention import Dot, ScaledDot, attend
from saccade.show._numbers import number
from saccade.show.lesson import Bars, Lesson, Table, Text

_WORDS = ("Thinking", "Machines")
_SIZE = 64  # of the query and of each key


def lesson(*, seed: int = 1) -> Lesson:
    """Nothing in it is drawn: the seed changes nothing."""
    query = torch.ones(1, 1, _SIZE)  # [B, T, D]
    key = torch.tensor([[1.75], [1.5]]).expand(2, _SIZE)[None]  # [B, S, D]; 64 * 1.75 = 112, 64 * 1.5 = 96
    value = torch.tensor([[[2.0, 0.0, 4.0], [0.0, 8.0, 4.0]]])  # [B, S, V]
    products = Dot()(query, key)[0, 0].tolist()
    scores = ScaledDot()(query, key)[0, 0].tolist()
    output = attend(query, key, value, score=ScaledDot(), need_weights=True)
    unscaled = attend(query, key, value, score=Dot(), need_weights=True)
    assert output.weights is not None
    assert unscaled.weights is not None
    weights, sharp = output.weights[0, 0].tolist(), unscaled.weights[0, 0].tolist()
    context = output.context[0, 0].tolist()
    first, second = value[0].tolist()

    def vector(numbers: list[float]) -> str:
        return f"({', '.join(f'{one:.2f}' if one % 1 else f'{one:.0f}' for one in numbers)})"

    rows = (
        ("1  compare", "q · k", f"{products[0]:.0f}", f"{products[1]:.0f}"),
        (f"2  divide by √{_SIZE} = {_SIZE**0.5:.0f}", "e = q · k / √d", f"{scores[0]:.0f}", f"{scores[1]:.0f}"),
        ("3  make weights", "a = exp(e) / Σ exp(e)", f"{weights[0]:.2f}", f"{weights[1]:.2f}"),
        (
            "4  weigh the values",
            "a v",
            *(vector([a * v for v in values]) for a, values in zip(weights, (first, second), strict=True)),
        ),
    )
    return Lesson(
        "Attention by hand",
        (
            Text(
                f"The word {_WORDS[0]!r} asks, with its query q, what it should know of each word of the sentence. The"
                " more a word's key k is like the query, the more of that word's value v goes into the answer, the"
                f" context. Query and keys have d = {_SIZE} numbers each."
            ),
            Table(("step", "formula", *_WORDS), rows),
            Text(
                f"Step 5 adds them up: c = {weights[0]:.2f} {vector(first)} + {weights[1]:.2f} {vector(second)}"
                f" = {vector(context)}"
            ),
            Bars(_WORDS, weights, "weight", caption=f"What {_WORDS[0]!r} looks at"),
            Text(
                f"A difference of {products[0] - products[1]:.0f} between the products would be a choice and no"
                f" mixture: without step 2 the weights were {number(sharp[0])} and {number(sharp[1])}, and next to"
                " nothing could be learned from the second word. `saccade show scaling` shows why it is √d that one"
                " divides by."
            ),
        ),
        paper="Vaswani 2017, Attention Is All You Need, section 3.2.1",
    )
