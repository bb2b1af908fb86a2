"""The house: which room may know which, what the package ships, and that the README tells the truth."""

import ast
import contextlib
import io
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "saccade"

# From the top of the house to its ground. An import may only point down.
ROOMS = [
    "cli",
    "serve",
    "look",
    "tasks",
    "train",
    "models",
    "decode",
    "nets",
    "data",
    "metrics",
    "attention",
    "runtime",
]

# Under all rooms: these know none of them.
CELLAR = [
    "errors.py",
    "files.py",
    "packed.py",
    "settings.py",
    "tensors.py",
]

# What the attention room may import besides itself and the standard library.
GROUND = {"torch"}


def imports_of(path: Path) -> set[str]:
    """The full names of all modules that a file imports, wherever in the file."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the room"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def upward_imports(package: Path) -> list[str]:
    """Every import from a room to one above it."""
    found: list[str] = []
    for path in sorted(package.rglob("*.py")):
        room = path.relative_to(package).parts[0]
        if room not in ROOMS:
            continue
        for name in sorted(imports_of(path)):
            parts = name.split(".")
            if parts[0] == "saccade" and parts[1] in ROOMS and ROOMS.index(parts[1]) < ROOMS.index(room):
                found.append(f"{path.relative_to(package)} imports {name}")
    return found


def test_every_folder_is_a_room_with_something_in_it() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders <= {*ROOMS, "recipes"}
    for folder in folders:
        assert len(list((PACKAGE / folder).iterdir())) > 1


def test_imports_point_down() -> None:
    assert upward_imports(PACKAGE) == []


def test_the_cellar_knows_no_room() -> None:
    assert sorted(path.name for path in PACKAGE.glob("*.py")) == sorted([*CELLAR, "__init__.py", "__main__.py"])
    for name in CELLAR:
        known = {imported.split(".")[1] for imported in imports_of(PACKAGE / name) if imported.startswith("saccade.")}
        assert {f"{module}.py" for module in known} <= set(CELLAR), name


def test_the_check_of_imports_can_fail(tmp_path: Path) -> None:
    (tmp_path / "attention").mkdir()
    (tmp_path / "models").mkdir()
    (tmp_path / "attention" / "bad.py").write_text("def f():\n    from saccade.models import load\n")
    (tmp_path / "models" / "good.py").write_text("import saccade.attention.masks\n")
    assert upward_imports(tmp_path) == ["attention/bad.py imports saccade.models.load"]


def test_attention_stands_on_torch_alone() -> None:
    allowed = GROUND | {"saccade"} | sys.stdlib_module_names
    for path in (PACKAGE / "attention").rglob("*.py"):
        assert {name.split(".")[0] for name in imports_of(path)} <= allowed, path


def test_files_have_one_subject() -> None:
    for path in [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.c")]:
        assert len(path.read_text().splitlines()) <= 400, f"{path} is long: has it two subjects?"


def test_every_loop_in_c_has_its_row_in_contributing() -> None:
    rows = re.findall(r"^\| `(\w+\.c)` \|.*\| (`tests/.*) \|$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    assert sorted(name for name, _ in rows) == sorted(path.name for path in PACKAGE.rglob("*.c"))
    for _, tests in rows:
        assert all((ROOT / path.strip("`")).exists() for path in tests.split(", "))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_has_what_runs(wheel: Path) -> None:
    """The C source, the page's module and the type marker travel with the package."""
    names = zipfile.ZipFile(wheel).namelist()
    for source in [*PACKAGE.rglob("*.c"), *PACKAGE.rglob("*.h")]:
        assert str(source.relative_to(ROOT)) in names
    assert "saccade/py.typed" in names
    assert "saccade/recipes/dates.yaml" in names
    assert "saccade/look/page.js" in names
    assert not [name for name in names if name.startswith(("tests", "bench", "examples"))]


def test_an_install_from_the_wheel_can_write_a_page(wheel: Path, tmp_path: Path) -> None:
    """In a folder of its own, with the source out of sight."""
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(tmp_path / "there")]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True)  # noqa: S603
    code = (
        "import sys; sys.path.insert(0, 'there'); import saccade, pathlib; from saccade.look import *;"
        "assert 'there' in saccade.__file__, saccade.__file__;"
        "save_page(pathlib.Path('page.html'), [Panel('x', [AttentionMap(['a'], ['b'], [[1.0]])])])"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)  # noqa: S603
    assert "export default" in (tmp_path / "page.html").read_text()


def test_the_examples_of_the_readme_print_what_they_say() -> None:
    readme = (ROOT / "README.md").read_text()
    examples = re.findall(r"```python\n(.*?)```\s*```text\n(.*?)```", readme, re.DOTALL)
    assert len(examples) == 2
    for code, wanted in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "README.md", "exec"), {})  # noqa: S102
        assert printed.getvalue() == wanted


def test_the_readme_names_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text()
    assert "make demo" in readme
    assert "make test" in readme


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/results.md"])
def test_links_between_documents_lead_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / name).read_text()):
        assert ((ROOT / name).parent / target).exists(), f"{name} points to {target}"
