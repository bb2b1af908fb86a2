"""Where a command finds pairs: two files, or one table."""

import argparse
from pathlib import Path

from saccade.base.errors import InputError
from saccade.console.options import TakesOptions
from saccade.tasks.translation.settings import Purpose
from saccade.text import Pair, read_aligned, read_table

# The columns of a table, if no others are named: those of summaries are called as in the sets of CNN and Daily Mail.
_COLUMNS: dict[Purpose, tuple[str, str]] = {
    "translate": ("source", "target"),
    "summarize": ("article", "highlights"),
}


def add_pair_arguments(parser: TakesOptions, *, second: str, helps: tuple[str, str]) -> None:
    """Add --source and --SECOND, two files, and --table, both in one."""
    for name, text in zip(("source", second), helps, strict=True):
        parser.add_argument(f"--{name}", type=Path, metavar="FILE", help=text)
    parser.add_argument("--table", type=Path, metavar="FILE", help="or both in a TSV or JSON lines file")
    for name, number in (("source", 0), ("target", 1)):
        usual = f"{_COLUMNS['translate'][number]}; of summaries {_COLUMNS['summarize'][number]}"
        parser.add_argument(f"--{name}-column", metavar="NAME", help=f"of the table ({usual})")


def read_pairs(chosen: argparse.Namespace, *, second: str, purpose: Purpose = "translate") -> list[Pair]:
    """The pairs of the two files or of the table."""
    other: Path | None = getattr(chosen, second)
    if chosen.table is not None and chosen.source is None and other is None:
        source, target = _COLUMNS[purpose]
        return read_table(chosen.table, source=chosen.source_column or source, target=chosen.target_column or target)
    if chosen.table is None and chosen.source is not None and other is not None:
        return read_aligned(chosen.source, other)
    raise InputError(f"wanted either --source and --{second}, or --table")
