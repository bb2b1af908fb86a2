"""A real browser, Debian's chromium, for tests."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    where = shutil.which("chromium")
    if where is None:
        pytest.skip("no chromium on this machine; install Debian's package of that name")
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=where, args=FLAGS)
        yield started
        started.close()


class Visit:
    """A page that was opened without a network, and all that it asked for and complained of."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda message: self.complaints.append(message.text))

    def open(self, path: Path) -> None:
        self.page.goto(path.as_uri())

    def choose(self, name: str, value: str, *, panel: int = 0) -> None:
        # playwright's own choosing takes "2" for the option that reads 2, whatever its value is
        change = "(select, value) => { select.value = value; select.dispatchEvent(new Event('change')); }"
        self.page.locator("section").nth(panel).locator(f"select[name={name}]").evaluate(change, value)

    def readout(self, *, panel: int = 0) -> tuple[str, dict[str, str]]:
        """What is said of the thing pointed at, in words and as plain numbers."""
        output: Any = self.page.locator("output").nth(panel)
        return output.inner_text(), output.evaluate("element => ({ ...element.dataset })")

    def point_at_cell(self, row: int, column: int, shape: tuple[int, int], *, panel: int = 0) -> dict[str, str]:
        """Move the pointer to the middle of a cell of the matrix; gives what the readout says."""
        canvas = self.page.locator("section").nth(panel).locator(".matrix canvas")
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        assert box is not None
        self.page.mouse.move(1, 1)  # a pointer that stays where it is tells nobody
        self.page.mouse.move(
            box["x"] + (column + 0.5) * box["width"] / shape[1], box["y"] + (row + 0.5) * box["height"] / shape[0]
        )
        return self.readout(panel=panel)[1]


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    context = browser.new_context(offline=True, viewport={"width": 1000, "height": 800})
    seen = Visit(context.new_page())
    yield seen
    context.close()
    assert seen.complaints == []
    asked = [address for address in seen.requests if not address.startswith("data:")]  # which are in the file
    assert [address for address in asked if not address.startswith("file:")] == []
    assert len(asked) <= 1  # the file itself, and nothing for it
