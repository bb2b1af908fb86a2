"""`saccade`: the way into all commands."""

import importlib
import os
import sys
from collections.abc import Sequence

from saccade import __version__
from saccade.cli.parser import Parser
from saccade.errors import InputError

# Each command is a module of this room with `add_arguments(parser)` and `run(chosen)`. Only the one that is asked for
# is imported: torch takes seconds, and `saccade --help` should not.
COMMANDS = {
    "train": "train a model as a recipe says, or go on with a training that was broken off",
    "translate": "translate a file, or what comes in on a pipe",
    "caption": "say what is on images",
    "classify": "say which class images are of",
    "read": "read lines of digits from images",
    "point": "sort numbers, or find hulls, by pointing at them in order",
    "ask": "answer a question about a story",
    "evaluate": "run a model on a test set and score the result",
    "look": "show what a model looks at: in the terminal, as a figure, as a page",
    "align": "link the words of sentence pairs, and score the links",
    "recipe": "list, show and copy the recipes of the package",
    "data": "make a corpus with exact answers, or get a public one",
}

_WITH_COMMANDS = ("recipe", "data")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Bad input gives one line on stderr and exit code 2."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        if arguments and arguments[0] in COMMANDS:
            name, *rest = arguments
            module = importlib.import_module(f"saccade.cli.{name}")
            parser = Parser(prog=f"saccade {name}", description=(module.__doc__ or "").partition(": ")[2])
            module.add_arguments(parser)
            # options may stand among words, but argparse cannot do that where there are commands within commands
            parse = parser.parse_args if name in _WITH_COMMANDS else parser.parse_intermixed_args
            chosen = parse(rest)
            chosen.run(chosen)
        else:
            _overview(arguments)
        sys.stdout.flush()  # here, where a closed pipe is caught, and not as Python ends
    except InputError as error:
        print(f"saccade: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # without this, Python complains once more as it closes stdout
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print("saccade: the output was cut off: whoever read it has stopped; write to a file instead", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("saccade: interrupted", file=sys.stderr)
        return 130
    return 0


def _overview(arguments: list[str]) -> None:
    """`saccade` by itself, `saccade --help`, `saccade --version`, and commands that there are not."""
    parser = Parser(prog="saccade", description="Attention models that you own.")
    parser.add_argument("--version", action="version", version=f"saccade {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, purpose in COMMANDS.items():
        commands.add_parser(name, help=purpose)
    parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
