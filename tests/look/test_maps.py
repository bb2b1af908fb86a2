"""The attention map: what it takes, what it refuses, and what can be made of it."""

import numpy as np
import pytest
import torch

from saccade.base.errors import InputError
from saccade.look import AttentionMap, Grid, draw_text, drawable, merge_subwords, rollout

# Control characters, the halves of characters that bytes of another encoding become, and what is no character at all.
STRANGE = [
    "\x00",
    "a\x01b",
    "\x1b[31m",
    "\x7f",
    "\x85",
    "\x9f",
    "\udcff",
    "\ud83d",
    "\ufffe",
    "\uffff",
    "a\tb\r",
    "\x0b",
]
ROWS, COLUMNS = ["ein", "Hund", "</s>"], ["a", "dog", "runs", "off", "</s>"]


def random_map(layers: int = 2, heads: int = 7, kind: str = "cross") -> AttentionMap:
    columns = COLUMNS if kind == "cross" else ROWS
    weights = np.random.default_rng(1).dirichlet(np.ones(len(columns)), size=(layers, heads, len(ROWS)))
    return AttentionMap(ROWS, columns, weights, kind)  # pyright: ignore[reportArgumentType]


def test_missing_axes_are_one_layer_and_one_head() -> None:
    whole = random_map()
    assert (whole.layers, whole.heads) == (2, 7)
    assert AttentionMap(ROWS, COLUMNS, whole.weights[0, 0]).weights.shape == (1, 1, 3, 5)
    assert AttentionMap(ROWS, COLUMNS, whole.weights[0]).weights.shape == (1, 7, 3, 5)
    lists: list[list[float]] = whole.weights[1, 2].tolist()
    assert (AttentionMap(ROWS, COLUMNS, np.array(lists)).weights[0, 0] == whole.weights[1, 2]).all()


def test_a_map_is_a_copy() -> None:
    weights = np.zeros((1, 1, 3, 5), dtype=np.float32)
    made = AttentionMap(ROWS, COLUMNS, weights)
    weights[:] = 1
    assert made.weights.max() == 0
    with pytest.raises(ValueError, match="read-only"):
        made.weights[0, 0, 0, 0] = 1


def test_selecting_and_averaging() -> None:
    whole = random_map()
    assert (whole.select(layer=1, head=3).weights[0, 0] == whole.weights[1, 3]).all()
    assert (whole.select(layer=-1).weights == whole.weights[1:]).all()
    assert whole.mean(layers=False).weights.shape == (2, 1, 3, 5)
    np.testing.assert_allclose(whole.mean(heads=False).weights[0], whole.weights.mean(0), atol=1e-6)
    np.testing.assert_allclose(whole.matrix(head=4), whole.weights[:, 4].mean(0), atol=1e-6)
    np.testing.assert_allclose(whole.matrix(), whole.weights.mean((0, 1)), atol=1e-6)


BAD = np.full((3, 5), 0.2)
NAN = BAD.copy()
NAN[1, 4] = np.nan


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (BAD.T, r"weights: found 5 rows and 3 columns, wanted 3 and 5, a row and a column for each label"),
        (BAD[0], r"weights: found 1 axes, \[5\], wanted \[layers, heads, rows, columns\]"),
        (BAD[None, None, None], r"weights: found 5 axes"),
        (NAN, r"weights: found nan at \[0, 0, 1, 4\], wanted finite numbers"),
        (BAD - 0.3, r"weights: found -0.1 to -0.1, wanted numbers from 0 to 1"),
        (BAD * 6, r"weights: found 1.2 to 1.2, wanted numbers from 0 to 1"),
        ([["a"]], r"weights: found something that is not an array of numbers"),
        (np.zeros((0, 1, 3, 5)), r"weights: found 0 numbers"),
    ],
)
def test_weights_that_cannot_be_shown(weights: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        AttentionMap(ROWS, COLUMNS, weights)
    assert "\n" not in str(caught.value)


def test_labels_that_cannot_be_shown() -> None:
    with pytest.raises(InputError, match="rows: found one text, wanted a list of labels"):
        AttentionMap("ein", COLUMNS, BAD)
    with pytest.raises(InputError, match="columns: found 3 at index 1, wanted text"):
        AttentionMap(ROWS, ["a", 3, "b", "c", "d"], BAD)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="rows: found no labels"):
        AttentionMap([], COLUMNS, BAD)
    with pytest.raises(InputError, match="kind: found 'self', wanted one of cross, encoder, decoder, memory"):
        AttentionMap(ROWS, COLUMNS, BAD, "self")  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="head: found 7, wanted 0 to 6; there are 7"):
        random_map().select(head=7)


