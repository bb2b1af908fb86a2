"""`saccade doctor`: Print what this machine offers, and what of it is in use."""

import argparse
import json

from saccade.runtime.diagnosis import examine


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print it as one JSON object")
    parser.set_defaults(run=show)


def show(chosen: argparse.Namespace) -> None:
    found = examine()
    if chosen.json:
        print(json.dumps(found, ensure_ascii=False, indent=2))
        return
    for subject, facts in found.items():
        print(subject)
        for name, fact in facts.items():
            print(f"  {name:<24} {fact}")
