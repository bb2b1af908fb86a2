"""saccade generate, score, evaluate and look."""

import json
import math
from pathlib import Path

import pytest
import torch

from saccade.cli.main import main
from saccade.tasks.language_modeling.model import LanguageModel
from saccade.text import END
from tests.tasks.language_modeling.makers import small_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("language") / "model"
    small_model().save(folder)
    return folder


def said(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> tuple[str, str]:
    assert main(list(map(str, words))) == code
    found = capsys.readouterr()
    return found.out, found.err


def test_generate_prints_prompt_and_text(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    how = {"tokens": 20, "temperature": 0.8, "top_k": 5, "top_p": 0.9, "seed": 7}
    (wanted,) = LanguageModel.load(model).generate(["abc"], **how)
    words = ["generate", model, "abc", "--tokens", 20, "--temperature", 0.8, "--top-k", 5, "--top-p", 0.9, "--seed", 7]
    out, err = said(capsys, *words)
    assert out == f"abc{wanted.text}\n"
    assert wanted.note
    assert err == f"saccade: {wanted.note}\n"
    assert said(capsys, *words, "--stream") == (out, err)
    record = json.loads(said(capsys, *words, "--json")[0])
    assert (record["prompt"], record["text"], record["tokens"]) == ("abc", wanted.text, wanted.tokens)
    assert len(record["attention"]) == 8


def test_generate_without_a_prompt_and_several(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "generate", model, "--tokens", 5, "--samples", 3)
    (wanted,) = LanguageModel.load(model).generate([""], tokens=5, samples=3)
    assert out == "\n---\n".join(one.text for one in (wanted, *wanted.alternatives)) + "\n"


def test_a_text_that_ended_early_is_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ends = small_model("gru")
    with torch.no_grad():
        ends.net.output.bias[END] = 100.0
    ends.save(tmp_path / "model")
    out, err = said(capsys, "generate", tmp_path / "model", "abc", "--tokens", 20)
    assert out == "abc\n"
    assert err == "saccade: the model ended the text after 1 of 20 tokens, as texts end that it learnt from\n"


def test_score_adds_up_documents(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = ["abc\nabc", "jih gfe dcb a"]
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    wanted = LanguageModel.load(model).score(texts)
    records = [json.loads(line) for line in said(capsys, "score", model, path, "--json")[0].splitlines()]
    assert [record["text"] for record in records] == texts
    for record, one in zip(records, wanted, strict=True):
        assert record["log_probs"] == pytest.approx(one.log_probs, abs=1e-4)
    total = sum(one.log_prob for one in wanted)
    out, err = said(capsys, "score", model, path)
    first, *rows = out.splitlines()
    assert first == f"20 tokens, 20 characters, log probability {total:,.2f}"
    figures = {row[:18].strip(): float(row[18:]) for row in rows}
    assert figures["perplexity"] == pytest.approx(math.exp(-total / 20), abs=1e-3)
    assert figures["bits per character"] == pytest.approx(-total / math.log(2) / 20, abs=1e-3)
    assert f"{path}, document 2: " not in err


def test_evaluate_has_both_kinds_of_windows(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "text.txt"
    path.write_text("abc def\nghij abä\n" * 5)
    out, err = said(capsys, "evaluate", model, "--data", path, "--json", "--batch-size", 3)
    found = json.loads(out)
    assert (found["tokens"], found["characters"], found["utf8_bytes"]) == (86, 85, 90)
    assert "5 of 86 tokens are not in the vocabulary" in err
    for name, sliding in (("windows", False), ("sliding", True)):
        (scored,) = LanguageModel.load(model).score([path.read_text()], sliding=sliding)
        # all but the end, which costs at least something
        assert 0 < found[name]["nats_per_token"] * 86 + scored.log_prob < 30
    out, _ = said(capsys, "evaluate", model, "--data", path)
    assert out.splitlines()[1].split() == ["windows", "sliding"]
    assert f"{found['sliding']['perplexity']:.4f}" in out
    assert "wanted --data PATH" in said(capsys, "evaluate", model, code=2)[1]


def test_look_shows_what_was_looked_at(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(said(capsys, "look", model, "abcab", "--json", "--layer", 2, "--head", 1)[0])
    assert (found["rows"], found["columns"], found["kind"]) == (list("abcab"), ["<s>", *"abca"], "decoder")
    (scored,) = LanguageModel.load(model).score(["abcab"], attention=True)
    assert scored.attention is not None
    assert found["weights"][0][0][3] == pytest.approx(scored.attention[1, 0, 3].tolist(), abs=1e-3)
    said(capsys, "look", model, "abcab", "--html", tmp_path / "map.html")
    assert "abcab" in (tmp_path / "map.html").read_text()
    assert "TEXT: found nothing" in said(capsys, "look", model, code=2)[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--stream", "--json"], "--stream: found --json beside it"),
        (["--stream", "--samples", "2"], "--stream: found --samples beside it"),
        (["--temperature", "-1"], "temperature: found -1.0, wanted 0, or"),
        (["--tokens", "0"], "found 0, wanted at least 1"),
    ],
)
def test_generate_refuses(model: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(["generate", str(model), "abc", *words])
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    assert message in capsys.readouterr().err
