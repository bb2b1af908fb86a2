"""self-attention without positions does not know the order of words; with positions it does"""

import itertools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from saccade.attention import MultiHead, Rotary, Sinusoidal
from saccade.show._numbers import number
from saccade.show.lesson import Lesson, Matrix, Table, Text

WORDS = ("dog", "bites", "man")
TURNED = (2, 1, 0)  # "man bites dog", as indices of WORDS
DIM, HEADS = 16, 2

Layer = Callable[[Tensor], Tensor]  # [B, S, DIM] -> [B, S, DIM]


@torch.no_grad()
def lesson(*, seed: int = 1) -> Lesson:
    torch.manual_seed(seed)
    words = torch.randn(1, len(WORDS), DIM)
    attention, layers = make_layers()
    turned = list(TURNED)
    weights = [attention(x, need_weights=True).weights for x in (words, words[:, turned])]
    names = [WORDS, [WORDS[index] for index in turned]]
    maps = [
        Matrix(one[0].mean(0).numpy(), labels, labels, caption=f"{' '.join(labels)!r}: the weights without positions")
        for one, labels in zip(weights, names, strict=True)
        if one is not None
    ]
    changes = {name: word_changes(layer, words, turned) for name, layer in layers.items()}
    furthest = {name: furthest_from_commuting(layer, words) for name, layer in layers.items()}
    plain, added, turned_by = layers
    return Lesson(
        "Does the order matter?",
        (
            Text(
                "Self-attention compares each word with each other, and sums. Neither knows which word came first. So"
                " a layer of it reads the same three words in two orders here."
            ),
            *maps,
            Table(
                ("what has changed in a word's output", *layers),
                (
                    *(
                        (f"of {word!r}", *(number(changes[name][index]) for name in layers))
                        for index, word in enumerate(WORDS)
                    ),
                    ("at most, of any word in any of the 6 orders", *(number(furthest[name]) for name in layers)),
                ),
                caption="Between 'dog bites man' and 'man bites dog', as a length",
            ),
            Text(
                "Without positions, the rows and columns of the weights have changed places and nothing else: each"
                f" word's output is the same to {number(furthest[plain])}, which is rounding, whoever bites whom. Such"
                " a layer sees a set, not a sentence. Once positions are added to the words, or queries and keys are"
                f" turned by them (rotary), the outputs differ by up to {number(furthest[added])}"
                f" and {number(furthest[turned_by])}: the order is seen."
            ),
        ),
        paper="Vaswani 2017, section 3.5 (sinusoidal positions); Su 2021 (rotary)",
    )


def make_layers() -> tuple[MultiHead, dict[str, Layer]]:
    """Self-attention, and by name the layer itself, after added positions, and the same weights with rotary ones."""
    attention = MultiHead(DIM, HEADS)
    rotary = MultiHead(DIM, HEADS, rotary=Rotary(DIM // HEADS))
    rotary.load_state_dict(attention.state_dict())
    positions = Sinusoidal(DIM)
    return attention, {
        "no positions": lambda x: attention(x).context,
        "sinusoidal": lambda x: attention(positions(x)).context,
        "rotary": lambda x: rotary(x).context,
    }


def word_changes(layer: Layer, words: Tensor, order: Sequence[int]) -> list[float]:
    """How far the output of each word moves when the words come in another order."""
    order = list(order)
    moved = layer(words[:, order])  # [1, S, DIM]
    return (moved - layer(words)[:, order])[0].norm(dim=-1)[torch.tensor(order).argsort()].tolist()


def furthest_from_commuting(layer: Layer, words: Tensor) -> float:
    """The largest change of a word over all orders: 0 if the layer commutes with permutations."""
    return max(max(word_changes(layer, words, order)) for order in itertools.permutations(range(words.shape[1])))
