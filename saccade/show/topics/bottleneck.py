"""one vector for a whole sentence: how much of it can be read back, by length, and how much with attention

A random recurrent encoder reads random words, and a linear reader, fitted by least squares, is asked for each of them.
Nothing else is learned, so that what is missing was lost on the way.

Letters: `B` sentences, `S` words of each, `D` numbers of a state, `F` features of a reader, `K` what it gives.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from saccade.attention import Dot, attend, sinusoids
from saccade.nets import RnnEncoder
from saccade.show.lesson import Curves, Lesson, Text

SMALL, LARGE = 64, 128  # numbers of a state
WORDS = 10  # to choose from
LENGTHS = (5, 10, 20, 40, 80)
SHOWN = 20  # the length that is shown place by place
FITTED, ASKED = 1500, 300  # sentences

# Spread of a word's share in a state: larger, and new words push the old ones out; smaller, and none stands out.
_INPUT = 0.3
_POSITION, _SHARPNESS = 32, 8.0  # numbers of a position, and how much a query is made larger


class Reading(NamedTuple):
    """The share of words that were read right, place by place: `[S]` each."""

    small: Tensor  # from the last of the small states
    large: Tensor  # from the last of the large states
    attended: Tensor  # from attention over all small states


def lesson(*, seed: int = 1) -> Lesson:
    torch.manual_seed(seed)
    small, large = make_encoder(SMALL), make_encoder(LARGE)
    readings = [read(small, large, length) for length in LENGTHS]
    one, twice, all_states = ([float(line.mean()) for line in lines] for lines in zip(*readings, strict=True))
    by_place = readings[LENGTHS.index(SHOWN)]
    weight = float(look_up(SHOWN).diagonal().mean())
    names = f"one vector of {SMALL}", f"one vector of {LARGE}", f"attention over states of {SMALL}"
    return Lesson(
        "A sentence in one vector",
        (
            Text(f"""
                An encoder without attention hands over its last state: as many numbers for a sentence of {LENGTHS[0]}
                words as for one of {LENGTHS[-1]}. Here a random recurrent net reads random words, {WORDS} to choose
                from, and a linear reader is asked for each of them again.
            """),
            Curves(
                LENGTHS,
                dict(zip(names, (one, twice, all_states), strict=True)),
                "words in the sentence",
                "share read right",
                caption=f"Words that come back; who guesses gets {1 / WORDS:.1f}",
            ),
            Text(f"""
                From one vector of {SMALL} numbers, {_percent(one[0])} of {LENGTHS[0]} words come back,
                {_percent(one[2])} of {LENGTHS[2]}, and {_percent(one[-1])} of {LENGTHS[-1]}. A vector of {LARGE} only
                moves the wall: {_percent(twice[2])} of {LENGTHS[2]}, and {_percent(twice[-1])} of {LENGTHS[-1]}.
                Attention looks at the state of the place that is asked for (its weight there: {weight:.2f}), and gets
                {_percent(all_states[-1])} of {LENGTHS[-1]} words from the states of {SMALL} numbers.
            """),
            Curves(
                range(1, SHOWN + 1),
                dict(zip(names, (line.tolist() for line in by_place), strict=True)),
                f"place of the word, of {SHOWN}",
                "share read right",
                caption=f"Which words come back, in sentences of {SHOWN}",
            ),
            Text(f"""
                What is lost is the beginning: the first word is read right in {_percent(float(by_place.small[0]))} of
                the sentences, the last in {_percent(float(by_place.small[-1]))}. Training would move the wall, as
                more numbers do, and take it away as little. The single vector even has a reader of its own for each
                place here, and attention one for all.
            """),
        ),
        paper="Cho 2014, On the Properties of Neural Machine Translation; Bahdanau 2015",
    )


def make_encoder(dim: int) -> RnnEncoder:
    """A random Elman net that forgets slowly: its recurrent weights turn a state and keep its length."""
    encoder = RnnEncoder(nn.Embedding(WORDS, dim), dim, cell="elman", layers=1, bidirectional=False, dropout=0.0)
    nn.init.orthogonal_(encoder.rnn.get_parameter("weight_hh_l0"))
    nn.init.normal_(encoder.rnn.get_parameter("weight_ih_l0"), std=_INPUT / dim**0.5)
    return encoder.requires_grad_(requires_grad=False).eval()


def read(small: RnnEncoder, large: RnnEncoder, length: int) -> Reading:
    """What comes back of new sentences of this length."""
    words = torch.randint(WORDS, (FITTED + ASKED, length))
    lengths = torch.full((len(words),), length)
    states = small(words, lengths).states  # [B, S, D]
    attended = attention_to_places(states)
    return Reading(
        right_from_one(states[:, -1], words),
        right_from_one(large(words, lengths).states[:, -1], words),
        right_from_each(attended, words),
    )


def look_up(length: int) -> Tensor:
    """The weights with which each place is asked for, `[S, S]`: query and keys are encodings of the places."""
    places = sinusoids(torch.arange(length), _POSITION)
    weights = attend(_SHARPNESS * places, places, score=Dot(), need_weights=True).weights
    assert weights is not None  # they were asked for
    return weights


def attention_to_places(states: Tensor) -> Tensor:
    """The context of a query for each place, `[B, S, D]`."""
    batch, length, _ = states.shape
    places = sinusoids(torch.arange(length), _POSITION).expand(batch, -1, -1)
    return attend(_SHARPNESS * places, places, states, score=Dot()).context


def right_from_one(vectors: Tensor, words: Tensor) -> Tensor:
    """A reader for each place, all from the same vector `[B, D]`: the share of new words that it gets, `[S]`."""
    wanted = F.one_hot(words, WORDS).flatten(1)  # [B, S * WORDS]
    weights = least_squares(vectors[:FITTED], wanted[:FITTED])
    guesses = (with_one(vectors[FITTED:]) @ weights).view(ASKED, -1, WORDS).argmax(-1)
    return (guesses == words[FITTED:]).double().mean(0)


def right_from_each(vectors: Tensor, words: Tensor) -> Tensor:
    """One reader for all places, of a vector for each, `[B, S, D]`: the share of new words that it gets, `[S]`."""
    wanted = F.one_hot(words, WORDS)
    weights = least_squares(vectors[:FITTED].flatten(0, 1), wanted[:FITTED].flatten(0, 1))
    guesses = (with_one(vectors[FITTED:]) @ weights).argmax(-1)
    return (guesses == words[FITTED:]).double().mean(0)


def least_squares(features: Tensor, wanted: Tensor) -> Tensor:
    """The weights `[F + 1, K]` with which features `[N, F]` and a constant come nearest to `[N, K]`."""
    features = with_one(features)
    # by the normal equations, which is the quickest; the ridge is there for states that hardly differ
    ridge = 1e-9 * len(features) * torch.eye(features.shape[-1], dtype=torch.float64)
    return torch.linalg.solve(features.T @ features + ridge, features.T @ wanted.double())


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def with_one(features: Tensor) -> Tensor:
    return F.pad(features.double(), (0, 1), value=1.0)
