"""The page as a file: whole, self-contained, and with words that stay words."""

import base64
import json
import re
from pathlib import Path

import numpy as np
import pytest

from saccade.base.errors import InputError
from saccade.decode import TreeNode
from saccade.look import AttentionMap, Panel, as_page, drawable, page_data, save_page, widget
from saccade.look.page import module_source
from tests.look.test_maps import STRANGE, random_map


def data_of(page: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_the_page_has_the_weights_exactly() -> None:
    seen = random_map()
    (panel,) = data_of(as_page([Panel("model", [seen])]))["panels"]  # pyright: ignore[reportGeneralTypeIssues]
    shown = panel["maps"][0]
    weights = np.frombuffer(base64.b64decode(shown["weights"]), dtype="<f4").reshape(shown["shape"])
    assert (weights == seen.weights).all()
    assert (tuple(shown["rows"]), tuple(shown["columns"])) == (seen.rows, seen.columns)


def test_words_never_become_markup() -> None:
    evil = "</script><script>alert(1)</script><!--"
    page = as_page([Panel(evil, [AttentionMap([evil], [evil], np.ones((1, 1)))])], title=evil)
    assert "<script>alert" not in page
    assert page.count("<!--") == 0
    assert page.count("<script") == page.count("</script>") == 2
    assert data_of(page)["panels"][0]["title"] == evil  # pyright: ignore[reportIndexIssue]


def test_the_module_can_stand_in_a_page() -> None:
    source = module_source()
    assert "</script" not in source
    assert "import " not in re.sub(r"//.*|/\*\*.*?\*/", "", source)  # nothing from elsewhere
    assert "innerHTML" not in source
    assert not re.findall(r"https?://(?!www\.w3\.org/)", source)


def test_a_frame_for_notebooks() -> None:
    frame = random_map()._repr_html_()
    assert frame.startswith('<iframe title="attention" sandbox="allow-scripts"')
    assert frame.count("<") == 2  # all of the page is one attribute


def test_a_widget_has_the_same_module_and_data() -> None:
    panels = [Panel("model", [random_map()])]
    shown = widget(panels)
    assert shown._esm == module_source() or str(shown._esm) == module_source()
    assert shown.data == page_data(panels)


def test_what_cannot_be_shown(tmp_path: Path) -> None:
    for panels in ([], [Panel("empty", [])]):
        with pytest.raises(InputError, match="panels: found nothing to show"):
            as_page(panels)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        save_page(tmp_path / "file" / "page.html", [Panel("model", [random_map()])])


def test_maps_by_themselves_are_one_panel(tmp_path: Path) -> None:
    seen = random_map()
    for what in (seen, [seen], Panel(seen.name, [seen])):
        assert page_data(what) == page_data([Panel(seen.name, [seen])])
    save_page(str(tmp_path / "a.html"), [seen, seen])
    assert (tmp_path / "a.html").exists()
    assert widget(seen).data == page_data(seen)
    with pytest.raises(InputError, match="panels: found str"):
        page_data(["a"])  # pyright: ignore[reportArgumentType]


def test_strange_characters_in_a_page(tmp_path: Path) -> None:
    seen = AttentionMap(STRANGE, STRANGE, np.eye(len(STRANGE)), name="\x00")
    tree = [TreeNode(None, "\udcff", -0.5, None)]
    save_page(tmp_path / "page.html", [Panel("title\udcff", [seen], tree)], title="page\ud800\x00")
    page = (tmp_path / "page.html").read_bytes().decode()
    assert "<title>page��</title>" in page
    (panel,) = data_of(page)["panels"]  # pyright: ignore[reportGeneralTypeIssues]
    assert panel["title"] == "title�"
    assert panel["tree"][0]["piece"] == "�"
    assert panel["maps"][0]["rows"] == panel["maps"][0]["columns"] == [drawable(label) for label in STRANGE]
