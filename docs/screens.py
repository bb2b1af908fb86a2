"""The pictures of the page in this folder: `python docs/screens.py MODEL OTHER "A sentence."`."""

import argparse
import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
VIEWS = ("matrix", "ribbons", "table", "search")


def save(page: Page, name: str, *, width: int, height: int) -> None:
    """A screenshot with few colours: small, and still sharp."""
    page.set_viewport_size({"width": width, "height": height})
    shot = Image.open(io.BytesIO(page.screenshot()))
    shot.convert("RGB").quantize(192).save(HERE / f"{name}.png", optimize=True)


def choose(page: Page, name: str, value: str) -> None:
    change = "(select, value) => { select.value = value; select.dispatchEvent(new Event('change')); }"
    for select in page.locator(f"select[name={name}]").all():
        select.evaluate(change, value)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("model", help="a Transformer's folder")
    parser.add_argument("other", help="the folder of a model to compare it with")
    parser.add_argument("sentence")
    chosen = parser.parse_args()
    chromium = shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        look = [sys.executable, "-m", "saccade.cli.main", "look", chosen.model, chosen.sentence]
        one, both = Path(folder) / "one.html", Path(folder) / "both.html"
        subprocess.run([*look, "--html", str(one)], check=True)  # noqa: S603
        subprocess.run([*look, "--compare", chosen.other, "--html", str(both)], check=True)  # noqa: S603
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        for scheme in ("light", "dark"):
            context = browser.new_context(color_scheme=scheme)
            page = context.new_page()
            page.set_viewport_size({"width": 820, "height": 660})
            page.goto(one.as_uri())
            for view in VIEWS:
                choose(page, "view", view)
                if view == "ribbons":
                    page.locator(".word").nth(2).hover()
                save(page, f"look-{view}-{scheme}", width=820, height=660)
            page.goto(both.as_uri())
            page.set_viewport_size({"width": 1180, "height": 660})
            page.reload()
            save(page, f"look-compare-{scheme}", width=1180, height=660)
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
