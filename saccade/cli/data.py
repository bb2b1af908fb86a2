"""`saccade data`: Make a corpus with exact answers, or get a public one."""

import argparse
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TransferSpeedColumn

from saccade.base.counts import counted
from saccade.tasks.kind import all_kinds
from saccade.tasks.public_set import PublicSet, Show, get_public_set


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the corpora of all tasks, each with its options."""
    ways = parser.add_subparsers(metavar="COMMAND", required=True)
    make = ways.add_parser("make", help="make a corpus with exact answers, from a seed")
    corpora = make.add_subparsers(metavar="CORPUS", required=True)
    public: dict[str, PublicSet] = {}
    for kind in all_kinds():
        for made in kind.made:
            corpus = corpora.add_parser(made.name, help=made.help, description=made.description)
            made.add_options(corpus)
            corpus.add_argument("--seed", type=int, default=0, metavar="N", help="another seed gives others (0)")
            corpus.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the files go")
            corpus.add_argument("--overwrite", action="store_true", help="write over files that stand there already")
            corpus.set_defaults(run=made.write)
        public |= {one.name: one for one in kind.public}

    get = ways.add_parser("get", help="get a public data set, from the network or from a folder, and check it")
    get.add_argument("name", choices=public, metavar="SET", help=f"one of: {', '.join(public)}")
    get.add_argument("--out", type=Path, metavar="DIR", help="where the files go (data/SET)")
    get.add_argument("--from", dest="source", type=Path, metavar="DIR", help="a folder that has them, packed or not")
    get.set_defaults(run=lambda chosen: get_set(chosen, public[chosen.name]))
    listing = ways.add_parser("list", help="say which public data sets there are, where from, and under which rights")
    listing.set_defaults(run=lambda chosen: list_sets(public))


def get_set(chosen: argparse.Namespace, public: PublicSet) -> None:
    """Get the files, and say where they are."""
    out = Path("data", chosen.name) if chosen.out is None else chosen.out
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        said = get_public_set(public, out, source=chosen.source, show=_show_in(progress))
    print(f"{out}: {said}")


def _show_in(progress: Progress) -> Show:
    """A bar for each address; where nobody would see it, a line as it begins."""
    bars: dict[str, TaskID] = {}

    def show(address: str, done: int, total: int | None) -> None:
        if address not in bars:
            if progress.disable:
                print(address, file=sys.stderr)
            bars[address] = progress.add_task(address.rsplit("/", 1)[-1], total=total)
        progress.update(bars[address], completed=done, total=total)

    return show


def list_sets(public: dict[str, PublicSet]) -> None:
    """All sets, with what a person has to know of each."""
    for one in public.values():
        known = "checked by SHA-256" if one.has_checksums else "no checksum is known: form and number are checked"
        print(f"{one.name}: {one.about}")
        print(f"  {counted(one.megabytes, 'MB', 'MB')}; rights: {one.rights}; {known}")
        print(f"  by hand: {one.page}")
