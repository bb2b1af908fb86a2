"""Hard and local attention beside soft, over longer and longer sources: `python -m bench.hard [CASE ...]`.

A case is one step of decoding, with the keys prepared once and no weights asked for: of the attention alone, by a score
that is a dot product or by the additive one, or of a whole recurrent decoder. All weightings and all lengths take turns
in one process. One JSON line a case and a weighting:

    case, weighting     what is measured
    path                the way that saccade takes at the most keys
    keys                how many there are
    milliseconds        of a step, the median of the turns, for each of these numbers
    growth              the last of them / the first: 1 is flat
    times_as_fast       soft's milliseconds / these, at the most keys

What can be flat: local attention knows its window before any score, so that nothing of a step is as long as the keys.
Hard attention has to score all keys to choose one; of its step, only the way from the choice to the context is flat.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from saccade.attention import Attention, State, attention_path, make_score, make_weighting, padding_mask
from saccade.nets import Encoded, RnnDecoder
from saccade.nets.context import AttentionContext

WEIGHTINGS = ("soft", "hard", "local-m", "local-p")
LENGTHS = (1000, 4000, 16_000, 64_000)
CASES = ("attention general", "attention additive", "decoder general")
SECONDS = 0.05  # of a turn, about

Step = Callable[[], object]


class Sequence(NamedTuple):
    """What is looked at, and by what."""

    states: Tensor  # [1, S, D]
    mask: Tensor  # [1, 1, S]
    query: Tensor  # [1, 1, D]


def sequence(keys: int, dim: int) -> Sequence:
    torch.manual_seed(keys)
    return Sequence(torch.randn(1, keys, dim), padding_mask(torch.tensor([keys])), torch.randn(1, 1, dim))


def attention_step(score: str, weighting: str, seen: Sequence) -> Step:
    torch.manual_seed(1)
    dim = seen.query.shape[-1]
    layer = Attention(make_score(score, dim, dim), make_weighting(weighting, dim)).eval()
    memory = layer.remember(seen.states, mask=seen.mask)
    half_way = State(weighting=torch.tensor([seen.states.shape[1] // 2])) if weighting == "local-m" else State()
    return lambda: layer.recall(seen.query, memory, state=half_way)


def decoder_step(score: str, weighting: str, seen: Sequence) -> Step:
    torch.manual_seed(1)
    dim = seen.query.shape[-1]
    decoder = RnnDecoder(
        nn.Embedding(1000, dim),
        dim,
        context=AttentionContext(dim, score=score, weighting=weighting),
        cell="gru",
        order="luong",
        layers=1,
        input_feeding=False,
        dropout=0.0,
    ).eval()
    start = decoder.start(Encoded(seen.states, seen.mask, (seen.states[:, 0],)))
    token = torch.tensor([7])
    return lambda: decoder.step(token, start)


def step_of(case: str, weighting: str, keys: int, dim: int) -> Step:
    """The step of this case; those of all weightings look at the same."""
    part, score = case.split()
    return (attention_step if part == "attention" else decoder_step)(score, weighting, sequence(keys, dim))


def milliseconds(step: Step, seconds: float) -> float:
    """What a step takes, the mean over about so many seconds."""
    began, count = time.perf_counter(), 0
    while (passed := time.perf_counter() - began) < seconds:
        step()
        count += 1
    return 1000 * passed / count


def measure(case: str, lengths: list[int], *, dim: int, turns: int, seconds: float = SECONDS) -> list[dict[str, Any]]:
    """A line for each weighting."""
    times: dict[tuple[str, int], list[float]] = {(one, keys): [] for one in WEIGHTINGS for keys in lengths}
    with torch.inference_mode():
        for keys in lengths:
            steps = {one: step_of(case, one, keys, dim) for one in WEIGHTINGS}
            for turn in range(turns + 1):
                for one, step in steps.items():
                    found = milliseconds(step, seconds)
                    if turn:  # the first warms up
                        times[one, keys].append(found)
    medians = {place: statistics.median(found) for place, found in times.items()}
    most = lengths[-1]
    return [
        {
            "case": case,
            "weighting": one,
            "path": attention_path(
                make_score(case.split()[1], dim, dim), make_weighting(one, dim).eval(), shape=(1, 1, most)
            ),
            "keys": lengths,
            "milliseconds": [round(medians[one, keys], 3) for keys in lengths],
            "growth": round(medians[one, most] / medians[one, lengths[0]], 2),
            "times_as_fast": round(medians["soft", most] / medians[one, most], 2),
        }
        for one in WEIGHTINGS
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="Hard and local attention beside soft, by the number of keys.")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"all, or some of: {', '.join(CASES)}")
    parser.add_argument("--keys", type=int, nargs="+", default=list(LENGTHS), metavar="N", help="from few to many")
    parser.add_argument("--dim", type=int, default=256, help="of queries, keys and values (256)")
    parser.add_argument("--turns", type=int, default=9, help="of each weighting, after one to warm up (9)")
    parser.add_argument("--threads", type=int, default=2, help="(2)")
    chosen = parser.parse_args()
    unknown = set(chosen.cases) - set(CASES)
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    torch.set_num_threads(chosen.threads)
    for case in CASES:
        if not chosen.cases or case in chosen.cases:
            for line in measure(case, chosen.keys, dim=chosen.dim, turns=chosen.turns):
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
