"""English words without their endings: the stemmer of Porter 1980, with the changes that NLTK's has.

ROUGE is often given of stems, and the package that most use, rouge-score, takes NLTK's. That one departs from the paper
in a few words (`sky`, `dying`), in short words (`dies` -> `die`), in `y` behind a vowel (`enjoy` stays), and in some
endings of step 2.
"""

from functools import lru_cache


def _table(text: str) -> dict[str, str]:
    """`sses>ss s>` as what each becomes."""
    pairs = (entry.partition(">") for entry in text.split())
    return {before: after for before, _, after in pairs}


_IRREGULAR = _table(
    "sky>sky skies>sky dying>die lying>lie tying>tie news>news howe>howe inning>inning innings>inning outing>outing"
    " outings>outing canning>canning cannings>canning proceed>proceed exceed>exceed succeed>succeed"
)

# What an ending becomes. Only the first that fits is looked at, so a longer one stands before its own end.
_PLURALS = _table("sses>ss ies>i ss>ss s>")
_DOUBLE_ENDINGS = _table(
    "ational>ate tional>tion enci>ence anci>ance izer>ize bli>ble alli>al entli>ent eli>e ousli>ous ization>ize"
    " ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous aliti>al iviti>ive biliti>ble fulli>ful"
)
_ENDINGS = _table("icate>ic ative> alize>al iciti>ic ical>ic ful> ness>")
_LAST_ENDINGS = _table("al> ance> ence> er> ic> able> ible> ant> ement> ment> ent> ou> ism> ate> iti> ous> ive> ize>")


@lru_cache(maxsize=2**16)
def stem(word: str) -> str:
    """The stem of a word in small letters; its shortest form is not always a word: `happy` -> `happi`."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _without_past(_without_plural(word))
    if word.endswith("y") and len(word) > 2 and _pattern(word)[-2] == "c":
        word = word[:-1] + "i"
    word = _shortened(_simplified(word), _ENDINGS, more_than=0)
    if word.endswith("ion"):
        word = word[:-3] if word[-4:-3] in {"s", "t"} and _measure(word[:-3]) > 1 else word
    else:
        word = _shortened(word, _LAST_ENDINGS, more_than=1)
    return _tidied(word)


def _pattern(word: str) -> str:
    """`v` for each vowel and `c` for each consonant; y is a vowel behind a consonant."""
    signs: list[str] = []
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and signs[-1:] == ["c"])
        signs.append("v" if vowel else "c")
    return "".join(signs)


def _measure(stem: str) -> int:
    """The m of [C](VC)^m[V]: how often consonants follow vowels."""
    return _pattern(stem).count("vc")


def _is_short(stem: str) -> bool:
    """Whether it ends as `hop` does (the paper's *o), where an e was dropped: `hoping` -> `hop` -> `hope`."""
    pattern = _pattern(stem)
    return pattern == "vc" or (pattern.endswith("cvc") and stem[-1] not in "wxy")


def _shortened(word: str, endings: dict[str, str], *, more_than: int) -> str:
    """The word with the first ending that it has replaced, if enough stands before it."""
    for ending, other in endings.items():
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest + other if _measure(rest) > more_than else word
    return word


def _without_plural(word: str) -> str:
    """Step 1a: caresses -> caress, ponies -> poni, dies -> die."""
    if len(word) == 4 and word.endswith("ies"):
        return word[:-1]
    return _shortened(word, _PLURALS, more_than=-1)


def _without_past(word: str) -> str:
    """Step 1b: agreed -> agree, plastered -> plaster, motoring -> motor, hopping -> hop, filing -> file."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    rest = word.removesuffix("ed") if word.endswith("ed") else word.removesuffix("ing")
    if rest == word or "v" not in _pattern(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if rest[-1] == rest[-2:-1] and _pattern(rest)[-1] == "c":
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _is_short(rest) else rest


def _simplified(word: str) -> str:
    """Step 2: relational -> relate, geologi -> geolog."""
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _simplified(word[:-2])
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) > 0 else word  # the l counts to what stands before
    return _shortened(word, _DOUBLE_ENDINGS, more_than=0)


def _tidied(word: str) -> str:
    """Step 5: probate -> probat, rate, controll -> control."""
    if word.endswith("e"):
        rest = word[:-1]
        word = rest if _measure(rest) > 1 or (_measure(rest) == 1 and not _is_short(rest)) else word
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
