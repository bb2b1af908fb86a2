"""The options that say how an output is found."""

import argparse
from typing import Any

from saccade.base.errors import InputError
from saccade.console.options import TakesOptions
from saccade.console.parser import count
from saccade.decode import Search
from saccade.runtime.prepared import PRECISIONS


def add_search_arguments(parser: TakesOptions, *, what: str = "translation", beam: int = 5) -> None:
    """Add what says how outputs are found."""
    parser.add_argument("--beam", type=count, metavar="N", help=f"hypotheses kept; 1 is greedy search ({beam})")
    parser.add_argument("--nbest", type=count, default=1, metavar="N", help=f"how many {what}s of each (1)")
    parser.add_argument("--length-penalty", type=float, default=1.0, metavar="A", help="0 favours short ones (1)")
    parser.add_argument(
        "--coverage-penalty", type=float, default=0.0, metavar="B", help="above 0 favours those that saw everything (0)"
    )
    parser.add_argument("--sampling", action="store_true", help=f"draw {what}s instead of searching the best")
    parser.add_argument("--temperature", type=float, default=1.0, metavar="T", help="below 1: fewer surprises (1)")
    parser.add_argument("--top-k", type=count, metavar="K", help="draw from the K likeliest tokens only")
    parser.add_argument("--top-p", type=float, default=1.0, metavar="P", help="or from those with P of the probability")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the draws (0)")
    parser.add_argument(
        "--precision", choices=PRECISIONS, default="float32", help="of products; int8 is faster on some processors"
    )


_SEARCH = tuple(Search.__dataclass_fields__)


def search_of(chosen: argparse.Namespace, *, beam: int = 5) -> dict[str, Any]:
    """The fields of `Search` that were chosen, the beam being `beam` where none was.

    Beside --sampling a beam is refused, as it would mean nothing.
    """
    if chosen.sampling and chosen.beam is not None:
        raise InputError("--beam: draws (--sampling) know no beam; leave one of the two out")
    fields = {name: getattr(chosen, name) for name in _SEARCH if name != "beam"}
    return fields if chosen.sampling else fields | {"beam": chosen.beam or beam}
