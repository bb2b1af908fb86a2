"""How fast a large attention map opens in a browser, and how much memory it takes there.

    python -m bench.page                 # 512 words, 8 heads, Debian's chromium

Opens the same file several times, each in a new browser without a network. Prints one JSON line: the milliseconds from
the start of navigation until the map is drawn and the page answers, and the megabytes that the page's process holds
beyond those of an empty page.
"""

import argparse
import json
import shutil
import statistics
import tempfile
from pathlib import Path

import numpy as np
import psutil
from playwright.sync_api import sync_playwright

from saccade.look import AttentionMap, Panel, save_page

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

_DRAWN = "new Promise(done => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))"
_CHANGE = """select => {
  select.value = "3";
  const began = performance.now();
  select.dispatchEvent(new Event("change"));
  return performance.now() - began;
}"""


def renderer_megabytes(parent: psutil.Process) -> float:
    """What belongs to the processes that show pages, and to them alone."""
    pages = [child for child in parent.children(recursive=True) if "--type=renderer" in child.cmdline()]
    return sum(child.memory_full_info().uss for child in pages) / 1e6


def open_once(address: str, chromium: str) -> tuple[float, float, float]:
    """Milliseconds until it answers, milliseconds of a change of head, and megabytes."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        context = browser.new_context(offline=True)
        page = context.new_page()
        page.goto("about:blank")
        me = psutil.Process()
        before = renderer_megabytes(me)
        page.goto(address)
        drawn = page.evaluate(_DRAWN)
        change = page.locator("select[name=head]").evaluate(_CHANGE)
        held = renderer_megabytes(me) - before
        browser.close()
    return drawn, change, held


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--words", type=int, default=512, metavar="N", help="rows and columns of the map (512)")
    parser.add_argument("--heads", type=int, default=8, metavar="N", help="of one layer (8)")
    parser.add_argument("--turns", type=int, default=5, metavar="N", help="how often to open it (5)")
    chosen = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        parser.error("no chromium on this machine; install Debian's package of that name")
    words = [f"word{number}" for number in range(chosen.words)]
    weights = np.random.default_rng(3).dirichlet(np.full(chosen.words, 0.05), size=(1, chosen.heads, chosen.words))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "map.html"
        save_page(path, [Panel("large", [AttentionMap(words, words, weights, "encoder")])])
        turns = [open_once(path.as_uri(), chromium) for _ in range(chosen.turns)]
        size = path.stat().st_size / 1e6
    opened, changed, held = (statistics.median(column) for column in zip(*turns, strict=True))
    figures = {"words": chosen.words, "heads": chosen.heads, "file_mb": size, "open_ms": opened, "change_ms": changed}
    print(json.dumps({name: round(value, 1) for name, value in (figures | {"page_mb": held}).items()}))


if __name__ == "__main__":
    main()
