"""bAbI by name: all files, each with all questions; the real ones where they are."""

import tarfile
from pathlib import Path

import pytest

from saccade.cli.main import main
from saccade.tasks.story_qa import public

SHARED = Path(__file__).parents[4] / "shared" / "data" / "babi"


def get(there: Path, here: Path) -> int:
    return main(["data", "get", "babi", "--from", str(there), "--out", str(here)])


def test_the_archive_becomes_what_the_recipe_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(public, "_QUESTIONS", 2)
    root, there = tmp_path / "tasks_1-20_v1-2", tmp_path / "there"
    there.mkdir()
    text = "1 Mary went home.\n2 Where is Mary?\thome\t1\n3 Where is she?\thome\t1\n"
    for folder in ("en", "en-10k", "hn", "shuffled"):
        (root / folder).mkdir(parents=True)
        for task in range(1, 21):
            for part in ("train", "test"):
                (root / folder / f"qa{task}_some-task_{part}.txt").write_text(text)
    with tarfile.open(there / "babi_tasks_1-20_v1-2.tar.gz", "w:gz") as archive:
        archive.add(root, arcname=root.name)
    assert get(there, tmp_path / "here") == 0
    assert "here: 40 files of 2 questions in en, and 40 files in en-10k; no checksum" in capsys.readouterr().out
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == ["en", "en-10k"]

    (root / "en" / "qa7_some-task_test.txt").write_text(text.replace("3 Where is she?\thome\t1\n", ""))
    assert get(root, tmp_path / "other") == 2
    assert "babi: 1 question in qa7_some-task_test.txt, wanted 2; get it anew" in capsys.readouterr().err
    (root / "en" / "qa7_some-task_test.txt").unlink()
    assert get(root, tmp_path / "other") == 2
    assert "babi: 0 files en/qa7_..._test.txt, wanted one" in capsys.readouterr().err


def test_the_real_files_are_those_that_are_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if not SHARED.is_dir():
        pytest.skip("no bAbI in ../shared/data")
    assert get(SHARED, tmp_path) == 0
    assert "40 files of 1,000 questions in en, and 39 files in en-10k" in capsys.readouterr().out
