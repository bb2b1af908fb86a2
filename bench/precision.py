"""What the ways to multiply cost a trained translator, and gain.

    python -m bench.precision --model RUN/model --source FILE

Three ways take turns: `exact`, every product in float32; `float32`, as it is by default, with an output layer whose
likeliest words are proposed by 16-bit numbers (`saccade/runtime/shortlist.py`); and `int8`. One JSON line a beam: how
many translations are the same text as the exact one's, by how much the scores of these differ, and how many times as
fast as the exact one each is (the median of turns).
"""

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import torch

import saccade
from saccade.base.errors import InputError
from saccade.base.files import read_lines
from saccade.runtime.prepared import Precision
from saccade.tasks.translation.model import Translator
from saccade.tasks.translation.result import Translation

WAYS: tuple[Precision, ...] = ("exact", "float32", "int8")


def main() -> None:
    parser = argparse.ArgumentParser(description="What the ways to multiply cost a translator, and gain.")
    parser.add_argument("--model", type=Path, required=True, help="a translator's folder")
    parser.add_argument("--source", type=Path, required=True, help="sentences, one a line")
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 5], help="how wide to search (1 5)")
    parser.add_argument("--turns", type=int, default=3, help="of each way (3)")
    parser.add_argument("--threads", type=int, default=2, help="(2)")
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    try:
        translator, sentences = saccade.load(chosen.model), read_lines(chosen.source)
        if not isinstance(translator, Translator):
            parser.error(f"{chosen.model}: not a translator")
        if not any(sentences):
            parser.error(f"{chosen.source}: no sentences in it")
        for beam in chosen.beams:
            print(json.dumps({"beam": beam, **compare(translator, sentences, beam, turns=chosen.turns)}), flush=True)
    except InputError as error:
        parser.error(str(error))


def compare(translator: Translator, sentences: list[str], beam: int, *, turns: int) -> dict[str, Any]:
    found: dict[str, list[Translation]] = {}
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    for _ in range(turns):
        for way in WAYS:
            began = time.perf_counter()
            found[way] = translator.translate(sentences, beam=beam, precision=way)
            seconds[way].append(time.perf_counter() - began)
    results: dict[str, Any] = {"sentences": len(sentences)}
    for way in WAYS[1:]:
        pairs = zip(found["exact"], found[way], strict=True)
        differences = [abs(one.score - other.score) for one, other in pairs if one.text == other.text]
        ratios = [exact / other for exact, other in zip(seconds["exact"], seconds[way], strict=True)]
        results[way] = {
            "same_text": len(differences),
            "mean_score_difference": statistics.fmean(differences) if differences else None,
            "largest_score_difference": max(differences, default=None),
            "times_as_fast": round(statistics.median(ratios), 2),
        }
    return results


if __name__ == "__main__":
    main()
