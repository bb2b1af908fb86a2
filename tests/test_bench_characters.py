"""The kinds of characters that `bench.char_rnn` tells apart, on a text where each can be pointed at."""

import pytest

from bench.characters import kinds_of

TEXT = """ROMEO:
O, she doth teach the torches!

JULIET:
The 'torches,' he said (the torches)."""


@pytest.mark.parametrize(
    ("kind", "characters"),
    [
        ("first letter", "ROsdtttJTthstt"),
        ("second letter", "OhoehoUhoeaho"),
        ("later letters", "MEOethacherchesLIETerchesiderches"),
        ("name of a speaker", "OMEOULIET"),
        ("closing mark", "')"),
        ("line's end", "\n\n\n\n"),
        ("of a word nearby", "orchesorcheshe"),
    ],
)
def test_each_kind_has_its_characters(kind: str, characters: str) -> None:
    found = "".join(letter for letter, here in zip(TEXT, kinds_of(TEXT)[kind], strict=True) if here)
    assert sorted(found) == sorted(characters), found
