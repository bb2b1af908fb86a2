"""Documents are taken apart as they are meant; every page has its place, and every link leads somewhere."""

import re
from pathlib import Path

import pytest

from tests.documents.pages import (
    DOCUMENTS,
    PAGES,
    ROOT,
    Block,
    Section,
    anchors_of,
    name_of,
    read_sections,
    sections_of,
    split_line,
)


def test_a_text_is_taken_apart() -> None:
    text = "Before `one\ntwo`.\n# A `b`\n[x](y.md#z)\n\n    saccade a \\\n      b\n\n- item\n\n"
    text += "  ```python\n  if x:\n      y\n  ```\n"
    assert read_sections(text) == [
        Section(0, "", [], ["one two"], []),
        Section(1, "A `b`", [Block("", "saccade a \\\n  b\n"), Block("python", "if x:\n    y\n")], ["b"], ["y.md#z"]),
    ]


def test_a_line_is_taken_apart() -> None:
    line = 'A=1 echo "3 1" | saccade point m/model - > out.txt  # so'
    assert split_line(line) == [["echo", "3 1"], ["saccade", "point", "m/model", "-"]]


def broken_links(document: Path) -> list[str]:
    """The links of a document to files and headings that there are not."""
    broken: list[str] = []
    for link in (link for section in sections_of(document) for link in section.links if "://" not in link):
        name, _, anchor = link.partition("#")
        target = (document.parent / name).resolve() if name else document
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            broken.append(link)
    return broken


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(document: Path) -> None:
    assert broken_links(document) == []


def test_the_check_of_links_can_fail(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# Here, and `there`\n[a](#here-and-there) [b](#nowhere) [c](page.md#here-and-there) [d](page.md#x) [e](x.md)\n"
        '<img src="x.png"> [f](https://example.org/x)\n'
    )
    assert broken_links(page) == ["#nowhere", "page.md#x", "x.md", "x.png"]


def test_every_page_has_a_title_and_its_place_in_the_list() -> None:
    listed = re.findall(r"^\d+\. \[.*\]\((.*)\):", (ROOT / "docs/README.md").read_text(), re.MULTILINE)
    assert sorted(listed) == [page.name for page in PAGES if page.name != "README.md"]
    for page in PAGES:
        assert [section.level for section in sections_of(page)][:2] == [0, 1], f"{page} does not begin with a title"
        assert all(section.level > 1 for section in sections_of(page)[2:]), f"{page} has two titles"


def test_the_readme_is_one_screen_and_leads_to_the_pages() -> None:
    readme = (ROOT / "README.md").read_text()
    assert len(readme.splitlines()) <= 80
    assert "make demo" in readme
    assert "make test" in readme
    assert "docs/README.md" in readme
