"""What int8 gains a search: `python -m bench.int8 [MODEL ...]`. It needs no data: pairs are of random tokens.

The weights are random, and every output has 16 tokens. One JSON line a model, batch and beam: sentences/s with
`--precision int8` and without, the median of the turns, and how many times as fast int8 is.
"""

import argparse
import json
import tempfile
from pathlib import Path

from bench.before import LENGTH, random_pairs
from bench.race import Case, Side, job, race

SIDES = (Side("saccade", precision="int8"), Side("saccade"))
# how many sentences are decoded in a turn, by batch and beam
SENTENCES: dict[str, dict[tuple[int, int], int]] = {
    "transformer": {(1, 1): 60, (1, 5): 40, (64, 1): 512, (64, 5): 256},
    "transformer-base": {(1, 1): 10, (1, 5): 8, (64, 1): 128, (64, 5): 64},
    "rnn-fed": {(1, 1): 40, (1, 5): 20, (64, 1): 256, (64, 5): 128},
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Searches in int8 and in float32.")
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"all, or some of: {', '.join(SENTENCES)}")
    parser.add_argument("--turns", type=int, default=5, help="of each side, after one to warm up (5)")
    parser.add_argument("--threads", type=int, default=2, help="of each side (2)")
    chosen = parser.parse_args()
    unknown = set(chosen.models) - SENTENCES.keys()
    if unknown:
        parser.error(f"no such model: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as folder:
        pairs = Path(folder) / "pairs.json"
        pairs.write_text(json.dumps(random_pairs()))
        for model in chosen.models or SENTENCES:
            for (batch, beam), sentences in SENTENCES[model].items():
                sizes = {"model": model, "batch": batch, "beam": beam, "sentences": sentences, "length": LENGTH}
                work = job(task="decode", **sizes, pairs=str(pairs), threads=chosen.threads)
                line = race(Case(f"{model}-{batch}-{beam}", work, SIDES), turns=chosen.turns)
                int8, float32 = line["rate"].values()
                gain = line["times_as_fast"][SIDES[1].name]
                record = {"model": model, "batch": batch, "beam": beam, "unit": line["unit"]}
                print(json.dumps({**record, "int8": int8, "float32": float32, "gain": gain}), flush=True)


if __name__ == "__main__":
    main()
