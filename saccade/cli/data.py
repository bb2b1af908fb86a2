"""`saccade data`: Make a corpus with exact answers, or get a public one."""

import argparse
import sys
from pathlib import Path

from saccade.tasks.kind import PublicSets, all_kinds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the corpora of all tasks, each with its options."""
    ways = parser.add_subparsers(metavar="COMMAND", required=True)
    make = ways.add_parser("make", help="make a corpus with exact answers, from a seed")
    corpora = make.add_subparsers(metavar="CORPUS", required=True)
    public: dict[str, PublicSets] = {}
    for kind in all_kinds():
        for made in kind.made:
            corpus = corpora.add_parser(made.name, help=made.help, description=made.description)
            made.add_options(corpus)
            corpus.add_argument("--seed", type=int, default=0, metavar="N", help="another seed gives others (0)")
            corpus.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the files go")
            corpus.add_argument("--overwrite", action="store_true", help="write over files that stand there already")
            corpus.set_defaults(run=made.write)
        if kind.public is not None:
            public |= dict.fromkeys(kind.public.names, kind.public)

    get = ways.add_parser("get", help="get a public data set, from the network or from a folder, and check it")
    get.add_argument("name", choices=public, metavar="SET", help=f"one of: {', '.join(public)}")
    get.add_argument("--out", type=Path, metavar="DIR", help="where the files go (data/SET)")
    get.add_argument("--from", dest="source", type=Path, metavar="DIR", help="a folder that has them, packed or not")
    get.set_defaults(run=lambda chosen: get_set(chosen, public[chosen.name]))


def get_set(chosen: argparse.Namespace, public: PublicSets) -> None:
    """Get the files, and say where they are."""
    out = Path("data", chosen.name) if chosen.out is None else chosen.out
    paths = public.get(chosen.name, out, source=chosen.source, progress=lambda path: print(path, file=sys.stderr))
    print(f"{out}: {len(paths)} files, as published")
