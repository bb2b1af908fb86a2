"""Command lines of any words: the commands' own options, as their parsers know them, with values good and bad."""

import argparse
import importlib
import os
import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from saccade.cli.main import all_commands
from saccade.console.parser import Parser
from saccade.tasks.find_recipe import load_recipe, recipe_names
from soak.sandbox import Named
from soak.tiny import RECIPES, SUBWORDS

_NO_TEXT = os.fsdecode(b"caf\xe9")
_LONG = "x" * 300

_MODELS = (*(f"models/{task}" for task in RECIPES), "runs/begun", "models/damaged", "models/fifo")
_MODEL_OF = {
    "translate": "translation",
    "align": "translation",
    "caption": "captioning",
    "classify": "classification",
    "label": "text_classification",
    "read": "line_reading",
    "point": "pointing",
    "ask": "story_qa",
}
# Good values, by the name of an option or a word of any command.
_GOOD: dict[str, tuple[str, ...]] = {
    "captions": ("in/scenes/captions.jsonl",),
    "data": ("in/problems.jsonl", "in/stories.txt", "in/questions.jsonl"),
    "file": ("in/source.txt", "in/source.txt.gz", "in/problems.jsonl", "in/questions.jsonl", "-"),
    "gold": ("in/links.txt",),
    "images": ("in/digit.png", "in/strip.png", "in/scenes/images", "in/digits", "-"),
    "inputs": ("in/problems.jsonl",),
    "lengths": ("1", "2,3", "4"),
    "locales": ("en", "de,fr"),
    "prefixes": ("in/target.txt", "in/empty"),
    "question": ("Where is Mary?",),
    "reference": ("in/target.txt",),
    "sentence": ("le 9 novembre 2026", "3 March 2020"),
    "source": ("in/source.txt",),
    "source_column": ("source", "target"),
    "split": ("train", "in/source.txt"),
    "story": ("Mary went to the garden. John took the milk.",),
    "table": ("in/pairs.tsv",),
    "target": ("in/target.txt", "2026-11-09"),
    "target_column": ("target",),
    "title": ("", "a title"),
}
_NUMBERS = ("N", "K", "A", "B", "T", "P", "N,N")  # as the parsers call them
_GOOD_NUMBERS = ("1", "2", "3", "4")
_BAD_NUMBERS = (
    "0",
    "-1",
    "",
    "x",
    "1.5",
    "1e3",
    "nan",
    "inf",
    "-inf",
    "99999999999999999999",
    "9" * 5000,
    " 2",
    "٣",
    "0x1",
)
_LARGE_NUMBERS = ("1000", "1000000", "2147483648", "9223372036854775808")
# Of these, so many are made or looked at: whoever asks for a million waits for it.
_WORK = {"pairs", "valid", "test", "scenes", "stories", "samples", "lengths", "image_size", "max_number"}
_BAD_WORDS = (
    "",
    " ",
    "x",
    _LONG,
    _NO_TEXT,
    "\u202e\u0301\x07\n",
    "-",
    "--",
    "-x",
    "=",
    "=1",
    "a=b=c",
    "../..",
    "~",
    "*",
    "%s",
)
_BAD_PATHS = (
    "",
    ".",
    "..",
    "/",
    "sub",
    "link",
    "nowhere",
    "in/empty",
    "in/binary",
    "in/utf16.txt",
    "in/broken.png",
    "in/digit.png",
    "not/there",
    "in/source.txt/x",
    "/dev/null",
    "models/fifo",
    "in",
    _LONG,
    f"in/{_NO_TEXT}.png",
    "\n",
)
# What is read as long as it goes on, as it should: no end is no mistake there.
_ENDLESS = {("translate", "file"), ("point", "file"), ("ask", "file")}
_OUTPUTS: dict[str, str] = {
    "html": ".html",
    "png": ".png",
    "svg": ".svg",
    "pdf": ".pdf",
    "output": ".txt",
}
_BAD_OUTPUTS = ("", ".", "sub", "/dev/full", "/dev/null", "not/there/x", "nowhere", "in/empty/x", _LONG, "/proc/x")

