"""What people read tells the truth: README, CONTRIBUTING, CHANGELOG and the pages of docs/."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))
DOCUMENTS = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")), *PAGES]

of_each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


def test_the_readme_names_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text()
    assert "make demo" in readme
    assert "make test" in readme


def test_the_list_of_pages_names_each_once() -> None:
    listed = re.findall(r"\]\(([^/)]*\.md)\)", (ROOT / "docs/README.md").read_text())
    assert sorted(listed) == [page.name for page in PAGES if page.name != "README.md"]


def test_examples_print_what_they_say() -> None:
    found = 0
    for page in PAGES:
        for code, wanted in re.findall(r"```python\n([^`]*?)```\s*```text\n(.*?)```", page.read_text(), re.DOTALL):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, page.name, "exec"), {})  # noqa: S102
            assert printed.getvalue() == wanted
            found += 1
    assert found == 2


@of_each_document
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text()):
        assert (document.parent / target).exists(), f"{document} points to {target}"
