"""Scores of translations, against sacrebleu's own command and against what can be counted."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from saccade.base.errors import InputError
from saccade.metrics import score_answers, score_by_length, score_captions, score_rouge, score_translations

REFERENCES = ["The house is small .", "A man walks over the street.", "Two dogs play in the snow."]
OUTPUTS = ["the house is small.", "A man walks across the street.", "Two dogs play in the snow."]


def test_figures_are_those_of_sacrebleus_command(tmp_path: Path) -> None:
    (tmp_path / "references").write_text("".join(f"{line}\n" for line in REFERENCES))
    (tmp_path / "outputs").write_text("".join(f"{line}\n" for line in OUTPUTS))
    scores = score_translations(OUTPUTS, REFERENCES)
    for name, options in (("bleu", []), ("bleu_lower", ["--lowercase"]), ("chrf", ["--metrics", "chrf"])):
        command = [sys.executable, "-m", "sacrebleu", str(tmp_path / "references"), "-i", str(tmp_path / "outputs")]
        run = subprocess.run([*command, *options, "-w", "8"], capture_output=True, encoding="utf-8", check=True)  # noqa: S603
        wanted = json.loads(run.stdout)
        assert scores[name].value == pytest.approx(wanted["score"], abs=1e-6)
        assert scores[name].signature == wanted["signature"]
    assert "case:mixed" in scores["bleu"].signature
    assert "case:lc" in scores["bleu_lower"].signature
    assert scores["bleu"].value < scores["bleu_lower"].value
    assert scores["exact_match"].value == pytest.approx(100 / 3)


def test_of_a_model_that_writes_lower_case_the_figure_that_fits_it_comes_first() -> None:
    """It cannot write "The", and is not blamed for it but in the cased figure, which comes last."""
    written = [text.lower() for text in REFERENCES]
    scores = score_translations(written, REFERENCES, lowercase=True)
    assert list(scores) == ["bleu_lower", "chrf", "exact_match", "bleu"]
    assert [round(scores[name].value, 6) for name in ("bleu_lower", "chrf", "exact_match")] == [100] * 3
    assert "case:lc" in scores["bleu_lower"].signature
    assert "case:lc" in scores["chrf"].signature
    assert scores["exact_match"].signature == "equal strings, in lower case"
    as_usual = score_translations(written, REFERENCES)
    assert scores["bleu"] == as_usual["bleu"]
    assert scores["bleu_lower"] == as_usual["bleu_lower"]
    assert list(as_usual) == ["bleu", "bleu_lower", "chrf", "exact_match"]
    (group,) = score_by_length(REFERENCES, written, REFERENCES, width=20, lowercase=True)
    assert group.scores == scores


def test_a_text_in_place_of_a_list_is_refused() -> None:
    """It would be taken letter by letter, and score something."""
    with pytest.raises(InputError, match=r"^outputs: found a text, wanted a list of texts; write \[text\]$"):
        score_translations("a b", "a b")
    with pytest.raises(InputError, match="references: found a text"):
        score_translations(["a", "b"], "ab")
    with pytest.raises(InputError, match="sources: found a text"):
        score_by_length("ab", ["a", "b"], ["a", "b"], width=5)
    with pytest.raises(InputError, match="answers: found a text"):
        score_answers("a", [["a"]])
    with pytest.raises(InputError, match=r"golds, number 2: found a text, wanted a list of the texts that are right"):
        score_answers(["a", "b"], [["a"], "b"])
    with pytest.raises(InputError, match="summaries: found a text"):
        score_rouge("a", [["a"]])
    with pytest.raises(InputError, match="references, number 1: found a text, wanted a list of texts"):
        score_rouge(["a dog"], ["a dog"])
    with pytest.raises(InputError, match=r"captions, number 1: found a text, wanted a list of words; caption_words"):
        score_captions(["a dog"], [[["a", "dog"]]])
    with pytest.raises(InputError, match=r"references, number 1, number 1: found a text, wanted a list of words"):
        score_captions([["a", "dog"]], [["a dog"]])


def test_right_is_a_hundred_and_wrong_is_nothing() -> None:
    assert all(score.value == pytest.approx(100) for score in score_translations(REFERENCES, REFERENCES).values())
    wrong = score_translations(["xyz"] * 3, REFERENCES)
    assert wrong["exact_match"].value == 0
    assert wrong["bleu"].value < 1


def test_outputs_and_references_belong_together() -> None:
    with pytest.raises(ValueError, match="references: found 3, wanted 2"):
        score_translations(OUTPUTS[:2], REFERENCES)
    with pytest.raises(ValueError, match="found none"):
        score_translations([], [])


def test_short_and_long_sentences_are_scored_apart() -> None:
    sources = ["one two three", "one", "one two three four", "one two three four five six seven", ""]
    outputs, references = ["a b c d", "b", "c", "d e f g", "e"], ["a b c d", "b", "x", "d e f y", "e"]
    groups = score_by_length(sources, outputs, references, width=3)
    assert [(group.min_length, group.max_length, group.sentences) for group in groups] == [
        (1, 3, 3),
        (4, 6, 1),
        (7, 9, 1),
    ]
    assert groups[0].scores == score_translations(["a b c d", "b", "e"], ["a b c d", "b", "e"])
    assert [group.scores["exact_match"].value for group in groups] == [100, 0, 0]
    with pytest.raises(ValueError, match="sources: found 5, wanted 4"):
        score_by_length(sources, outputs[:4], references[:4], width=3)
    with pytest.raises(ValueError, match="width: found 0"):
        score_by_length(sources, outputs, references, width=0)