_STORY = ("Mary went to the garden. John took the milk.", "Where is Mary?")
# Lines that are right as they are, for options to be added to.
_RIGHT: tuple[tuple[str, ...], ...] = (
    ("translate", "models/translation", "in/source.txt"),
    ("translate", "models/translation"),
    ("caption", "models/captioning", "in/digit.png"),
    ("caption", "models/captioning", "-"),
    ("classify", "models/classification", "in/digit.png"),
    ("classify", "models/classification", "-"),
    ("label", "models/text_classification", "in/source.txt"),
    ("read", "models/line_reading", "in/strip.png"),
    ("point", "models/pointing", "in/problems.jsonl"),
    ("point", "models/pointing"),
    ("ask", "models/story_qa", *_STORY),
    ("ask", "models/story_qa", "--file", "in/questions.jsonl"),
    ("look", "models/translation", "3 March 2020"),
    ("look", "runs/begun", "3 March 2020", "--target", "2020-03-03"),
    ("look", "models/algorithms"),
    ("align", "models/translation", "--source", "in/source.txt", "--target", "in/target.txt"),
    ("align", "models/translation", "--table", "in/pairs.tsv", "--gold", "in/links.txt"),
    ("evaluate", "models/translation", "--source", "in/source.txt", "--reference", "in/target.txt"),
    ("evaluate", "models/captioning", "--images", "in/scenes", "--captions", "in/scenes/captions.jsonl"),
    ("evaluate", "models/classification", "--images", "in/digits"),
    ("evaluate", "models/line_reading", "--images", "in/scenes", "--captions", "in/scenes/captions.jsonl"),
    ("evaluate", "models/pointing", "--data", "in/problems.jsonl"),
    ("evaluate", "models/story_qa", "--data", "in/stories.txt"),
    ("evaluate", "models/algorithms", "--lengths", "2"),
)

# The recipes that want nothing from elsewhere, with settings that make them small.
_SMALL = {
    **{recipe[0]: recipe[1:] for recipe in RECIPES.values()},
    "numbers": SUBWORDS[1:],
    "hull": RECIPES["pointing"][1:],
    "lstm-copy": (
        "data.max_length=4",
        "model.dim=8",
        "train.batch_size=2",
        "validation.sequences=2",
        "validation.length=6",
    ),
    "ntm-recall": RECIPES["algorithms"][1:],
    "lines-attention": RECIPES["line_reading"][1:],
}
_BAD_VALUES = (
    "",
    "0",
    "-1",
    "1",
    "2",
    "1e400",
    "nan",
    "x",
    "null",
    "[]",
    "{}",
    "[1,",
    "!!set {}",
    "&a [*a]",
    "9" * 5000,
)


_BAD = 0.1  # the share of values that are drawn to be bad; of five, two in five lines have one


class CommandLine(NamedTuple):
    """The words after `saccade`, and what they name to be written."""

    words: list[str]
    named: list[Named]


def draw(rng: random.Random, *, folder: str) -> CommandLine:
    """A command line. `folder` is where a recipe's data may lie."""
    if rng.random() < 0.02:
        return CommandLine([_bad(rng) for _ in range(rng.randint(0, 3))], [])
    if rng.random() < 0.5:
        return _more_than_right(rng)
    command = rng.choice([*all_commands(), "train", "train"])
    return _training(rng, folder) if command == "train" else _of_parser(_parser_of(command), [command], rng)


def _parser_of(command: str) -> Parser:
    parser = Parser(prog=command)
    importlib.import_module(all_commands()[command][0]).add_arguments(parser)
    return parser


