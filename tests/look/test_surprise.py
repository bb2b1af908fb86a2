"""A text with its surprise: in the terminal, as a figure, and what it takes and refuses."""

from pathlib import Path

import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from rich.cells import cell_len
from rich.console import Console

from saccade.base.errors import InputError
from saccade.look import ScoredTokens, draw_surprise, draw_surprise_figure, page_data, save_page, save_surprise
from saccade.look.surprise import LEVEL_NAMES
from tests.look.test_maps import STRANGE, random_map
from tests.look.test_page import data_of

# each edge, and what is just below it
BITS = [0.0, 0.999, 1.0, 1.999, 2.0, 3.999, 4.0, 7.999, 8.0, 31.5]
LEVELS = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_the_levels_end_where_they_say() -> None:
    scored = ScoredTokens(list("abcdefghij"), BITS, "text")  # pyright: ignore[reportArgumentType]
    assert scored.levels.tolist() == LEVELS
    assert scored.mean == pytest.approx(sum(BITS) / 10)
    assert scored.record() == {"tokens": list("abcdefghij"), "bits": pytest.approx(BITS)}
    assert not scored.bits.flags.writeable


def test_bits_of_a_tensor_with_rounding() -> None:
    scored = ScoredTokens(["a", "b"], torch.tensor([-1e-6, 2.5]).bfloat16())  # pyright: ignore[reportArgumentType]
    assert scored.bits.tolist() == [0.0, 2.5]


@pytest.mark.parametrize(
    ("tokens", "bits", "message"),
    [
        ("ab", [1, 2], "tokens: found one text, wanted a list"),
        ([], [], "tokens: found no labels"),
        (["a", "b"], [1], r"bits: found shape \[1\], wanted \[2\]"),
        (["a", "b"], [1, np.nan], "bits: found nan at index 1"),
        (["a", "b"], [-0.5, 1], "bits: found -0.5 at index 0"),
        (["a"], [np.inf], "bits: found inf at index 0"),
        (["a"], ["x"], "bits: found something that is not an array"),
    ],
)
def test_what_is_refused(tokens: list[str], bits: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ScoredTokens(tokens, bits)  # pyright: ignore[reportArgumentType]


def test_without_colours_the_bits_stand_below() -> None:
    tokens = ["The ", "dog", "\n", "", "\t", " ran", "."]
    scored = ScoredTokens(tokens, [0.2, 3.6, 1.0, 2.0, 4.0, 15.0, 0.0])  # pyright: ignore[reportArgumentType]
    assert draw_surprise(scored, colour=False).plain.splitlines() == [
        "The dog⏎",
        "0   4  1",
        "·⇥ ran.",
        "249   0",
        "",
        "bits a token, 9 for 9 or more",
        "3.69 bits a token in the mean",
    ]


def test_in_colour_each_token_has_that_of_its_level() -> None:
    text = draw_surprise(ScoredTokens(list("abcdefghij"), BITS))  # pyright: ignore[reportArgumentType]
    line, _, legend, mean = text.split("\n")
    assert (line.plain, mean.plain) == ("abcdefghij", "6.15 bits a token in the mean")
    assert legend.plain == "bits a token:  under 1   1 to 2   2 to 4   4 to 8   8 or more "
    papers = [line.get_style_at_offset(Console(), index).bgcolor for index in range(10)]
    assert [papers.index(paper) for paper in papers] == [0, 0, 2, 2, 4, 4, 6, 6, 8, 8]
    assert papers[0] is None
    # the legend says of each what it is
    shown = [legend.get_style_at_offset(Console(), legend.plain.index(name)).bgcolor for name in LEVEL_NAMES]
    assert shown == papers[::2]


def test_lines_break_after_spaces_and_in_long_words() -> None:
    text = "To be, or not to be, Donaudampfschifffahrtsgesellschaft it is\n"
    for tokens in (list(text), text.replace(" ", " |").split("|"), text.replace(" ", "| ").split("|")):
        scored = ScoredTokens(tokens, np.ones(len(tokens)))
        lines = draw_surprise(scored, width=21, colour=True).plain.splitlines()[:-3]
        assert "".join(lines) == text.replace("\n", "⏎")
        assert max(map(cell_len, lines)) <= 21
        assert lines[0].strip() == "To be, or not to be,"
        with_digits = draw_surprise(scored, width=21, colour=False).plain.splitlines()[:-3]
        assert sum(line.count("1") for line in with_digits[1::2]) == len(tokens)
    with pytest.raises(InputError, match="width: found 19, wanted at least 20"):
        draw_surprise(ScoredTokens(["a"], np.ones(1)), width=19)


def test_wide_and_strange_letters_keep_their_cells() -> None:
    tokens = ["日本語", "\xa0", *STRANGE]
    text = draw_surprise(ScoredTokens(tokens, np.full(len(tokens), 3.0)), colour=False).plain
    text.encode()
    assert all(letter.isprintable() for letter in text.replace("\n", ""))
    first, below, *_ = text.splitlines()
    assert (cell_len(first[:4]), below[:8]) == (7, "3     33")


def test_a_figure_has_a_box_for_each_token_that_surprises(tmp_path: Path) -> None:
    scored = ScoredTokens(list("abcdefghij"), BITS, "ten")  # pyright: ignore[reportArgumentType]
    (axes,) = draw_surprise_figure(scored).axes
    boxes = {box.get_gid(): box for box in axes.patches if isinstance(box, Rectangle) and box.get_gid()}
    assert set(boxes) == {f"text-0-token-{index}" for index, level in enumerate(LEVELS) if level}
    assert [boxes[f"text-0-token-{index}"].get_x() for index in (2, 9)] == [2, 9]
    light = [sum(to_rgb(boxes[f"text-0-token-{index}"].get_facecolor())) for index in (2, 4, 6, 8)]
    assert light == sorted(light, reverse=True)
    words = [text.get_text() for text in axes.texts]
    assert {"ten", *"abcdefghij", "bits a token:", " 8 or more "} <= set(words)
    for name, start in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF")):
        save_surprise(tmp_path / name, [scored, scored])
        assert (tmp_path / name).read_bytes().startswith(start)
    assert 'id="text-1-token-9"' in (tmp_path / "a.svg").read_text()
    (untitled,) = draw_surprise_figure(scored, title="").axes
    assert "ten" not in [text.get_text() for text in untitled.texts]


def test_what_fits_into_no_figure(tmp_path: Path) -> None:
    long = ScoredTokens(["a\n"] * 300, np.ones(300))
    with pytest.raises(InputError, match="found 303 lines, wanted at most 200"):
        save_surprise(tmp_path / "a.png", long)
    with pytest.raises(InputError, match="scored: found none"):
        draw_surprise_figure([])


def test_a_page_of_plain_arrays(tmp_path: Path) -> None:
    scored, seen = ScoredTokens(["a", "\n", ""], np.array([0.5, 9.0, 3.0]), "text"), random_map()
    save_page(tmp_path / "page.html", scored)
    (panel,) = data_of((tmp_path / "page.html").read_text())["panels"]  # pyright: ignore[reportGeneralTypeIssues]
    assert (panel["title"], panel["maps"], panel["surprise"]["tokens"]) == ("text", [], ["a", "\n", "·"])
    assert panel["surprise"]["levels"] == [0, 4, 2]
    (both,) = page_data([seen, scored])["panels"]
    assert (len(both["maps"]), both["surprise"]["mean"]) == (1, pytest.approx(12.5 / 3))
    assert [len(one["maps"]) for one in page_data([seen, scored, scored])["panels"]] == [1, 0]
    assert scored._repr_html_().startswith("<iframe")
