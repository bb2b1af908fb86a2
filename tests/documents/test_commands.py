"""Every command line and every setting that documents show is one that there is."""

import argparse
import contextlib
import functools
import importlib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from saccade.base.errors import InputError
from saccade.base.settings import Settings
from saccade.cli.main import all_commands, parse, parser_of
from saccade.tasks.find_recipe import load_recipe, recipe_names
from tests.documents.pages import COMMANDS, DOCUMENTS, ROOT, Section, command_lines, name_of, sections_of, split_line

LANGUAGES = {COMMANDS, "python", "text", "json", "yaml"}
PROGRAMS = {"saccade", "echo", "make", "pip", "python"}

# What stands for a reader's own: `train.seed=N`, `data.train=...`, `--run DIR`.
PLACEHOLDER = re.compile(r"[A-Z]+|\.\.\.")
# What CONTRIBUTING.md has its reader write, section by section; tests/test_contributing.py does it, and tries it.
WRITTEN = {"How to add a score": "distance", "How to add a task": "tag"}

SETTING = re.compile(r"(?!\S+\.(safetensors|tsv|py)$)[a-z_]+(\.[a-z_]+)+(=\S*)?")

of_each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
# The changes tell of names that were once.
TODAY = [document for document in DOCUMENTS if document.name != "CHANGELOG.md"]
of_each_of_today = pytest.mark.parametrize("document", TODAY, ids=name_of)


def problem_with(words: list[str], *, whole: bool) -> str | None:
    """What is wrong with a command; only a `whole` one has to have all its arguments."""
    program, *rest = words
    if program == "saccade":
        return _problem_with_saccade(rest, whole=whole)
    if program == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        return next((f"make has no {word}" for word in rest if word not in targets), None)
    if program == "python":
        modules = [rest[at + 1].replace(".", "/") for at, word in enumerate(rest) if word == "-m"]
        there = [(ROOT / f"{module}.py").exists() or (ROOT / module / "__main__.py").exists() for module in modules]
        return None if there and all(there) else f"no such module: {rest}"
    return None if program in PROGRAMS else f"an unknown program: {program}"


def _problem_with_saccade(words: list[str], *, whole: bool) -> str | None:
    if words in (["--help"], ["--version"]):
        return None
    if not words or words[0] not in all_commands():
        return f"saccade has no {words[:1]}"
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            parse(words)
    except SystemExit as end:
        if not end.code:
            return None  # --help
        return said.getvalue() if whole else _problem_with_mention(parser_of(words[0]), words[1:])
    return None


def _problem_with_mention(parser: argparse.ArgumentParser, words: list[str]) -> str | None:
    """`saccade data make`, `saccade evaluate ... --json`: commands, then perhaps dots and options."""
    parsers, words = {parser.prog: parser, **dict(parsers_in(parser))}, [parser.prog, *words]
    known = max(n for n in range(1, len(words) + 1) if " ".join(words[:n]) in parsers)
    options, rest = parsers[" ".join(words[:known])]._option_string_actions, words[known:]
    if rest[:1] != ["..."] and not all(word in options for word in rest):
        return f"neither a whole command nor a part of one: {words}"
    return next((f"no option {word}" for word in rest if word.startswith("--") and word not in options), None)


