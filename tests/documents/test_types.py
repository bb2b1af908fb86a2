"""The program of docs/python.md as a type checker sees it: nothing is wrong with it, and what is misspelt is found."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documents.pages import ROOT, sections_of

# What somebody could write in place of what stands there, and how the type checker calls that.
MISTAKES = {
    "a misspelt option": ("beam=3", "beem=3", "reportCallIssue"),
    "an option of another type": ("beam=3", 'beam="3"', "reportArgumentType"),
    "an option that another model has": ("beam=2, attention=True", "overlong='split'", "reportCallIssue"),
    "modules that are none": ("Patches(32)}", "'Patches'}", "reportArgumentType"),
    "no function": ("progress=print", "progress=True", "reportArgumentType"),
    "a misspelt method": (".caption([", ".captoin([", "reportAttributeAccessIssue"),
    "a misspelt model": ("saccade.Translator", "saccade.Translater", "reportAttributeAccessIssue"),
    "a misspelt room": ("saccade.look.", "saccade.lock.", "reportAttributeAccessIssue"),
    "what a result does not have": ("date.score", "date.scores", "reportAttributeAccessIssue"),
    "a setting that cannot be one": ('"train.steps": 40', '"train.steps": {40, 50}', "reportArgumentType"),
    "a misspelt argument of a training": ("callbacks=", "callback=", "reportCallIssue"),
    "a callback that says nothing": ("-> bool:", "-> None:", "reportIncompatibleMethodOverride"),
    "data of another kind": ("Splits(train=", "Splits(trian=", "reportCallIssue"),
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """By the name of the program, `right` or one of the mistakes: the rules that are broken in it."""
    folder = tmp_path_factory.mktemp("programs")
    blocks = [block for section in sections_of(ROOT / "docs" / "python.md") for block in section.blocks]
    program = "\n".join(block.text for block in blocks if block.language == "python")
    (folder / "right.py").write_text(program)
    for name, (text, wrong, _) in MISTAKES.items():
        assert text in program, f"docs/python.md has no {text} to be misspelt"
        (folder / f"{name}.py").write_text(program.replace(text, wrong, 1))
    settings = {"typeCheckingMode": "standard", "extraPaths": [str(ROOT)]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "--outputjson", "-p", str(folder)]
    said = subprocess.run(command, capture_output=True, check=False, timeout=300, text=True)  # noqa: S603
    rules: dict[str, set[str]] = {name: set() for name in ("right", *MISTAKES)}
    report = json.loads(said.stdout)
    assert report["summary"]["filesAnalyzed"] == len(rules)
    for one in report["generalDiagnostics"]:
        rules[Path(one["file"]).stem].add(one["rule"])
    return rules


def test_the_program_is_clean(found: dict[str, set[str]]) -> None:
    assert found["right"] == set()


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found(name: str, found: dict[str, set[str]]) -> None:
    assert MISTAKES[name][2] in found[name]