def test_an_image_has_its_regions_as_columns() -> None:
    seen = AttentionMap(["dog"], Grid(2, 3), np.full((1, 6), 1 / 6))
    assert seen.column_labels[4] == "row 2, column 2"
    with pytest.raises(InputError, match="found 1 rows and 5 columns, wanted 1 and 6"):
        AttentionMap(["dog"], Grid(2, 3), np.full((1, 5), 0.2))
    with pytest.raises(InputError, match="a grid of 0 × 3"):
        Grid(0, 3)


def test_rollout_is_a_walk_through_the_layers() -> None:
    """Against the sum over all paths, written out: at each layer go on or stay, with even probabilities."""
    own = random_map(layers=3, heads=2, kind="encoder")
    layers = own.weights.mean(1)
    wanted = np.zeros((3, 3))
    for last in range(3):
        for second in range(3):
            for first in range(3):
                for at in range(3):
                    steps = ((last, second, 2), (second, first, 1), (first, at, 0))
                    probabilities = [(layers[layer, a, b] + (a == b)) / 2 for a, b, layer in steps]
                    wanted[last, at] += np.prod(probabilities)
    rolled = rollout(own)
    np.testing.assert_allclose(rolled.weights[0, 0], wanted, atol=1e-6)
    np.testing.assert_allclose(rolled.weights.sum(-1), 1, atol=1e-5)


def test_a_cross_map_is_rolled_out_through_its_encoder() -> None:
    cross = random_map()
    eye = np.broadcast_to(np.eye(5), (2, 2, 5, 5))
    still = AttentionMap(COLUMNS, COLUMNS, eye, "encoder")  # each word saw itself alone: nothing changes
    np.testing.assert_allclose(rollout(cross, source=still).matrix(), cross.matrix(), atol=1e-6)
    swapped = AttentionMap(COLUMNS, COLUMNS, np.roll(eye, 1, axis=-1), "encoder")
    through = rollout(cross, source=swapped).matrix()
    shifts = [np.roll(cross.matrix(), by, axis=-1) for by in (0, 1, 2)]
    np.testing.assert_allclose(through, shifts[0] / 4 + shifts[1] / 2 + shifts[2] / 4, atol=1e-6)
    with pytest.raises(InputError, match="rolled out through the encoder's map of the same sentence"):
        rollout(cross, source=random_map(kind="encoder"))


@pytest.mark.parametrize(
    ("marks", "pieces"),
    [
        ("sentencepiece", ["▁Die", "▁Straßen", "bahn", "</s>", "hält"]),
        ("wordpiece", ["Die", "Straßen", "##bahn", "</s>", "hält"]),
        ("bpe", ["Die", "Straßen@@", "bahn", "</s>", "hält"]),
        ("gpt2", ["ĠDie", "ĠStraßen", "bahn", "</s>", "hält"]),
    ],
)
def test_subwords_become_words(marks: str, pieces: list[str]) -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(5), size=5)
    merged = merge_subwords(AttentionMap(pieces, pieces, weights, "encoder"), marks)  # pyright: ignore[reportArgumentType]
    words = ("Die", "Straßenbahn", "</s>", "hält")
    assert merged.rows == merged.columns == words
    np.testing.assert_allclose(merged.weights.sum(-1), 1, atol=1e-6)
    by_hand = weights[1:3, 1:3].sum(1).mean()
    assert merged.weights[0, 0, 1, 1] == pytest.approx(by_hand, abs=1e-6)
    with pytest.raises(InputError, match="marks: found 'words'"):
        merge_subwords(merged, "words")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.float64])
def test_tensors_of_torch_will_do(kind: torch.dtype) -> None:
    weights = torch.full((2, 2), 0.5, dtype=kind, requires_grad=True)
    assert (AttentionMap(["a", "b"], ["c", "d"], weights).weights == 0.5).all()  # pyright: ignore[reportArgumentType]


def test_text_is_drawn_of_a_matrix_alone() -> None:
    with pytest.raises(InputError, match="two"):
        draw_text(np.ones((1, 1, 1, 1), dtype=np.float32), ["a"], ["b"])


@pytest.mark.parametrize("text", STRANGE, ids=ascii)
def test_what_cannot_be_drawn_has_a_sign_in_its_place(text: str) -> None:
    assert len(drawable(text)) == len(text)
    assert "�" in drawable(text)
    drawable(text).encode()


@pytest.mark.parametrize(
    "text", ["ein Hund", "two\nlines", "日本語", "\U0001f9ff", "é\u0301", "\ue000", "a\u00a0b", ""]
)
def test_everything_else_is_drawn_as_it_is(text: str) -> None:
    assert drawable(text) == text
