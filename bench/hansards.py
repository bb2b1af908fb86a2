"""The Hansards, made ready to align: `python -m bench.hansards --data DIR --out DIR`.

The 447 test pairs are tokenised and their French is split ("de le 29 avril"), while the 35,689 pairs to train on are
raw text without accents. This brings both to one form: lower case, no accents, marks apart from words, and French
articles and pronouns apart from what they are run together with. The test pairs' words stay as many as they were, so
that the gold links fit. As aligners do, the test pairs are learnt from, too, without their links.

Writes train.en, train.fr, valid.en, valid.fr, test.en and test.fr.
"""

import argparse
import re
import unicodedata
from pathlib import Path

from saccade.base.files import read_lines, write_file

_HELD_OUT = 500  # pairs to validate with, from the end

# What French runs together, apart.
_APART = {"au": "a le", "aux": "a les", "du": "de le", "des": "de les", "l'": "le", "d'": "de", "n'": "ne", "c'": "ce"}
_APART |= {"j'": "je", "qu'": "que", "s'": "se", "m'": "me", "t'": "te"}


def plain(text: str) -> str:
    """Lower case, without accents."""
    letters = unicodedata.normalize("NFD", text.lower())
    return unicodedata.normalize("NFC", "".join(letter for letter in letters if not unicodedata.combining(letter)))


def english(text: str) -> str:
    words: list[str] = re.findall(r"\d+(?:[.,]\d+)*|(?:mrs?|ms|dr|st|hon)\.|[a-z]+|'s\b|\S", plain(text))
    return " ".join(words)


def french(text: str) -> str:
    words: list[str] = re.findall(r"\d+(?:[.,]\d+)*|(?:qu|[ldncjsmt])'|[a-z]+'?|\S", plain(text))
    return " ".join(_APART.get(word, word) for word in words)


def write(path: Path, lines: list[str]) -> None:
    write_file(path, "".join(f"{line}\n" for line in lines).encode())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="where hansards.en and its kin are")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where to write")
    chosen = parser.parse_args()
    table = [line.split("\t") for line in read_lines(chosen.data / "hansards_train.en-fr.tsv")]
    pairs = [(english(pair[0]), french(pair[1])) for pair in table if len(pair) == 2 and all(pair)]
    test = list(
        zip(
            *([plain(line) for line in read_lines(chosen.data / f"hansards.{side}")] for side in ("en", "fr")),
            strict=True,
        )
    )
    parts = {"train": [*pairs[:-_HELD_OUT], *test], "valid": pairs[-_HELD_OUT:], "test": test}
    for name, part in parts.items():
        for index, side in enumerate(("en", "fr")):
            write(chosen.out / f"{name}.{side}", [pair[index] for pair in part])
        print(f"{chosen.out / name}: {len(part)} pairs")


if __name__ == "__main__":
    main()
