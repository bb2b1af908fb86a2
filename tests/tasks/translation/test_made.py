"""Corpora that the package makes: exact, unambiguous, and the same everywhere."""

import datetime as dt
import re
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from saccade.base.errors import InputError
from saccade.tasks.translation.dates import DATE_LOCALES, Dates, date_links, date_patterns, write_date
from saccade.tasks.translation.made import Corpus, split_corpus, write_splits
from saccade.tasks.translation.numbers import NUMBER_LANGUAGES, Numbers, in_words
from saccade.text import Pair, write_pairs


def test_dates_as_people_write_them() -> None:
    day = dt.date(2026, 11, 9)
    written = {write_date(day, locale, pattern) for locale in DATE_LOCALES for pattern in date_patterns(locale)}
    for wanted in (
        "Montag, 9. November 2026",
        "le 9 novembre 2026",
        "Nov 9th, 2026",
        "the 9th of November 2026",
        "9 de noviembre de 2026",
        "2026年11月9日",
        "9 ноября 2026 г.",
    ):
        assert wanted in written
    assert "09.11.2026" not in written
    assert len(DATE_LOCALES) > 20


def test_ordinals() -> None:
    wanted = {
        1: "1st",
        2: "2nd",
        3: "3rd",
        4: "4th",
        11: "11th",
        12: "12th",
        13: "13th",
        21: "21st",
        22: "22nd",
        31: "31st",
    }
    for day, text in wanted.items():
        assert write_date(dt.date(2026, 1, day), "en_US", "MMM {ordinal}, y") == f"Jan {text}, 2026"
    assert write_date(dt.date(2026, 5, 1), "fr", "'le' {ordinal} MMMM y") == "le 1er mai 2026"


def test_every_form_can_be_read_in_one_way_only() -> None:
    """No two days of a leap year look alike, in any two locales, to a reader who ignores case and punctuation."""
    meaning: dict[str, dt.date] = {}
    for locale in DATE_LOCALES:
        for pattern in date_patterns(locale):
            for number in range(366):
                day = dt.date(2028, 1, 1) + dt.timedelta(days=number)
                text = unicodedata.normalize("NFKC", write_date(day, locale, pattern)).casefold()
                plain = " ".join(re.findall(r"\w+", text))
                assert meaning.setdefault(plain, day) == day, f"{plain!r} ({locale}) means {day} and {meaning[plain]}"
    assert len(set(meaning.values())) == 366


def test_a_pattern_with_two_readings_is_refused() -> None:
    assert "d/M/y" not in date_patterns("fr")
    assert all(pattern != "dd.MM.y" for pattern in date_patterns("de"))


@pytest.mark.parametrize("locale", DATE_LOCALES)
def test_answers_are_exact(locale: str) -> None:
    """The day and the year of the answer stand in the source, as far as it writes digits."""
    corpus = Dates(3, locales=(locale,))
    for index in range(50):
        pair = corpus.pair(index)
        day = dt.date.fromisoformat(pair.target)
        digits = [int(number) for number in re.findall(r"\d+", pair.source)]
        assert day.year in digits
        assert day.day in digits


def test_numbers_by_their_own_rules() -> None:
    assert in_words(42, "en") == "forty-two"
    assert in_words(91, "fr") == "quatre-vingt-onze"
    assert in_words(21, "de") == "einundzwanzig"
    words = {in_words(number, language): number for language in ("en", "fr", "de", "es") for number in range(1000)}
    for source, target in (("en", "fr"), ("de", "es")):
        corpus = Numbers(1, source=source, target=target, max_number=999)
        for index in range(200):
            pair = corpus.pair(index)
            assert words[pair.source] == words[pair.target]


@pytest.mark.parametrize("language", NUMBER_LANGUAGES)
def test_each_number_has_words_of_its_own(language: str) -> None:
    numbers = [*range(1100), *range(1100, 10**6, 9973), *range(10**6, 10**9, 99999989), 10**9 - 1]
    words = [in_words(number, language) for number in numbers]
    assert all(words)
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("make", [Dates, Numbers])
def test_a_seed_is_a_promise(make: type[Dates] | type[Numbers]) -> None:
    first, again, other = ([make(seed).pair(index) for index in range(40)] for seed in (5, 5, 6))
    assert first == again
    assert first != other
    assert make(5).pair(17) == first[17]


