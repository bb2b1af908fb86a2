"""where greedy search goes wrong, and a beam of two finds the better sentence"""

import math

import torch
from torch import Tensor

from saccade.decode import Hypothesis, Search, Trace, generate
from saccade.nets import Encoded, Searchable, Step
from saccade.show.lesson import Bars, Lesson, Table, Text
from saccade.text import END, SPECIAL, START

# After these words, what may come next, and how likely: "Es regnet." in English, as a model might have it. What goes on
# with nothing ends.
NEXT: dict[str, dict[str, float]] = {
    "": {"there": 0.5, "it": 0.4, "rain": 0.1},
    "there": {"is": 0.6, "falls": 0.4},
    "there is": {"rain": 0.4, "some": 0.3, "a": 0.3},
    "there is some": {"rain": 1.0},
    "there is a": {"shower": 1.0},
    "there falls": {"rain": 1.0},
    "it": {"rains": 0.8, "is": 0.2},
    "it is": {"raining": 0.9, "wet": 0.1},
    "rain": {"falls": 1.0},
}
WORDS = (*SPECIAL, *dict.fromkeys(word for following in NEXT.values() for word in following))
LONGEST = 6  # tokens, the end among them
BEAM = 2
MANY = 10  # beams, more than there are sentences
DRAWS = 1000


class TableDecoder(Searchable[list[str]]):
    """A decoder whose every probability stands in `NEXT`; its state is what each sequence has written."""

    def start(self, encoded: Encoded | None, *, prefix: Tensor | None = None, copies: int = 1) -> list[str]:
        assert prefix is not None  # nothing else says how many sequences there are
        written = self._read_by_steps(prefix, [""] * len(prefix))
        return [text for text in written for _ in range(copies)]

    def step(
        self, tokens: Tensor, state: list[str], *, need_weights: bool = False, best: int | None = None
    ) -> Step[list[str]]:
        written = [
            text if token == START else f"{text} {WORDS[token]}".strip()
            for text, token in zip(state, tokens.tolist(), strict=True)
        ]
        return Step(torch.tensor([_log_probs(text) for text in written]), written, None)

    def reorder(self, state: list[str], index: Tensor) -> list[str]:
        return [state[row] for row in index.tolist()]


def lesson(*, seed: int = 1) -> Lesson:
    every = search(MANY, best=MANY)
    likeliest = sorted(every, key=probability, reverse=True)
    kept = {beam: kept_by(beam) for beam in (1, BEAM)}
    steps = max(map(len, kept.values()))
    (greedy,), (better,) = search(1), search(BEAM)
    drawn = draws(seed)
    dropped = min(NEXT[""], key=lambda word: NEXT[""][word])
    return Lesson(
        "More than one way kept open",
        (
            Text(f"""
                A decoder says how likely each next word is; the probability of a sentence is the product. This one is a
                small table, so that all {len(every)} sentences it can write are known. The search is the one with
                which saccade translates.
            """),
            Bars(
                [sentence(one) for one in likeliest],
                [probability(one) for one in likeliest],
                "probability",
                caption="All that can be written",
            ),
            Table(
                ("step", "greedy keeps", f"a beam of {BEAM} keeps"),
                [
                    (str(step + 1), *(", ".join(line[step]) if step < len(line) else "" for line in kept.values()))
                    for step in range(steps)
                ],
                caption="Probabilities so far; what is finished has a full stop",
            ),
            Text(f"""
                Greedy search takes the likeliest word each time, and never comes back. It begins with
                "{sentence(greedy).split()[0]}", whose probability is then shared by many ways to go on, and ends with
                "{sentence(greedy)}" at {probability(greedy):.2f}. A beam of {BEAM} keeps the {BEAM} likeliest
                beginnings, and finds "{sentence(better)}" at {probability(better):.2f},
                {probability(better) / probability(greedy):.1f} times as likely.

                A product only falls with each word. "{dropped}" was dropped at {NEXT[""][dropped]:.2f} and could never
                have come above that, so nothing was lost by it. A real sentence of twenty words ends far below all that
                was dropped at its beginning: there a beam proves nothing, and a wider one may find better.
            """),
            Table(
                ("sentence", "words", "log probability", "score", f"of {DRAWS:,} draws"),
                [
                    (
                        sentence(one),
                        str(len(one.ids) - 1),
                        f"{one.log_prob:.2f}",
                        f"{one.score:.2f}",
                        str(drawn.get(sentence(one), 0)),
                    )
                    for one in every
                ],
                caption="Ranked by the score: log p / ((5 + length) / 6), where the length counts the end",
            ),
            Text(f"""
                Longer sentences are products of more numbers, and so less likely; the length penalty of Wu 2016 makes
                up for some of it. Who draws word by word does not search: each sentence comes as often as it is likely,
                the likeliest in {drawn.get(sentence(better), 0)} of {DRAWS:,} draws.
            """),
        ),
        paper="Sutskever 2014, Sequence to Sequence Learning with Neural Networks; Wu 2016 (length penalty)",
    )


def search(beam: int, *, best: int = 1) -> list[Hypothesis]:
    """The best sentences that a beam finds, the best first. A beam of 1 is greedy search."""
    (found,) = generate(
        TableDecoder(), None, Search(beam=beam, nbest=best), limits=[LONGEST], prefixes=[[]], names=["table"]
    )
    return found


def kept_by(beam: int) -> list[list[str]]:
    """What is kept at each step, with its probability so far."""
    trace = Trace()
    generate(TableDecoder(), None, Search(beam=beam), limits=[LONGEST], prefixes=[[]], names=["table"], trace=trace)
    (branches,) = trace.branches
    texts: list[str] = []
    steps: list[list[str]] = []
    depths: list[int] = []
    for branch in branches:
        before, depth = ("", 0) if branch.parent is None else (texts[branch.parent], depths[branch.parent] + 1)
        texts.append(before + "." if branch.token == END else f"{before} {WORDS[branch.token]}".strip())
        depths.append(depth)
        if depth == len(steps):
            steps.append([])
        steps[depth].append(f"{texts[-1]} {math.exp(branch.log_prob):.2f}")
    return steps


def draws(seed: int) -> dict[str, int]:
    """How often each sentence is drawn."""
    how = Search(sampling=True, nbest=DRAWS, seed=seed)
    (found,) = generate(TableDecoder(), None, how, limits=[LONGEST], prefixes=[[]], names=["table"])
    counts: dict[str, int] = {}
    for one in found:
        counts[sentence(one)] = counts.get(sentence(one), 0) + 1
    return counts


def sentence(one: Hypothesis) -> str:
    return " ".join(WORDS[token] for token in one.ids[:-1])


def probability(one: Hypothesis) -> float:
    return math.exp(one.log_prob)


def _log_probs(written: str) -> list[float]:
    """Of each word after what was written; minus infinity for what never comes."""
    following = NEXT.get(written, {WORDS[END]: 1.0})
    return [math.log(following[word]) if word in following else -math.inf for word in WORDS]
