"""saccade look of a language model: surprise, maps and the measures of heads."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from saccade.base.errors import InputError
from saccade.cli.main import main
from saccade.look import load_map
from saccade.tasks.language_modeling.model import LanguageModel
from saccade.tasks.language_modeling.spelling import spell
from saccade.text.vocabularies.running import (
    RunningCharacters,
    RunningSubwords,
    RunningVocabulary,
    RunningWords,
    Utf8Bytes,
)
from tests.tasks.language_modeling.makers import CONTEXT, small_model

TEXT = "(abc de)\nfgh ij"  # brackets are unknown to the models
SPELLED = "A naïve\tcafé, ▁ 😀:\n\n “three  cats”"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("look")
    for name in ("gpt learned", "gru", "rnn additive window"):
        small_model(name).save(folder / name.partition(" ")[0])
    return folder


def said(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> tuple[str, str]:
    try:
        ended = main(list(map(str, words)))
    except SystemExit as end:
        ended = end.code
    assert ended == code
    found = capsys.readouterr()
    return found.out, found.err


@pytest.mark.parametrize(
    "vocabulary",
    [
        RunningCharacters("acekt hrs"),
        Utf8Bytes(),
        RunningWords.learn(["A naïve three cats"], size=50, min_frequency=1),
        RunningSubwords.learn(["three cats, three naive cats\n" * 9], size=280),
    ],
)
def test_tokens_one_behind_the_other_are_the_text(vocabulary: RunningVocabulary) -> None:
    """Whatever is unknown, and however many tokens a character takes."""
    spelled = spell(vocabulary, SPELLED)
    assert "".join(spelled) == SPELLED
    assert len(spelled) == len(vocabulary.encode_ids(SPELLED))
    if isinstance(vocabulary, Utf8Bytes):
        assert spelled[4:6] == ["ï", ""]


def test_surprise_is_the_score_in_bits() -> None:
    model = small_model()
    (scored,) = model.score([TEXT])
    surprise = model.surprise(scored, name="text")
    assert "".join(surprise.tokens) == TEXT
    np.testing.assert_allclose(surprise.bits, [-value / math.log(2) for value in scored.log_probs], rtol=1e-5)
    assert surprise.mean == pytest.approx(math.log2(scored.perplexity), rel=1e-5)


def test_heads_are_measured_over_the_whole_text_in_windows() -> None:
    """What each looks at in each window by itself, and where a word or line begins in all of the text."""
    model = small_model()
    text = "ab\nc de fgh ij\nbc d"
    found = model.measure_heads([text]).by_name
    shares: dict[str, list[np.ndarray]] = {"previous": [], "line-end": [], "word-start": []}
    for first in range(0, len(text), CONTEXT):
        part = text[first : first + CONTEXT]
        (scored,) = model.score([part], attention=True)
        assert scored.attention is not None
        for row in range(1, len(part)):  # which has read the start, and so many letters of the part
            at = first + row - 1
            line = text.rfind("\n", 0, at)
            word = 1 + max(text.rfind(space, 0, at + 1) for space in " \n")
            places = {"line-end": line - first + 1, "word-start": word - first + 1 if word < at else 0}
            for name, place in places.items():
                if place > 0:  # in this part
                    shares[name].append(scored.attention[:, :, row, place])
            shares["previous"].append(scored.attention[:, :, row, row - 1])
    for name, wanted in shares.items():
        assert found[name].rows == len(wanted) > 3
        np.testing.assert_allclose(found[name].share, np.mean(wanted, axis=0), rtol=1e-5)


def test_a_recurrent_net_looks_at_no_state_of_its_own() -> None:
    found = small_model("rnn additive window").measure_heads([TEXT, "abc"])
    assert {"previous", "first", "word-start", "bracket"} <= set(found.by_name)
    assert "itself" not in found.by_name
    assert found.even_entropy <= math.log2(3)
    with pytest.raises(InputError, match="looks at nothing"):
        small_model("gru").measure_heads([TEXT])


def test_the_terminal_has_the_text_and_the_map(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = said(capsys, "look", folder / "gpt", "abc de", "--title", "")
    title, _, text, digits, *rest = out.splitlines()
    assert title.startswith("gpt: abc de (")
    assert (text, len(digits)) == ("abc de", 6)
    assert "bits a token, 9 for 9 or more" in rest
    assert any(line.endswith("██ ·· ·· ·· ·· ··") for line in rest)  # the first token had the start to look at
    assert err == ""
    alone, _ = said(capsys, "look", folder / "gpt", "abc de", "--surprise")
    assert out.startswith(alone)
    assert "·· ··" not in alone


def test_a_net_that_never_looks_shows_its_surprise(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = said(capsys, "look", folder / "gru", "abc de")
    assert out.splitlines()[2] == "abc de"
    record = json.loads(said(capsys, "look", folder / "gru", "abc de", "--json")[0])
    (scored,) = LanguageModel.load(folder / "gru").score(["abc de"])
    assert record["surprise"]["bits"] == pytest.approx([-value / math.log(2) for value in scored.log_probs], abs=1e-3)
    page, figure = tmp_path / "a.html", tmp_path / "a.svg"
    said(capsys, "look", folder / "gru", "abc de", "--html", page, "--svg", figure)
    said(capsys, "look", folder / "gru", "abc de", "--compare", folder / "gpt", "--html", page, "--svg", figure)
    assert 'id="text-1-token-0"' in figure.read_text()
    for option in ("--heads", "--best=first", "--layer=1"):
        assert "looks at nothing" in said(capsys, "look", folder / "gru", "abc", option, code=2)[1]


def test_numbers_as_json(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, "look", folder / "gpt", "abc de", "--json")
    assert json.loads(out)["surprise"]["tokens"] == list("abc de")
    (tmp_path / "map.json").write_text(out)
    assert load_map(tmp_path / "map.json").rows == tuple("abc de")
    heads = json.loads(said(capsys, "look", folder / "gpt", "abc de", "--heads", "--json")[0])
    assert np.shape(heads["measures"]["word-start"]["share"]) == (2, 2)
    assert "rows" not in heads


def test_the_best_head_for_a_place(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = LanguageModel.load(folder / "gpt").measure_heads([TEXT])
    layer, head = found.of("line-end").best
    best = ["--best", "line-end", "--json"]
    chosen = ["--layer", layer + 1, "--head", head + 1, "--json"]
    assert (
        said(capsys, "look", folder / "gpt", TEXT, *best)[0] == said(capsys, "look", folder / "gpt", TEXT, *chosen)[0]
    )
    lines = said(capsys, "look", folder / "gpt", TEXT, "--heads")[0].splitlines()
    (line,) = (line.split() for line in lines if line.startswith("line-end"))
    measure = found.of("line-end")
    assert line[1:4] == [str(layer + 1), str(head + 1), f"{measure.share[layer, head]:.3f}"]
    page = tmp_path / "a.html"
    said(capsys, "look", folder / "gpt", TEXT, *best[:2], "--html", page)
    assert f'"first": {{"map": 0, "layer": {layer}, "head": {head}}}' in page.read_text()
    assert '"measure": "line-end"' in page.read_text()
    said(capsys, "look", folder / "gpt", "a", "--html", page)  # too short to measure, and not to show
    assert '"heads": null' in page.read_text()


def test_a_file_is_read_to_its_end(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of its surprise all, and of the maps what fits into the context."""
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    out, err = said(capsys, "look", folder / "gpt", "--file", path, "--json")
    record = json.loads(out)
    assert "".join(record["surprise"]["tokens"]) == TEXT
    assert "".join(record["rows"][1:]) == TEXT[-CONTEXT + 1 :]
    assert "the window slid" in err
    for words, message in (
        (["abc", "--file", path], "--file: found a text beside it"),
        (["--file", tmp_path / "none.txt"], "none.txt"),
        (["abc", "--surprise", "--layer", "1"], "--surprise: found --layer beside it"),
        (["abc", "--best", "first", "--head", "1"], "--best: found --head beside it"),
        (["abc", "--heads", "--png", tmp_path / "a.png"], "--heads: it is a table"),
        (["abc", "--best", "bracket"], "bracket: no token of this text could look at such a place"),
        (["abc", "--best", "comma"], "comma"),
        (["a", "--heads"], "no token has a choice of where to look"),
        ([], "TEXT: found nothing"),
    ):
        assert message in said(capsys, "look", folder / "gpt", *words, code=2)[1]
    (tmp_path / "two.jsonl").write_text('{"text": "abc"}\n{"text": "de"}\n')
    assert "found 2 documents" in said(capsys, "look", folder / "gpt", "--file", tmp_path / "two.jsonl", code=2)[1]
    path.write_text("ab " * 400_000)
    assert "wanted at most 1,000,000" in said(capsys, "look", folder / "gpt", "--file", path, code=2)[1]
