"""saccade label, evaluate, look and data make, for texts."""

import io
import json
from pathlib import Path

import pytest

from saccade.cli.main import main
from saccade.tasks.text_classification.labelled import read_labelled_texts
from saccade.tasks.text_classification.model import TextClassifier
from tests.tasks.text_classification.makers import LABELS, small_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("labels") / "model"
    small_model("transformer").save(folder)
    return folder


def said(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> tuple[str, str]:
    assert main(list(map(str, words))) == code
    found = capsys.readouterr()
    return found.out, found.err


def test_label_has_a_record_for_each_line(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = ["a b", "not a", "c " * 20]
    path = tmp_path / "texts.txt"
    path.write_text("\n".join([*texts[:2], "", texts[2]]) + "\n")
    wanted = TextClassifier.load(model).classify(texts)
    out, err = said(capsys, "label", model, path)
    lines = [f"{one.label} {one.probability:.3f}" for one in wanted]
    assert out.splitlines() == [*lines[:2], "", lines[2]]
    assert "line 4: of 20 tokens, the model reads the first 11" in err
    out, _ = said(capsys, "label", model, path, "--top", 2)
    assert [len(line.split("\t")) for line in out.splitlines()] == [2, 2, 1, 2]
    records = [json.loads(line) for line in said(capsys, "label", model, path, "--json")[0].splitlines()]
    assert [record["label"] for record in records] == [wanted[0].label, wanted[1].label, "", wanted[2].label]
    assert records[0]["tokens"] == [" a", " b"]
    assert sum(records[0]["attention"][0]) == pytest.approx(1, abs=1e-3)


def test_label_reads_a_pipe(model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a b\n")))
    (wanted,) = TextClassifier.load(model).classify(["a b"])
    assert said(capsys, "label", model)[0] == f"{wanted.label} {wanted.probability:.3f}\n"


def test_evaluate_has_a_table_of_confusions(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = ["a b", "not a", "c", "e d e"]
    found = [one.label for one in TextClassifier.load(model).classify(texts)]
    truth = [*found[:3], next(label for label in LABELS if label != found[3])]
    path = tmp_path / "texts.csv"
    path.write_text("".join(f"{line}\n" for line in ["y,x", *map(",".join, zip(truth, texts, strict=True))]))
    words = ["evaluate", model, "--data", path, "--text-column", "x", "--label-column", "y"]
    record = json.loads(said(capsys, *words, "--json")[0])
    assert (record["texts"], record["accuracy"], record["labels"]) == (4, 75, list(LABELS))
    rows = [[0] * 3 for _ in LABELS]
    for one, other in zip(truth, found, strict=True):
        rows[LABELS.index(one)][LABELS.index(other)] += 1
    assert record["confusion"] == rows
    out, _ = said(capsys, *words)
    assert out.startswith(f"4 texts\naccuracy    75.00\nmacro_f1   {record['macro_f1']:6.2f}\n\nlabel one two three")
    table = [line.split() for line in out.splitlines()[-3:]]
    assert [(line[0], list(map(int, line[1:-1]))) for line in table] == list(zip(LABELS, rows, strict=True))


def test_evaluate_refuses(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "texts.tsv"
    path.write_text("label\ttext\none\ta\nfour\tb\n")
    _, err = said(capsys, "evaluate", model, "--data", path, code=2)
    assert err == f"saccade: {path}, line 3: 'four' is no label of this model; it knows one, two, three\n"
    assert "wanted --data FILE" in said(capsys, "evaluate", model, code=2)[1]
    path.write_text(f"label\ttext\none\t{'a ' * 20}\n")
    assert f"{path}: 1 texts are longer than 11 tokens" in said(capsys, "evaluate", model, "--data", path)[1]


def test_look_shows_which_words_decided(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(said(capsys, "look", model, "not a b", "--json")[0])
    (wanted,) = TextClassifier.load(model).classify(["not a b"], attention=True)
    assert wanted.attention is not None
    assert (found["rows"], found["columns"], found["kind"]) == ([wanted.label], ["not", "a", "b"], "cross")
    assert found["weights"][0][0][0] == pytest.approx(wanted.attention[0, 0, 0].tolist(), abs=1e-3)
    seen = json.loads(said(capsys, "look", model, "not a b", "--json", "--kind", "encoder", "--layer", 2)[0])
    assert seen["rows"] == seen["columns"] == ["<s>", "not", "a", "b"]
    said(capsys, "look", model, "not a b", "--html", tmp_path / "map.html")
    assert (tmp_path / "map.html").exists()
    assert f"({wanted.label} {wanted.probability:.3f})" in said(capsys, "look", model, "not a b")[0]
    assert "TEXT: found nothing" in said(capsys, "look", model, code=2)[1]
    small_model("lstm mean").save(tmp_path / "mean")
    assert "looks at nothing" in said(capsys, "look", tmp_path / "mean", "a", code=2)[1]


def test_data_make_writes_what_is_learnt_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--texts", "30", "--valid", "7", "--test", "5"]
    words = ["data", "make", "reviews", *sizes, "--out", tmp_path / "reviews"]
    out, _ = said(capsys, *words)
    for split, size in (("train", 30), ("valid", 7), ("test", 5)):
        path = tmp_path / "reviews" / f"{split}.tsv"
        assert f"{path}: {size} texts, such as " in out
        assert len(read_labelled_texts(path)) == size
    assert "stands there already" in said(capsys, *words, code=2)[1]
    said(capsys, *words, "--overwrite")