def _more_than_right(rng: random.Random) -> CommandLine:
    """A line that is right, with some options more."""
    words = list(rng.choice(_RIGHT))
    options = [action for action in _parser_of(words[0])._actions if action.option_strings and action.dest != "help"]  # noqa: SLF001
    named: list[Named] = []
    for action in rng.sample(options, rng.choice([0, 1, 1, 2, 3])):
        values = _values(action, words, rng)
        named += _named(action, values, words)
        words += [rng.choice(action.option_strings), *values]
    return CommandLine(words, named)


def _bad(rng: random.Random) -> str:
    return rng.choice([*_BAD_WORDS, *_BAD_PATHS, *_BAD_NUMBERS])


def _of_parser(parser: argparse.ArgumentParser, words: list[str], rng: random.Random) -> CommandLine:
    """Words for the parser's own, in a drawn order; where there are commands within a command, one of these."""
    given: list[list[str]] = []
    named: list[Named] = []
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way to ask
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            return _of_command_within(action, words, rng)
        if isinstance(action, argparse._HelpAction):  # noqa: SLF001
            given += [["--help"]] * (rng.random() < 0.01)
        elif action.option_strings:
            if not action.required and rng.random() > 0.12:  # or lines would be refused for the first of many
                continue
            values = _values(action, words, rng)
            named += _named(action, values, words)
            given.append([rng.choice(action.option_strings), *values])
        elif action.required or rng.random() < 0.7:
            values = _values(action, words, rng)
            named += _named(action, values, words)
            given.append(values)
    if "overwrite" in {action.dest for action in parser._actions} and ["--overwrite"] in given:  # noqa: SLF001
        named = [one._replace(overwrite=True) for one in named]
    if rng.random() < 0.03:
        given.append([_bad(rng)])
    if rng.random() < 0.05 and given:
        given.remove(rng.choice(given))
    options = [one for one in given if one and one[0].startswith("--")]
    rng.shuffle(options)
    plain = [word for one in given if one not in options for word in one]
    return CommandLine([*words, *plain, *(word for one in options for word in one), *_bounds(words, rng)], named)


def _of_command_within(action: "argparse._SubParsersAction[Any]", words: list[str], rng: random.Random) -> CommandLine:
    name = rng.choice(list(action.choices))
    line = _of_parser(action.choices[name], [*words, name], rng)
    if words != ["data"] or name != "get":
        return line
    if "--from" not in line.words:  # nothing is fetched here
        line = line._replace(words=[*line.words, "--from", "in"])
    if not any("--out" in word for word in line.words):
        line = line._replace(named=[*line.named, Named("data", "public")])
    return line


def _bounds(words: list[str], rng: random.Random) -> list[str]:
    """Last, and so in place of what was said before: no more than a moment's work."""
    if words[:2] != ["data", "make"] or len(words) < 3:
        return []
    sizes = {"shapes": ("scenes",), "stories": ("stories", "test")}.get(words[2], ("pairs", "valid", "test"))
    return [word for name in sizes for word in (f"--{name}", rng.choice(_GOOD_NUMBERS))]


def _values(action: argparse.Action, words: list[str], rng: random.Random) -> list[str]:
    if action.nargs == 0:
        return []
    count = {"+": rng.randint(1, 2), "*": rng.randint(0, 2)}.get(str(action.nargs), action.nargs)
    return [_value(action, words, rng) for _ in range(count if isinstance(count, int) else 1)]


def _value(action: argparse.Action, words: list[str], rng: random.Random) -> str:
    """A good value mostly, so that a command gets far enough to meet the bad ones."""
    values = _good_values(action, words) if rng.random() > _BAD else _bad_values(action, words)
    return rng.choice(values or _bad_values(action, words))


