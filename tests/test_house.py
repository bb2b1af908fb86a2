"""The house: which room may know which, and what the package ships."""

import ast
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from saccade.tasks import TASKS
from saccade.tasks.kind import all_kinds

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "saccade"

# From the top of the house to its ground. An import may only point down; rooms of one floor do not know each other.
FLOORS = [
    {"cli"},
    {"show"},
    {"tasks"},
    {"console"},
    {"training"},
    {"look"},
    {"decode"},
    {"nets"},
    {"text", "vision"},
    {"metrics"},
    {"attention"},
    {"runtime"},
    {"base"},
]
FLOOR_OF = {room: number for number, floor in enumerate(FLOORS) for room in floor}

# What the attention room may import besides the standard library.
GROUND = ("torch", "saccade.attention", "saccade.runtime")


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


def is_in(name: str, room: str) -> bool:
    """Whether an imported name is a module, or of it."""
    return name == room or name.startswith(f"{room}.")


def bad_imports(package: Path) -> list[str]:
    """Every import that does not point down, or names one task where none may be named.

    A task knows no other; what tasks share, in `saccade/tasks` itself and in `saccade/cli`, knows none of them.
    """
    tasks = {path.name for path in (package / "tasks").glob("*") if (path / "__init__.py").exists()}
    found: list[str] = []
    for path in sorted(package.rglob("*.py")):
        room, *inside = path.relative_to(package).parts
        if room not in FLOOR_OF:
            continue
        own = inside[0] if room == "tasks" and inside[0] in tasks else None
        for name in sorted(imports_of(path)):
            there, *rest = name.split(".")[1:] if is_in(name, "saccade") and name != "saccade" else [""]
            upward = there in FLOOR_OF and there != room and FLOOR_OF[there] <= FLOOR_OF[room]
            of_a_task = there == "tasks" and rest and rest[0] in tasks and rest[0] != own
            if upward or of_a_task:
                found.append(f"{path.relative_to(package)} imports {name}")
    return found


def packages_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.is_dir() and path.name != "__pycache__"}


