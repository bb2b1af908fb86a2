"""`import saccade`: it is quick, whatever is in it comes when it is asked for, and type checkers see the same names."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import saccade

ROOT = Path(__file__).parent.parent


def python(*arguments: str) -> str:
    """What a fresh Python prints."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout  # noqa: S603


def test_importing_it_imports_nothing_large() -> None:
    large = "{'torch', 'numpy', 'PIL', 'pydantic', 'matplotlib', 'sentencepiece', 'rich'} & sys.modules.keys()"
    assert python("-c", f"import saccade, sys; print({large})") == "set()\n"


def test_the_overview_of_commands_does_not_load_torch() -> None:
    code = "import runpy, sys; sys.argv = ['saccade', '--help']\n"
    code += "try: runpy.run_module('saccade', run_name='__main__')\n"
    code += "except SystemExit as end: print('code', end.code, 'torch' in sys.modules)"
    *overview, last = python("-c", code).splitlines()
    assert last == "code 0 False"
    assert any(line.split()[:3] == ["train", "train", "a"] for line in overview)
    assert python("-m", "saccade", "--help").splitlines() == overview


def test_rooms_and_names_come_when_they_are_asked_for() -> None:
    code = """
import saccade, sys
print(saccade.attention.Additive.__name__, "saccade.nets" in sys.modules)
print(saccade.look.save_page.__name__, saccade.decode.Search(beam=2).beam, saccade.text.Pair("a", "b").target)
print(saccade.tasks.TASKS[0], saccade.metrics.score_captions.__name__, saccade.Translator.translate.__name__)
"""
    assert python("-c", code).splitlines() == [
        "Additive False",
        "save_page 2 b",
        "translation score_captions translate",
    ]


def test_all_names_are_there_and_what_type_checkers_see() -> None:
    assert all(getattr(saccade, name) is not None for name in saccade.__all__)
    assert set(saccade.__all__) <= set(dir(saccade))
    tree = ast.parse((ROOT / "saccade/__init__.py").read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    seen = {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == set(saccade.__all__) - {"__version__"}


def test_a_name_that_there_is_not() -> None:
    with pytest.raises(AttributeError, match="module 'saccade' has no attribute 'Translater'"):
        saccade.Translater  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(ImportError, match="cannot import name 'lock' from 'saccade'"):
        exec("from saccade import lock")  # noqa: S102
