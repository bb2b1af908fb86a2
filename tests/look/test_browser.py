"""The page in a real browser: the picture is the tensor."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from saccade.decode import TreeNode
from saccade.look import AttentionMap, Panel, Reading, ScoredTokens, find_landmarks, measure_heads, save_page
from saccade.tasks.translation.maps import maps_of
from saccade.tasks.translation.model import Translator
from tests.look.conftest import Visit
from tests.look.test_maps import COLUMNS, ROWS, random_map
from tests.tasks.translation.test_model import make

SENTENCE = "Dienstag, 9. November 2026"
TREE = [
    TreeNode(None, "▁ein", -0.5, None),
    TreeNode(None, "▁das", -1.5, None),
    TreeNode(0, "▁Hund", -0.75, None),
    TreeNode(1, "</s>", -2.25, -0.625),
    TreeNode(2, "</s>", -1.0, -0.25),
]


def save(path: Path, *maps: AttentionMap, tree: list[TreeNode] | None = None) -> Path:
    save_page(path / "page.html", [Panel("model", maps, tree or [])])
    return path / "page.html"


def cells_of(seen: AttentionMap) -> list[tuple[int, int]]:
    """The first, the last, and some others."""
    down, across = len(seen.rows), len(seen.column_labels)
    rng = random.Random(2)
    others = [(rng.randrange(down), rng.randrange(across)) for _ in range(6)]
    return [(0, 0), (down - 1, across - 1), (0, across - 1), (down - 1, 0), *others]


def assert_cells(visit: Visit, seen: AttentionMap, weights: np.ndarray) -> None:
    for row, column in cells_of(seen):
        said = visit.point_at_cell(row, column, weights.shape)
        assert (int(said["row"]), int(said["column"])) == (row, column)
        assert float(said["weight"]) == pytest.approx(weights[row, column], abs=1e-7)


@pytest.fixture(scope="module")
def translator() -> Translator:
    return make("transformer")


def test_the_cell_under_the_pointer_is_the_models_weight(visit: Visit, translator: Translator, tmp_path: Path) -> None:
    """Every kind of map, the right layer and head, with the end of the sentence labelled."""
    (found,) = translator.translate([SENTENCE], beam=3, attention=True)
    maps = maps_of(found)
    assert [one.kind for one in maps] == ["cross", "encoder", "decoder"]
    visit.open(save(tmp_path, *maps))
    for number, seen in enumerate(maps):
        visit.choose("map", str(number))
        assert_cells(visit, seen, seen.matrix())
        for layer, head in ((0, 2), (1, 0)):
            visit.choose("layer", str(layer))
            visit.choose("head", str(head))
            assert_cells(visit, seen, seen.weights[layer, head])
        visit.choose("layer", "-1")
        assert_cells(visit, seen, seen.matrix(head=0))
    visit.choose("map", "0")
    last = len(maps[0].rows) - 1, len(maps[0].column_labels) - 1
    visit.point_at_cell(*last, (last[0] + 1, last[1] + 1))
    assert visit.readout()[0].startswith("</s> → </s>: ")


def test_a_shifted_array_would_be_noticed(visit: Visit, tmp_path: Path) -> None:
    seen = random_map()
    visit.open(save(tmp_path, seen))
    visit.choose("layer", "1")
    visit.choose("head", "3")
    assert_cells(visit, seen, seen.weights[1, 3])
    for shifted in (np.roll(seen.weights[1, 3], 1, axis=0), np.roll(seen.weights[1, 3], 1, axis=1), seen.weights[0, 3]):
        with pytest.raises(AssertionError):
            assert_cells(visit, seen, shifted)


def test_the_colours_are_the_weights(visit: Visit, tmp_path: Path) -> None:
    """Darker where more weight lies, cell by cell, as the canvas has it."""
    seen = random_map(layers=1, heads=1)
    visit.open(save(tmp_path, seen))
    pixels = visit.page.locator(".matrix canvas").evaluate(
        "c => [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]"
    )
    light = np.array(pixels).reshape(len(ROWS), len(COLUMNS), 4)[..., :3].sum(-1)
    order = np.argsort(seen.weights[0, 0], axis=None)
    assert (np.diff(light.flatten()[order]) <= 0).all()
    assert light.max() - light.min() > 100


def test_the_keyboard_goes_from_cell_to_cell(visit: Visit, tmp_path: Path) -> None:
    seen = random_map()
    visit.open(save(tmp_path, seen))
    visit.page.locator("select[name=scale]").focus()
    visit.page.keyboard.press("Tab")
    visit.page.keyboard.press("ArrowDown")
    visit.page.keyboard.press("End")
    said = visit.readout()[1]
    assert (said["row"], said["column"]) == ("1", "4")
    assert float(said["weight"]) == pytest.approx(seen.matrix()[1, 4])
    assert "arrows" in (visit.page.locator(".matrix canvas").get_attribute("aria-label") or "")
    assert visit.page.locator("output").get_attribute("aria-live") == "polite"


@pytest.mark.parametrize("view", ["matrix", "ribbons"])
def test_a_word_says_what_it_looked_at_and_what_looked_at_it(view: str, visit: Visit, tmp_path: Path) -> None:
    seen = random_map()
    visit.open(save(tmp_path, seen))
    visit.choose("view", view)
    weights = seen.matrix()
    visit.page.get_by_label("Hund, row 2", exact=True).hover()
    best = int(weights[1].argmax())
    assert visit.readout()[0].startswith(f"Hund looked at: {COLUMNS[best]} {weights[1, best]:.3f}")
    visit.page.get_by_label("runs, column 3", exact=True).focus()
    best = int(weights[:, 2].argmax())
    assert visit.readout()[0].startswith(f"runs was looked at by: {ROWS[best]} {weights[best, 2]:.3f}")
    visit.page.keyboard.press("ArrowLeft")
    assert visit.readout()[0].startswith("dog was looked at by: ")


def test_the_table_has_the_numbers(visit: Visit, tmp_path: Path) -> None:
    seen = random_map()
    visit.open(save(tmp_path, seen))
    visit.choose("view", "table")
    cells = visit.page.locator("td[data-weight]").evaluate_all("cells => cells.map(c => Number(c.dataset.weight))")
    np.testing.assert_allclose(np.array(cells).reshape(3, 5), seen.matrix(), atol=1e-7)
    assert visit.page.locator("th[scope=col]").all_inner_texts() == COLUMNS
    assert visit.page.locator("th[scope=row]").all_inner_texts() == ROWS


def test_the_tree_of_hypotheses(visit: Visit, tmp_path: Path) -> None:
    visit.open(save(tmp_path, random_map(), tree=TREE))
    visit.choose("view", "search")
    assert visit.page.locator("ol.found li").all_inner_texts() == ["-0.250 ▁ein ▁Hund </s>", "-0.625 ▁das </s>"]
    assert visit.page.locator(".node.best").count() == 3
    assert visit.page.locator(".node.ended").count() == 2
    visit.page.get_by_label("step 2: ▁Hund, -0.75; after ▁ein").hover()
    assert visit.readout()[0] == "▁ein ▁Hund: log probability -0.750"


def test_a_tag_is_shown_and_not_run(visit: Visit, tmp_path: Path) -> None:
    evil = "</script><img src=x onerror=alert(1)>"
    visit.open(save(tmp_path, AttentionMap([evil, "b"], ["<b>bold</b>", "d"], np.eye(2))))
    for view in ("matrix", "ribbons", "table"):
        visit.choose("view", view)
        assert visit.page.locator("img, b").count() == 0
    assert visit.page.locator("th[scope=row]").first.inner_text() == evil


def test_two_models_side_by_side(visit: Visit, tmp_path: Path) -> None:
    """A source word that is pointed at in one shows in the other."""
    one, other = random_map(), random_map(layers=1, heads=1)
    save_page(tmp_path / "page.html", [Panel("one", [one]), Panel("other", [other])])
    visit.open(tmp_path / "page.html")
    visit.choose("view", "table")
    visit.choose("view", "matrix")
    visit.point_at_cell(1, 2, (3, 5))
    assert visit.readout(panel=1)[0].startswith("runs was looked at by: ")
    said = visit.point_at_cell(2, 4, (3, 5), panel=1)
    assert float(said["weight"]) == pytest.approx(other.matrix()[2, 4])


def test_the_module_is_what_anywidget_calls(visit: Visit, tmp_path: Path) -> None:
    """`default.render` with a model that has data, twice as the data change."""
    page = (
        save(tmp_path, random_map())
        .read_text()
        .replace(
            'show(document.getElementById("maps"), JSON.parse(data.textContent));',
            """
        const read = JSON.parse(data.textContent), calls = {};
        const on = (name, call) => { calls[name] = call; };
        const model = { get: (name) => (name === "data" ? read : null), on, off() {} };
        const { default: widget } = { default: __default };
        window.close_widget = widget.render({ model, el: document.getElementById("maps") });
        calls["change:data"]();
        """,
        )
        .replace("export default {", "const __default = {")
    )
    (tmp_path / "page.html").write_text(page)
    visit.open(tmp_path / "page.html")
    assert visit.page.locator("section").count() == 1
    assert "weight" in visit.point_at_cell(0, 0, (3, 5))
    assert visit.page.evaluate("typeof window.close_widget") == "function"


def test_a_large_map(visit: Visit, tmp_path: Path) -> None:
    """512 words with 8 heads: the right cells, and a table a part at a time. How fast: `python -m bench.page`."""
    words = [f"word{number}" for number in range(512)]
    weights = np.random.default_rng(3).dirichlet(np.full(512, 0.05), size=(1, 8, 512))
    seen = AttentionMap(words, words, weights, "encoder")
    visit.open(save(tmp_path, seen))
    visit.choose("head", "5")
    assert_cells(visit, seen, seen.weights[0, 5])
    for view in ("ribbons", "table"):
        visit.choose("view", view)
    assert visit.page.locator("td[data-weight]").count() == 50 * 50


def test_a_page_opens_where_it_is_told_to(visit: Visit, tmp_path: Path) -> None:
    first, second = random_map(), replace(random_map(), kind="encoder")
    save_page(tmp_path / "page.html", [Panel("model", [first, second], kind="encoder", layer=1, head=0)])
    visit.open(tmp_path / "page.html")
    for name, value in (("map", "1"), ("layer", "1"), ("head", "0")):
        assert visit.page.locator(f"select[name={name}]").input_value() == value


def test_panels_side_by_side_are_seen_alike(visit: Visit, tmp_path: Path) -> None:
    save_page(tmp_path / "page.html", [Panel("one", [random_map()]), Panel("other", [random_map()])])
    visit.open(tmp_path / "page.html")
    visit.choose("view", "ribbons", panel=1)
    assert visit.page.locator(".ribbons").count() == 2
    visit.choose("view", "table", panel=0)
    assert visit.page.locator("table").count() == 2


TEXT = ScoredTokens(["a", " dog", "\n", "<b>run</b>", ""], np.array([0.5, 1.25, 3.0, 9.5, 4.0]), "text")


def test_the_text_above_the_map_is_the_bits(visit: Visit, tmp_path: Path) -> None:
    """Each token with the colour of its level; the text wraps as text, and its line breaks can be seen."""
    save_page(tmp_path / "page.html", TEXT)
    visit.open(tmp_path / "page.html")
    tokens = visit.page.locator("[data-token]")
    assert tokens.all_text_contents() == ["a", " dog", "⏎\n", "<b>run</b>", "·"]
    names = [tokens.nth(index).get_attribute("class") for index in range(5)]
    assert names == ["level-0", "level-1", "level-2", "level-4", "level-3"]
    for scheme in ("light", "dark"):
        visit.page.emulate_media(color_scheme=scheme)
        paint = "span => getComputedStyle(span).backgroundColor"
        papers = [tokens.nth(index).evaluate(paint) for index in range(5)]
        legend = visit.page.locator(".legend i").evaluate_all(f"spans => spans.map({paint})")
        assert papers == [legend[index] for index in (0, 1, 2, 4, 3)]
        assert len(set(legend)) == 5
    assert visit.page.locator(".legend i").all_inner_texts() == ["under 1", "1 to 2", "2 to 4", "4 to 8", "8 or more"]
    assert "3.65 in the mean" in visit.page.locator(".legend").inner_text()
    assert visit.page.locator("select").count() == 0
    lines = [tokens.nth(index).bounding_box() for index in (1, 3)]
    assert lines[0] is not None
    assert lines[1] is not None
    assert lines[1]["y"] > lines[0]["y"]


def test_a_token_of_the_text_says_its_bits(visit: Visit, tmp_path: Path) -> None:
    save_page(tmp_path / "page.html", TEXT)
    visit.open(tmp_path / "page.html")
    visit.page.get_by_label("dog: 1.25 bits").hover()
    assert visit.readout()[0] == "dog: 1.25 bits, probability 0.42"
    assert visit.page.get_by_label("dog: 1.25 bits").get_attribute("title") == " dog: 1.25 bits"
    visit.page.keyboard.press("Tab")
    assert visit.readout()[1] == {"token": "0", "bits": "0.5"}
    for key, wanted in (("ArrowRight", "1"), ("End", "4"), ("ArrowRight", "4"), ("ArrowUp", "3"), ("Home", "0")):
        visit.page.keyboard.press(key)
        assert visit.readout()[1]["token"] == wanted


def test_a_token_shows_what_it_was_foreseen_from(visit: Visit, tmp_path: Path) -> None:
    """The rows of the map are the last tokens of the text."""
    weights = np.random.default_rng(4).dirichlet(np.ones(3), size=3)
    seen = AttentionMap(["run", "</s>", "x"], ["<s>", "run", "</s>"], weights, "decoder")
    save_page(tmp_path / "page.html", [seen, TEXT])
    visit.open(tmp_path / "page.html")
    for view in ("matrix", "ribbons"):
        visit.choose("view", view)
        visit.page.locator("[data-token='3']").hover()
        best = seen.columns[int(weights[1].argmax())]  # pyright: ignore[reportIndexIssue]
        assert f"9.50 bits, probability 0.0014. </s> looked at: {best} {weights[1].max():.3f}" in visit.readout()[0]
        assert visit.readout()[1]["row"] == "1"
        visit.page.locator("[data-token='0']").hover()
        assert visit.readout()[0] == "a: 0.50 bits, probability 0.71"


def test_a_long_text_comes_in_parts(visit: Visit, tmp_path: Path) -> None:
    save_page(tmp_path / "page.html", ScoredTokens(["a "] * 9001, np.arange(9001) % 12))
    visit.open(tmp_path / "page.html")
    assert visit.page.locator("[data-token]").count() == 4000
    for _ in range(2):
        visit.page.get_by_role("button", name="later").click()
    assert visit.page.locator("[data-token]").count() == 1001
    visit.page.locator("[data-token='9000']").hover()
    assert visit.readout()[1] == {"token": "9000", "bits": "0"}
    assert visit.page.get_by_role("button", name="later").is_disabled()


def test_the_best_heads_and_their_maps(visit: Visit, tmp_path: Path) -> None:
    landmarks = find_landmarks(list("abc def"))
    weights = np.tril(np.ones((2, 3, 7, 7))) / np.arange(1, 8)[:, None]
    weights[1, 2] = np.eye(7)[np.where(landmarks["word-start"] < 0, np.arange(7), landmarks["word-start"])]
    found = measure_heads([Reading(weights, landmarks)])
    panel = Panel("model", [AttentionMap(list("bc def."), list("abc def"), weights, "decoder")], heads=found)
    save_page(tmp_path / "page.html", panel)
    visit.open(tmp_path / "page.html")
    visit.choose("view", "heads")
    measure = found.of("word-start")
    row = ["word-start", "2", "3", "1.000", f"{measure.chance[1, 2]:.3f}", f"{measure.ratio[1, 2]:.2f}", "4", "show"]
    line = visit.page.locator("tr", has_text="word-start")
    assert line.locator("th, td").all_inner_texts() == row
    line.get_by_role("button").click()
    assert [visit.page.locator(f"select[name={name}]").input_value() for name in ("layer", "head")] == ["1", "2"]
    assert float(visit.point_at_cell(2, 0, (7, 7))["weight"]) == 1.0