def test_the_promise_holds_on_other_machines() -> None:
    assert Dates(0).pair(0) == Pair("il 13 marzo 1985", "1985-03-13")
    assert Numbers(0).pair(0) == Pair(
        "five hundred and twenty-two thousand, one hundred and three", "cinq cent vingt-deux mille cent trois"
    )


def test_splits_share_no_source() -> None:
    splits = split_corpus(Dates(1), {"train": 300, "valid": 40, "test": 50})
    assert {name: len(pairs) for name, pairs in splits.items()} == {"train": 300, "valid": 40, "test": 50}
    sources = [pair.source for pairs in splits.values() for pair in pairs]
    assert len(set(sources)) == len(sources)


def test_a_corpus_that_is_too_small_says_so() -> None:
    with pytest.raises(InputError, match="hardly more than 10 different pairs; ask for fewer than 20"):
        split_corpus(Numbers(max_number=9), {"train": 20})


def test_files_are_whole_or_not_there(tmp_path: Path) -> None:
    def half() -> Iterator[Pair]:
        yield Pair("c", "d")
        raise RuntimeError("the power is gone")

    path = tmp_path / "train.tsv"
    write_pairs(path, [Pair("a", "b")])
    assert path.read_text() == "source\ttarget\na\tb\n"
    with pytest.raises(RuntimeError, match="power"):
        write_pairs(path, half())
    assert path.read_text() == "source\ttarget\na\tb\n"
    assert list(tmp_path.iterdir()) == [path]


def test_what_stands_there_is_not_overwritten(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "yet" / "there"
    splits = {"train": [Pair("a", "b")]}
    write_splits(splits, folder)
    (folder / "valid.tsv").write_text("mine\n")
    with pytest.raises(InputError, match="stands there already"):
        write_splits(splits, folder)
    write_splits({"train": [Pair("c", "d")]}, folder, overwrite=True)
    assert (folder / "train.tsv").read_text().endswith("c\td\n")
    assert (folder / "valid.tsv").read_text() == "mine\n"
    assert len(list(folder.iterdir())) == 2


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"file cannot be made: File exists; choose another place"):
        write_splits({"train": [Pair("a", "b")]}, tmp_path / "file")
    with pytest.raises(InputError, match=r"train\.tsv cannot be written: there is no folder"):
        write_pairs(tmp_path / "nowhere" / "train.tsv", [Pair("a", "b")])
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Dates(locales=("de", "xx")), "locales: found xx, wanted some of bg"),
        (lambda: Dates(locales=()), "locales: found none"),
        (lambda: Numbers(source="tlh"), "source: found 'tlh', wanted one of"),
        (lambda: Numbers(target="klingon"), "target: found 'klingon'"),
        (lambda: Numbers(max_number=0), "max_number: found 0"),
    ],
)
def test_bad_arguments(make: Callable[[], Corpus], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        make()


def test_the_digits_that_belong_together() -> None:
    for source, target, wanted in (
        ("le 9 mai 2026", "2026-05-09", [(3, 9), (9, 0), (10, 1), (11, 2), (12, 3)]),
        ("2011年3月11日", "2011-03-11", [(0, 0), (1, 1), (2, 2), (3, 3), (5, 6), (7, 8), (8, 9)]),
        ("2026-08-08", "2026-08-08", [(index, index) for index in range(10) if index not in {4, 7}]),
        ("8 thg 8, 2051", "2051-08-08", [(0, 9), (6, 6), (9, 0), (10, 1), (11, 2), (12, 3)]),
    ):
        assert date_links(Pair(source, target)) == wanted
    with pytest.raises(ValueError, match="found 7 in '7 mai 2026', wanted 09"):
        date_links(Pair("7 mai 2026", "2026-05-09"))


def test_digits_that_belong_together_are_the_same() -> None:
    for number in range(2000):
        pair = Dates(3).pair(number)
        links = date_links(pair)
        assert len(links) >= 5
        assert all(pair.source[source] == pair.target[target] for source, target in links)
