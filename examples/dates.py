"""`make demo`: a small translator learns to read dates, shows what it can do, and where it looks.

An RNN with additive attention (Bahdanau 2015) reads a date as people write it in 33 locales, letter by letter, and
writes it as an ISO date. Nobody tells it where in the text the day, the month and the year stand.
"""

import io
import sys
import time
from pathlib import Path

import saccade
from saccade import Translator
from saccade.look import draw_text
from saccade.tasks.find_recipe import load_recipe
from saccade.tasks.translation.data import load_splits
from saccade.tasks.translation.dates import Dates, date_links
from saccade.tasks.translation.recipe import TranslationRecipe
from saccade.text import Pair

RUN = Path("runs") / "demo"
TYPED = [
    "Dienstag, 9. November 2027",
    "le 1er mai 1968",
    "Nov 9th, 2026",
    "the 4th of July 1976",
    "20 de julio de 1969",
    "2011年3月11日",
]
SHOWN = "le 14 juillet 1989"


def held_out_dates(count: int) -> list[Pair]:
    """Dates that stand neither in what was learnt from nor in what was validated with."""
    recipe = load_recipe("dates")
    assert isinstance(recipe, TranslationRecipe)
    splits = load_splits(recipe.data)
    seen = {pair.source for pair in (*splits.train, *splits.valid)}
    fresh: dict[str, Pair] = {}
    number = 0
    while len(fresh) < count:
        pair = Dates(seed=1).pair(number)
        number += 1
        if pair.source not in seen:
            fresh[pair.source] = pair
    return list(fresh.values())


def digits_at_home(translator: Translator, pairs: list[Pair]) -> tuple[int, int]:
    """Of the digits that stand in a date and in its answer, how many looked most at themselves; and how many there are.

    The answers are given, so that a date that is read wrongly counts like any other.
    """
    decodings = translator.score([pair.source for pair in pairs], [pair.target for pair in pairs])
    looked = [translator.maps(decoding)[0].matrix().argmax(1) for decoding in decodings]
    links = [
        (chosen[target], source)
        for chosen, pair in zip(looked, pairs, strict=True)
        for source, target in date_links(pair)
    ]
    return sum(int(chosen == source) for chosen, source in links), len(links)


def main() -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # a terminal of another encoding would choke on the shades
    print("saccade: a translator learns to read dates. It is the recipe `dates`, trained in", RUN)
    print("(stop it whenever you like: the next `make demo` goes on where it was)\n", flush=True)
    began = time.perf_counter()
    saccade.train("dates", run=RUN)
    print(f"\nTrained in {time.perf_counter() - began:.0f} s.")

    translator = saccade.load(RUN / "model", Translator)
    pairs = held_out_dates(1000)
    found = translator.translate([pair.source for pair in pairs], beam=1)
    right = sum(translation.text == pair.target for translation, pair in zip(found, pairs, strict=True))
    print(f"{right} of {len(pairs)} held-out dates read exactly right.\n")
    for typed, translation in zip(TYPED, translator.translate(TYPED, beam=5), strict=True):
        print(f"    {typed:<28} {translation.text}")

    at_home, digits = digits_at_home(translator, pairs)
    print(f"\n{at_home} of {digits} digits that both sides write looked most at their own.")
    (shown,) = translator.translate([SHOWN], beam=5, attention=True)
    assert shown.attention is not None
    print(f"Where it looked (down: what it wrote, across: {SHOWN!r}, END: end of the text)\n")
    columns = [{" ": "_", "</s>": "E"}.get(word, word) for word in shown.source_words]
    print(draw_text(shown.attention[0, 0], [word.replace("</s>", "END") for word in shown.target_words], columns))
    print(f"""
What to run next (the commands are in .venv/bin):

    echo "3. Mai 2031" | saccade translate {RUN / "model"} --json
    saccade look {RUN / "model"} "3. Mai 2031" --html map.html    # a page to look around in
    saccade recipe list                                     # other models
    saccade train rnn data.train.source=A data.train.target=B --run DIR    # your own two files""")


if __name__ == "__main__":
    main()
