"""One call for each sentence against one call for all of them: `python -m bench.serving --model DIR --source FILE`.

What is derived from weights belongs to a loaded model, so that a call costs no more by itself than among others. One
JSON line a precision: the time of a sentence in each way, in milliseconds, and their ratio, the median of the turns.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

import saccade
from saccade.base.files import read_lines
from saccade.runtime.prepared import PRECISIONS, Precision


def main() -> None:
    parser = argparse.ArgumentParser(description="What a call by itself costs beside one among many.")
    parser.add_argument("--model", type=Path, required=True, help="a translator's folder")
    parser.add_argument("--source", type=Path, required=True, help="sentences, one a line")
    parser.add_argument("--sentences", type=int, default=200, metavar="N", help="the first so many of them (200)")
    parser.add_argument("--beam", type=int, default=5, metavar="N", help="hypotheses kept (5)")
    parser.add_argument("--turns", type=int, default=5, help="of each way, after one to warm up (5)")
    chosen = parser.parse_args()
    translator = saccade.load(chosen.model, saccade.Translator)
    sentences = [line for line in read_lines(chosen.source) if line.strip()][: chosen.sentences]

    def seconds(calls: list[list[str]], precision: Precision) -> float:
        began = time.perf_counter()
        for call in calls:
            translator.translate(call, beam=chosen.beam, batch_size=1, precision=precision)
        return 1000 * (time.perf_counter() - began) / len(sentences)

    for precision in PRECISIONS:
        ways = [[sentence] for sentence in sentences], [sentences]
        times = [[seconds(way, precision) for way in ways] for _ in range(chosen.turns + 1)][1:]
        alone, among = (round(statistics.median(column), 2) for column in zip(*times, strict=True))
        ratio = round(statistics.median(one / other for one, other in times), 3)
        print(json.dumps({"precision": precision, "alone": alone, "among_others": among, "ratio": ratio}), flush=True)


if __name__ == "__main__":
    main()
