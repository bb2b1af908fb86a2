"""Where a command finds sentence pairs: two files, or one table."""

import argparse
from pathlib import Path

from saccade.base.errors import InputError
from saccade.console.options import TakesOptions
from saccade.text import Pair, read_aligned, read_table


def add_pair_arguments(parser: TakesOptions, *, second: str, helps: tuple[str, str]) -> None:
    """Add --source and --SECOND, two files, and --table, both in one."""
    for name, text in zip(("source", second), helps, strict=True):
        parser.add_argument(f"--{name}", type=Path, metavar="FILE", help=text)
    parser.add_argument("--table", type=Path, metavar="FILE", help="or both in a TSV or JSON lines file")
    for name in ("source", "target"):
        parser.add_argument(f"--{name}-column", default=name, metavar="NAME", help=f"of the table ({name})")


def read_pairs(chosen: argparse.Namespace, *, second: str) -> list[Pair]:
    """The pairs of the two files or of the table."""
    other: Path | None = getattr(chosen, second)
    if chosen.table is not None and chosen.source is None and other is None:
        return read_table(chosen.table, source=chosen.source_column, target=chosen.target_column)
    if chosen.table is None and chosen.source is not None and other is not None:
        return read_aligned(chosen.source, other)
    raise InputError(f"wanted either --source and --{second}, or --table")