def _good_values(action: argparse.Action, words: list[str]) -> Sequence[str]:
    name, ending = action.dest, _OUTPUTS.get(action.dest, "")
    new = (f"new{ending}", f"sub/new{ending}", f"{_NO_TEXT}{ending}", f"in/empty{ending}")
    tasks = [_MODEL_OF[words[0]]] if words[0] in _MODEL_OF else list(RECIPES)
    known: tuple[tuple[bool, Sequence[str]], ...] = (
        (_is_output(action, words), new),
        (action.choices is not None, list(action.choices or ())),
        (_is_model(action), [f"models/{task}" for task in tasks]),
        (words[0] == "recipe", recipe_names()),
        (action.metavar == "LANG", ("en", "fr", "de")),
        (name in _GOOD and words[0] != "data", _GOOD.get(name, ())),
        (action.metavar in _NUMBERS, _GOOD_NUMBERS),
    )
    return next((values for fits, values in known if fits), ())


def _bad_values(action: argparse.Action, words: list[str]) -> Sequence[str]:
    if _is_output(action, words):
        return (*_BAD_OUTPUTS, ".env.template", "link/new.png")
    if action.metavar in _NUMBERS:
        return _BAD_NUMBERS if action.dest in _WORK else (*_BAD_NUMBERS, *_LARGE_NUMBERS)
    if _is_model(action):
        return (*_MODELS, *_BAD_PATHS)
    endless = () if (words[0], action.dest) in _ENDLESS else ("/dev/zero", "/dev/full")
    return (*_BAD_WORDS, *_BAD_PATHS, *endless)


def _is_model(action: argparse.Action) -> bool:
    return action.metavar == "MODEL"


def _is_output(action: argparse.Action, words: list[str]) -> bool:
    if action.dest == "out":
        return True
    if words[0] == "recipe":
        return action.dest == "file"
    return action.dest in _OUTPUTS and action.nargs != 0


def _named(action: argparse.Action, values: list[str], words: list[str]) -> list[Named]:
    if not _is_output(action, words):
        return []
    if action.dest == "out":
        return [Named(value, "public" if words[1] == "get" else "corpus") for value in values]
    return [Named(value) for value in values]


def _training(rng: random.Random, folder: str) -> CommandLine:
    """A training of three steps at the most; where it goes on with one, of so many that nothing is left to do."""
    good = rng.random() < 0.6
    folders = ("runs/new", "runs/a/b") if good else (".", "", "sub", "runs/begun", "models/pointing", *_BAD_OUTPUTS)
    names = _SMALL if good else (*recipe_names(), "in/mine.yaml", "in/broken.yaml", *_BAD_WORDS, *_BAD_PATHS)
    folder, name = rng.choice(folders), rng.choice(list(names))
    run = [] if rng.random() < 0.03 else ["--run", folder]
    settings = [f"{key}={value}" for key, value in _settings(name, rng)]
    small = [word.format(folder=folder) for word in _SMALL.get(name, ("model.dim=8", "data.validation_size=2"))]
    bounds = [*small, *_TRAINING_BOUNDS, f"train.steps={rng.randint(1, 3)}"]
    if rng.random() < 0.1:
        small, name = [], ""
        bounds = [f"train.steps={rng.randint(1, 13)}"]
    words = ["train", *([name] if name else []), *settings, *run, *bounds]
    return CommandLine(words, [Named(folder, "run")] if run else [])


_TRAINING_BOUNDS = ("train.accumulate=1", "train.tensorboard=false", "train.threads=1")


def _settings(name: str, rng: random.Random) -> Iterator[tuple[str, str]]:
    """Settings of the recipe, with other values, and some that there are not."""
    keys = ["x", "", "model", "train.", ".", "data.x.y", "task", "model.kind", "train.steps.x"]
    if name in recipe_names():
        keys += _keys(load_recipe(name).model_dump(mode="json"))
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2, 4])):
        yield rng.choice(keys), rng.choice(_BAD_VALUES)


def _keys(values: dict[str, Any], prefix: str = "") -> list[str]:
    inner = [
        key for name, value in values.items() if isinstance(value, dict) for key in _keys(value, f"{prefix}{name}.")
    ]
    return [*(prefix + name for name in values), *inner]
