"""Whether memory stays flat while a captioner goes through thousands of images, some of them broken.

    python -m bench.images --model RUN/model --images FOLDER --count 10000

The command is run as its users run it, on a folder of links to the images of FOLDER (round and round, if they are fewer
than `--count`) with one broken file to each thousand. A JSON line tells how large the process was after each thousand.
"""

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from saccade.vision import IMAGE_ENDINGS


def main() -> None:
    parser = argparse.ArgumentParser(description="Memory of `saccade caption` over many images, some of them broken.")
    parser.add_argument("--model", type=Path, required=True, help="a captioner's folder")
    parser.add_argument("--images", type=Path, required=True, help="a folder of images")
    parser.add_argument("--count", type=int, default=10_000, help="how many images (10000)")
    parser.add_argument("--every", type=int, default=1000, help="images between two looks at the memory (1000)")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        broken = _fill(Path(folder), chosen.images, chosen.count, chosen.every)
        print(json.dumps(_watch(chosen.model, Path(folder), chosen.every) | {"broken": broken}))


def _fill(folder: Path, images: Path, count: int, every: int) -> int:
    """Links to `count` images, and one text file named as an image to every so many; how many of these."""
    found = sorted(path.resolve() for path in images.iterdir() if path.suffix.lower() in IMAGE_ENDINGS)
    if not found:
        raise SystemExit(f"{images}: no images in it")
    for number, path in enumerate(itertools.islice(itertools.cycle(found), count)):
        (folder / f"{number:06}{path.suffix}").symlink_to(path)
    indices = range(every // 2, count, every)
    for index in indices:
        (folder / f"{index:06}-broken.jpg").write_text("not an image\n", encoding="utf-8")
    return len(indices)


def _watch(model: Path, folder: Path, every: int) -> dict[str, Any]:
    """The size of the process in MB after every so many captions, as it runs."""
    command = [sys.executable, "-m", "saccade.cli.main", "caption", str(model), str(folder)]
    start = time.perf_counter()
    sizes: list[int] = []
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as complaints,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=complaints, encoding="utf-8") as process,  # noqa: S603
    ):
        assert process.stdout is not None
        captions = 0
        for _ in process.stdout:
            captions += 1
            if captions % every == 0:
                sizes.append(_resident(process.pid))
        code = process.wait()
        complaints.seek(0)
        told = sum("broken" in line for line in complaints)
    seconds = time.perf_counter() - start
    return {"captions": captions, "megabytes": sizes, "told": told, "code": code, "seconds": round(seconds)}


def _resident(pid: int) -> int:
    """Megabytes of memory that a process has now (Linux)."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(kilobytes) // 1024


if __name__ == "__main__":
    main()
