"""positions as waves: sines and cosines, the binary counter, and what is asked of such an encoding"""

from collections.abc import Callable

import torch
from torch import Tensor

from saccade.attention import Learned, sinusoids
from saccade.show._numbers import number
from saccade.show.lesson import Lesson, Matrix, Table, Text

SIZE = 64  # of the encodings that are measured
_SHOWN, _SHOWN_SIZE = 16, 16  # positions and numbers in the picture
SENTENCES = (10, 100, 512)  # lengths
FAR = 10_000  # positions
BITS = 14  # enough to count so far

Encode = Callable[[Tensor, int], Tensor]  # positions [S] and the sentence's length -> [S, D]


def lesson(*, seed: int = 1) -> Lesson:
    torch.manual_seed(seed)
    waves = sinusoids(torch.arange(_SHOWN), _SHOWN_SIZE)  # a sine and a cosine in turn
    sorted_waves = torch.cat((waves[:, 0::2], waves[:, 1::2]), dim=1)
    counter = bits(torch.arange(_SHOWN), _SHOWN)[:, :4]
    labels = [str(position) for position in range(_SHOWN)]
    ways = measured()
    longest = max(SENTENCES)
    return Lesson(
        "Where a word stands, as numbers",
        (
            Text(
                "Attention by itself does not know the order of words (`saccade show permutation`), so each word is"
                " told its position: a row of numbers, added to its vector. A binary counter would do: its first bit"
                " changes at every position, the next at every second, and so on. The sines and cosines are the same"
                " with smooth numbers: each sine, and each cosine, is a longer wave than the one before."
            ),
            Matrix(
                sorted_waves.numpy(),
                labels,
                [""] * _SHOWN_SIZE,
                caption="A position in each row: its sines on the left, from short waves to long ones, and its cosines",
                diverging=True,
            ),
            Matrix(
                counter.numpy(),
                labels,
                ["1", "2", "4", "8"],
                caption="The binary counter: the bits for 1, 2, 4 and 8",
                digits=0,
            ),
            Table(
                ("what is asked", *ways),
                (
                    ("own: least distance of two positions", *(number(apart(one)) for one in ways.values())),
                    ("even: longest step / shortest", *(number(unevenness(one)) for one in ways.values())),
                    (f"bounded: largest up to {FAR:,}", *(farthest(one) for one in ways.values())),
                    ("fixed: change by sentence or seed", *(number(changing(one)) for one in ways.values())),
                ),
                caption=f"Four properties, measured ({SIZE} numbers a position; sentences of up to {longest} words)",
            ),
            Text(
                f"Two positions never share an encoding; a step from one word to the next is as long everywhere, and in"
                " every sentence; the numbers stay within bounds however long the text; and nothing is left to chance"
                " or to the length of the sentence. The waves have all four. The position p itself grows without"
                " bounds. As a share of the sentence, p / n, it makes steps of another length in each sentence. In the"
                " binary counter a step from 255 to 256 changes nine bits, and one from 256 to 257 changes one."
                f" Learned vectors (here as they start) end at the {longest} positions that they were made for."
            ),
        ),
        paper="Vaswani 2017, Attention Is All You Need, section 3.5",
    )


def bits(positions: Tensor, length: int) -> Tensor:
    """The bits of whole numbers, the lowest first: `[S]` -> `[S, BITS]`."""
    return (positions.long()[:, None] >> torch.arange(BITS) & 1).float()


def measured() -> dict[str, Encode]:
    """The encodings that are compared, by name."""
    return {
        "waves": lambda positions, length: sinusoids(positions.double(), SIZE),
        "bits": bits,
        "p": lambda positions, length: positions[:, None].double(),
        "p / n": lambda positions, length: positions[:, None].double() / length,
        "learned": learned,
    }


def learned(positions: Tensor, length: int) -> Tensor:
    """A table of vectors, new at each call as it is new in each model."""
    with torch.no_grad():
        return Learned(SIZE, max(SENTENCES))(torch.zeros(1, len(positions), SIZE), start=int(positions[0]))[0]


def apart(encode: Encode) -> float:
    """The smallest distance of the encodings of two positions of the longest sentence."""
    length = max(SENTENCES)
    return float(torch.pdist(encode(torch.arange(length), length)).min())


def unevenness(encode: Encode) -> float:
    """How many times as long the longest step between neighbours is as the shortest, over all sentences."""
    steps = torch.cat([encode(torch.arange(length), length).diff(dim=0).norm(dim=-1) for length in SENTENCES])
    return float(steps.max() / steps.min())


def farthest(encode: Encode) -> str:
    """The largest number in the encodings of a long text."""
    try:
        return number(float(encode(torch.arange(FAR), FAR).abs().max()))
    except ValueError:
        return "refused"


def changing(encode: Encode) -> float:
    """How much the encoding of the first words differs between a short sentence and a long one."""
    shortest, longest = min(SENTENCES), max(SENTENCES)
    short, long = encode(torch.arange(shortest), shortest), encode(torch.arange(longest), longest)
    return float((short - long[:shortest]).abs().max())