def write_package(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_every_folder_is_a_room_with_something_in_it() -> None:
    assert packages_in(PACKAGE) == set(FLOOR_OF)
    for room in FLOOR_OF:
        assert len(list((PACKAGE / room).glob("*.py"))) > 1
    assert sorted(path.name for path in PACKAGE.glob("*.py")) == ["__init__.py", "__main__.py"]


def test_contributing_lists_the_rooms_from_the_top_down() -> None:
    table = (ROOT / "CONTRIBUTING.md").read_text().partition("| room |")[2].partition("\n\n")[0]
    listed = [set(re.findall(r"`(\w+)`", row.split("|")[1])) for row in table.splitlines()[2:]]
    assert listed == FLOORS


def test_imports_point_down_and_name_no_task_but_their_own() -> None:
    assert bad_imports(PACKAGE) == []


def test_the_check_of_imports_can_fail(tmp_path: Path) -> None:
    files = {
        "attention/bad.py": "def f():\n    from saccade.tasks import load\n",
        "cli/bad.py": "from saccade.tasks.one import model\nfrom saccade.tasks import kind\n",
        "nets/good.py": "import saccade.attention.masks\nfrom saccade.text import pad\n",
        "tasks/bad.py": "import saccade.tasks.two.net\nimport saccade.tasks.kind\n",
        "tasks/one/__init__.py": "",
        "tasks/one/bad.py": "from saccade.tasks.two.net import Net\nfrom saccade.tasks.one.model import Model\n",
        "tasks/two/__init__.py": "",
        "text/bad.py": "from saccade.vision import images\nfrom saccade.base import errors\n",
    }
    write_package(tmp_path, files)
    assert bad_imports(tmp_path) == [
        "attention/bad.py imports saccade.tasks.load",
        "cli/bad.py imports saccade.tasks.one.model",
        "tasks/bad.py imports saccade.tasks.two.net",
        "tasks/one/bad.py imports saccade.tasks.two.net.Net",
        "text/bad.py imports saccade.vision.images",
    ]


def test_attention_stands_on_torch_and_runtime_alone() -> None:
    for path in (PACKAGE / "attention").rglob("*.py"):
        for name in imports_of(path):
            known = name.split(".")[0] in sys.stdlib_module_names or any(is_in(name, ground) for ground in GROUND)
            assert known, f"{path} imports {name}"


def test_the_table_of_tasks_lists_every_folder_of_one() -> None:
    assert packages_in(PACKAGE / "tasks") == set(TASKS)
    for task, kind in zip(TASKS, all_kinds(), strict=True):
        assert kind.name == task
        assert {kind.recipe.__module__, kind.model.__module__} == {
            f"saccade.tasks.{task}.recipe",
            f"saccade.tasks.{task}.model",
        }
        assert list((PACKAGE / "tasks" / task / "recipes").glob("*.yaml"))


# By the name of each task's recipe and model: the only folder that may ask whether something is one.
HOMES = {one.__name__: PACKAGE / "tasks" / kind.name for kind in all_kinds() for one in (kind.recipe, kind.model)}


def asked_for(path: Path) -> set[str]:
    """The classes that a file asks about: `isinstance(it, Name)`, `type(it) is Name`, `case Name()`."""
    asked: list[ast.AST] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            asked += node.args[1:] if node.func.id in ("isinstance", "issubclass") else []
        elif isinstance(node, ast.Compare):
            asked += [node.left, *node.comparators]
        elif isinstance(node, ast.MatchClass):
            asked.append(node.cls)
    within = [inner for node in asked for inner in ast.walk(node)]
    names = {node.id for node in within if isinstance(node, ast.Name)}
    return names | {node.attr for node in within if isinstance(node, ast.Attribute)}


def test_nobody_asks_what_kind_of_model_or_recipe_it_has() -> None:
    assert {"TranslationRecipe", "Translator", "NeuralTuringMachine"} < HOMES.keys()
    for path in PACKAGE.rglob("*.py"):
        strange = [name for name in asked_for(path) & HOMES.keys() if HOMES[name] not in path.parents]
        assert not strange, f"{path} asks for {strange}; let the task say it, in its TaskKind"


@pytest.mark.parametrize(
    "line",
    [
        "isinstance(it, Translator)",
        "isinstance(it, (int, model.Translator))",
        "issubclass(it, int | Translator)",
        "type(it) is Translator",
        "match it:\n    case Translator(): pass",
    ],
)
def test_the_check_of_questions_can_fail(line: str, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(f"{line}\n")
    assert "Translator" in asked_for(tmp_path / "bad.py")
    (tmp_path / "good.py").write_text("isinstance(Translator, type)\nit: Translator = make(Translator)\n")
    assert "Translator" not in asked_for(tmp_path / "good.py")


def test_files_have_one_subject() -> None:
    for path in [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.c"), *PACKAGE.rglob("*.h")]:
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
    """The C source, the page's module, the recipes and the type marker travel with the package."""
    names = zipfile.ZipFile(wheel).namelist()
    for source in [*PACKAGE.rglob("*.c"), *PACKAGE.rglob("*.h"), *PACKAGE.rglob("*.yaml")]:
        assert str(source.relative_to(ROOT)) in names
    assert "saccade/py.typed" in names
    assert "saccade/tasks/translation/recipes/dates.yaml" in names
    assert "saccade/look/page.js" in names
    assert not [name for name in names if name.startswith(("tests", "bench", "soak", "examples", "docs"))]


def test_the_source_distribution_has_what_make_test_needs(tmp_path: Path) -> None:
    """All that is tested, measured and read, the pictures of the pages as well."""
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603
    (built,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(built) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    folders = [path for name in ("saccade", "tests", "bench", "soak", "examples", "docs") for path in ROOT.glob(name)]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    files += [
        *ROOT.glob("*.md"),
        *(ROOT / name for name in ("LICENSE", "Makefile", "constraints.txt", "pyproject.toml")),
    ]
    assert len(folders) == 6
    assert {path.relative_to(ROOT).as_posix() for path in files} <= names


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