def parsers_in(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """The parsers of commands within a command, by their full names."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield inner.prog, inner
                yield from parsers_in(inner)


def spans_of(section: Section) -> list[str]:
    """What stands between backticks, but for what the section has its reader write."""
    word = WRITTEN.get(section.heading)
    return [span for span in section.spans if word is None or word not in span]


def commands_of(section: Section) -> Iterator[tuple[list[str], bool]]:
    """The commands that a section shows, and of each whether it is a whole one."""
    for block in section.blocks:
        if block.language == COMMANDS:
            yield from ((words, True) for line in command_lines(block) for words in split_line(line))
    for span in spans_of(section):
        if re.match(r"([A-Z_]+=\S+ )?(saccade|make|python|pip) ", span):
            yield from ((words, False) for words in split_line(span))


@of_each_document
def test_commands_are_those_that_there_are(document: Path) -> None:
    for section in sections_of(document):
        for block in section.blocks:
            assert block.language in LANGUAGES, f"{section.heading}: a new kind of block, {block.language}"
            hidden = re.search(r"^[\s$>]*saccade ", block.text, re.MULTILINE) and block.language != COMMANDS
            assert not hidden, f"{section.heading}: commands stand in indented blocks: {block.text}"
        for words, whole in commands_of(section):
            problem = problem_with(words, whole=whole)
            assert problem is None, f"{section.heading}: {' '.join(words)}: {problem}"


@of_each_of_today
def test_options_are_those_that_there_are(document: Path) -> None:
    parsers = [parser_of(name) for name in all_commands()]
    parsers += [inner for parser in parsers for _, inner in parsers_in(parser)]
    for section in sections_of(document):
        for span in spans_of(section):
            option, _, value = span.partition(" ")
            if option.startswith("--"):
                actions = [found for parser in parsers if (found := parser._option_string_actions.get(option))]
                assert actions, f"{section.heading}: no command has {option}"
                fits = [action.choices is None or value in action.choices for action in actions]
                assert not value or PLACEHOLDER.fullmatch(value) or any(fits), f"{section.heading}: {span}"


def keys_of(values: dict[str, Any], prefix: str = "") -> set[str]:
    """The paths of settings and of groups of them."""
    inner = (keys_of(value, f"{prefix}{name}.") for name, value in values.items() if isinstance(value, dict))
    return {f"{prefix}{name}" for name in values}.union(*inner)


def problem_with_settings(recipe: str, settings: list[str]) -> str | None:
    """Why a recipe does not take these settings; of one without a value, or with a placeholder, the name counts."""
    valued = [one for one in settings if "=" in one and not PLACEHOLDER.fullmatch(one.partition("=")[2])]
    try:
        known = load_recipe(recipe, valued)
    except InputError as error:
        return str(error)
    assert isinstance(known, Settings)
    names = {one.partition("=")[0] for one in settings if one not in valued}
    unknown = names - keys_of(known.model_dump(mode="json"))
    return f"{recipe} has no {unknown}" if unknown else None


def recipe_of(name: str, document: Path) -> str:
    """The recipe that a name stands for; that of a file is the one that the document has copied into it."""
    shown = (words for section in sections_of(document) for words, _ in commands_of(section))
    copies = {words[4]: words[3] for words in shown if words[1:3] == ["recipe", "new"] and len(words) == 5}
    return copies.get(name, name)


@of_each_document
def test_settings_of_trainings_are_their_recipes(document: Path) -> None:
    for section in sections_of(document):
        for words, whole in commands_of(section):
            if words[:2] != ["saccade", "train"] or (len(words) == 2 and not whole):
                continue
            what = parse(words[1:]).what
            settings = [word for word in what if "=" in word and word != "key=value"]
            for recipe in (word for word in what if "=" not in word and word != "RECIPE"):
                problem = problem_with_settings(recipe_of(recipe, document), settings)
                assert problem is None, f"{section.heading}: {' '.join(words)}: {problem}"


@pytest.mark.parametrize("document", TODAY, ids=name_of)  # the changelog tells what settings were called before
def test_settings_by_themselves_are_those_of_a_recipe_nearby(document: Path) -> None:
    """Of one that the section names; of one of the page, where it names none; of any, where the page names none."""
    sections = sections_of(document)
    on_page = [recipe for section in sections for recipe in recipes_in(section)]
    for section in sections:
        for span in spans_of(section):
            words = span.split()
            if all(SETTING.fullmatch(word) for word in words) and words[0].partition(".")[0] in groups():
                nearby = recipes_in(section) or on_page or recipe_names()
                problems = [problem_with_settings(recipe, words) for recipe in nearby]
                assert None in problems, f"{section.heading}: {span}: {problems}"


@functools.cache
def groups() -> set[str]:
    """The groups of settings that recipes have: data, model, train, ..."""
    recipes = [load_recipe(recipe).model_dump() for recipe in recipe_names()]
    return {key for recipe in recipes for key, value in recipe.items() if isinstance(value, dict)}


def recipes_in(section: Section) -> list[str]:
    """The recipes that a section names, in its prose or in its commands."""
    code = [*spans_of(section), *(word for words, _ in commands_of(section) for word in words)]
    words = {word for span in code for word in span.split()}
    return [recipe for recipe in recipe_names() if recipe in words]


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ("saccade trian dates --run runs/dates", True),
        ("saccade translate", True),
        ("saccade translate DIR/model --bean 5", True),
        ("saccade translate DIR/model --bean 5", False),
        ("saccade evaluate ... --bean 5", False),
        ("saccade data mak", False),
        ("make tea", True),
        ("python -m bench.tea", True),
        ("brew tea", True),
    ],
)
def test_the_check_of_commands_can_fail(line: str, *, whole: bool) -> None:
    assert problem_with(line.split(), whole=whole) is not None


@pytest.mark.parametrize("setting", ["train.stepz=5", "model.cell=tea", "train.stepz", "train.stepz=N"])
def test_the_check_of_settings_can_fail(setting: str) -> None:
    assert problem_with_settings("dates", [setting]) is not None


@of_each_of_today
def test_names_of_python_and_files_are_those_that_there_are(document: Path) -> None:
    """Such as `saccade.training.Task` and `saccade/nets/decoder.py`."""
    files = re.compile(r"(saccade|tests|bench|docs|examples|soak)/[a-z0-9_/]*(\.\w+)?")
    for section in sections_of(document):
        for span in spans_of(section):
            name = re.match(r"saccade(\.[a-z]\w*)+", span, re.IGNORECASE)
            if name:
                assert resolves(name[0]), f"{section.heading}: {span}"
            elif files.fullmatch(span):
                assert (ROOT / span).exists(), f"{section.heading}: {span}"


def resolves(name: str) -> bool:
    """Whether a dotted name leads to a module, or to something in one."""
    parts = name.split(".")
    found: Any = importlib.import_module(parts[0])
    for at, part in enumerate(parts[1:], start=2):
        if not hasattr(found, part):
            try:
                importlib.import_module(".".join(parts[:at]))
            except ImportError:
                return False
        found = getattr(found, part)
    return True


def test_the_check_of_names_can_fail() -> None:
    assert resolves("saccade.base.errors.InputError")
    assert not resolves("saccade.models.Translator")
    assert not resolves("saccade.training.Tea")
