"""every score of the library on the same query and keys, with its formula"""

import inspect

import torch
from torch import Tensor

from saccade.attention import SCORES, Score, StatefulScore, attend, make_score
from saccade.show.lesson import Lesson, Matrix, Table, Text

WORDS = ("a", "dog", "runs", "through", "snow")
SIZE = 16  # of queries and keys


def lesson(*, seed: int = 1) -> Lesson:
    torch.manual_seed(seed)
    query, key = make_items()
    scores = {name: make_score(name, SIZE, SIZE) for name in SCORES}
    weights = {name: weights_of(score, query, key) for name, score in scores.items()}
    stateful = [name for name, score in scores.items() if isinstance(score, StatefulScore)]
    favourite = {name: WORDS[int(row.argmax())] for name, row in weights.items()}
    return Lesson(
        "How well does a key fit a query?",
        (
            Text(
                "A score says in a number how well each key fits a query, and a softmax makes weights of the numbers."
                " Here one query looks at five keys. It points where the key of 'runs' points. The key of 'snow' points"
                " there in part, and is three times as long. The others are at right angles to it."
            ),
            Table(
                ("score", "formula"),
                [
                    (name if first else "", line)
                    for name, score in scores.items()
                    for first, line in zip((True, False), formula_of(score), strict=False)
                ],
            ),
            Matrix(torch.stack(list(weights.values())).numpy(), tuple(weights), WORDS, caption="The weights"),
            Text(
                f"The cosine knows directions alone: it looks at {favourite['cosine']!r} most, with"
                f" {weights['cosine'].max():.2f}, and not more, as no cosine is above 1; so its sharpness β is learned."
                f" To the dot product a long key fits well: {favourite['dot']!r} has {weights['dot'].max():.2f} of the"
                f" weight, and {weights['scaled-dot'].max():.2f} after the division by √d. The others have parameters,"
                " which are fresh here, so that what they look at means nothing yet: they have to be trained."
            ),
            Text(
                "The query was asked twice, and these are the weights of the second time. That matters to the scores"
                f" which see where was looked before: {', '.join(stateful)}."
            ),
        ),
        paper="Graves 2014 (cosine), Bahdanau 2015 (additive), Luong 2015 (dot, general, location), Yang 2016 (static),"
        " Chorowski 2015 (location-aware), See 2017 (coverage), Vaswani 2017 (scaled-dot)",
    )


def make_items() -> tuple[Tensor, Tensor]:
    """A query `[1, 2, SIZE]`, twice, and keys `[1, 5, SIZE]` of length 4 and, of the last, 12."""
    directions = torch.linalg.qr(torch.randn(SIZE, SIZE)).Q[:, : len(WORDS)].T.clone()  # at right angles
    runs = directions[2].clone()
    directions[4] = 3 * (0.6 * runs + 0.8 * directions[4])
    return 4 * runs.expand(1, 2, SIZE), 4 * directions[None]


@torch.no_grad()
def weights_of(score: Score, query: Tensor, key: Tensor) -> Tensor:
    """What the last query gives to each key, `[S]`."""
    output = attend(query, key, score=score, need_weights=True)
    assert output.weights is not None
    return output.weights[0, -1]


def formula_of(score: Score) -> list[str]:
    """What the score's docstring says behind `e[t, s] =`, and what of it is explained there; without the shapes."""
    lines = (line.strip() for line in (inspect.getdoc(score) or "").splitlines())
    formula = next((line for line in lines if line.startswith("e[t, s] =")), "")
    parts = (part.strip().removesuffix(",") for part in formula.split("    "))
    return [part for part in parts if part and not part.startswith("[")]
