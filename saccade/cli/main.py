"""`saccade`: the way into all commands."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from saccade import __version__
from saccade.cli import data
from saccade.data import InputError


class Parser(argparse.ArgumentParser):
    """argparse, but a mistake gets one line, as all bad input does, and not the usage before it."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Bad input gives one line on stderr and exit code 2."""
    parser = Parser(prog="saccade", description="Attention models that you own.")
    parser.add_argument("--version", action="version", version=f"saccade {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    data.add_command(commands)
    chosen = parser.parse_args(arguments)
    try:
        chosen.run(chosen)
        sys.stdout.flush()  # here, where a closed pipe is caught, and not as Python ends
    except InputError as error:
        print(f"saccade: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # whoever read our output has seen enough; without this, Python complains once more as it closes stdout
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
