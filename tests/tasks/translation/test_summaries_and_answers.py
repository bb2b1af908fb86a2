"""Summaries and answers: made corpora, models that copy what they never saw, their commands and figures."""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import saccade
from saccade.base.errors import InputError
from saccade.base.settings import check_settings
from saccade.cli.main import main
from saccade.tasks.find_recipe import load_recipe
from saccade.tasks.run import start_training
from saccade.tasks.translation.data import Splits, load_splits
from saccade.tasks.translation.made import Corpus
from saccade.tasks.translation.made_answers import PEOPLE, Answers
from saccade.tasks.translation.made_summaries import DAYS, EVENTS, Summaries
from saccade.tasks.translation.maps import copies_of
from saccade.tasks.translation.model import Translator
from saccade.tasks.translation.recipe import TranslationRecipe
from saccade.tasks.translation.result import Translation
from saccade.tasks.translation.training import TranslationTask
from saccade.text import SEPARATOR, Pair, read_questions, read_table
from saccade.training import Silent, train
from tests.tasks.makers import small_recipe

COPYING = {
    "kind": "rnn",
    "embedding": 32,
    "dim": 64,
    "score": "additive",
    "order": "luong",
    "input_feeding": True,
    "copying": True,
    "dropout": 0.0,
}
RECIPE = ["data.pairs=60", "data.validation_size=7", "vocabulary.min_frequency=9", "model.dim=8", "model.embedding=8"]
COLOURS = ["red", "blue", "green"]
QUICK = ["train.steps=6", "train.validate_every=6", "train.batch_tokens=128", "train.tensorboard=false"]


class Listening(Silent):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)


@pytest.mark.parametrize("corpus", [Summaries, Answers])
def test_a_made_corpus_is_the_same_from_the_same_seed(corpus: Callable[[int], Corpus]) -> None:
    again = [corpus(3).pair(number) for number in range(20)]
    assert [corpus(3).pair(number) for number in range(20)] == again
    assert len({*again, *(corpus(4).pair(number) for number in range(20))}) == 40


def test_an_answer_is_what_the_passage_says_of_the_one_who_is_asked_about() -> None:
    asked_of = {"live": "lives in", "work for": "works for", "come from": "comes from", "Which number": "The number of"}
    asked_of |= {"the dog": "The dog of", "the doctor": "The doctor of"}
    seen: set[str] = set()
    for number in range(300):
        pair = Answers(0).pair(number)
        question, passage = pair.source.split(f" {SEPARATOR} ")
        (who,) = {*question.split()} & {*PEOPLE}
        (words,) = {words for asked, words in asked_of.items() if asked in question}
        facts = [fact for fact in re.split(r" \.(?: |$)", passage) if words in fact and who in fact.split()]
        assert len(facts) == 1
        assert facts[0].removeprefix(f"{words} {who} is ").removeprefix(f"{who} {words} ") == pair.target
        seen |= {words}
    assert seen == set(asked_of.values())


def test_a_summary_says_what_the_report_says() -> None:
    """Read by patterns, whatever else the report has."""
    for number in range(300):
        report, summary = Summaries(0).pair(number)

        def read(pattern: str, report: str = report) -> tuple[str, ...]:
            ((*found,),) = re.findall(pattern, report)
            return tuple(one for one in found if one)

        names = "([A-Z][a-z]+)"
        events, days = "|".join(EVENTS), "|".join(DAYS)
        first = report.partition(" .")[0]
        (event,) = re.findall(events, first)
        (day,) = re.findall(days, first)
        (place,) = [name for name in re.findall(names, first) if name not in {"A", "On", day}]
        (hurt,) = read(r"(\d+) people were hurt|treated (\d+) people")
        (lost,) = read(r"(\d+) houses were lost|destroyed (\d+) houses")
        (who,) = read(r"Mayor (\w+ \w+)|(\w+ \w+) , the mayor")
        wanted = f"{event} in {place} on {day} : {hurt} hurt , {lost} houses lost , mayor {who} asks for help"
        assert summary == wanted


@pytest.mark.parametrize("recipe", ["summaries", "answers"])
def test_what_is_to_be_copied_was_never_seen(recipe: str, tmp_path: Path) -> None:
    """Of most held-out targets, some word is neither in the vocabulary nor anywhere in what is learnt from."""
    settings = load_recipe(recipe, ["data.pairs=500", "data.validation_size=100", "vocabulary.min_frequency=20"])
    assert isinstance(settings, TranslationRecipe)
    splits = load_splits(settings.data, purpose=settings.purpose)
    task = TranslationTask(settings, splits, tmp_path, Silent())
    seen = {word for pair in splits.train for word in f"{pair.source} {pair.target}".split()}
    known = {task.model.vocabularies.target.piece(number) for number in range(len(task.model.vocabularies.target))}
    assert len(known) < 100
    new = [pair for pair in splits.valid if not seen.issuperset(pair.target.split())]
    assert len(new) > 80
    assert all(known.isdisjoint(set(pair.target.split()) - seen) for pair in new)


def names_and_colours(count: int) -> list[Pair]:
    """`red foo blue bar green baz` -> `it is bar`, always the blue one; no name was there before."""
    rng = random.Random(5)
    pairs: list[Pair] = []
    for _ in range(count):
        said = {colour: "".join(rng.choices("abcdefghijklmnop", k=6)) for colour in rng.sample(COLOURS, 3)}
        pairs.append(Pair(" ".join(f"{colour} {name}" for colour, name in said.items()), f"it is {said['blue']}"))
    return pairs


@pytest.mark.parametrize("copying", [True, False])
def test_words_that_were_never_seen_are_copied(copying: bool, tmp_path: Path) -> None:  # noqa: FBT001
    steps = 120 if copying else 20  # however long it learns, what it cannot write it does not
    values = small_recipe({**COPYING, "copying": False}, steps=steps, batch_tokens=512).model_dump()
    values["vocabulary"] = {"kind": "words", "joint": True, "min_frequency": 50}
    values["model"]["copying"] = copying
    recipe = check_settings(TranslationRecipe, values, where="small")
    pairs = names_and_colours(2200)
    task = TranslationTask(recipe, Splits(pairs[:-200], pairs[-200:]), tmp_path, Silent())
    figures = train(task, recipe.train, tmp_path, Silent())
    if not copying:
        assert figures["exact_match"] == 0
        return
    assert figures["exact_match"] > 95
    sources = [pair.source for pair in pairs[-40:]]
    found = task.model.translate(sources, beam=4, attention=True)
    assert [one.text for one in found] == [pair.target for pair in pairs[-40:]]
    for source, one in zip(sources, found, strict=True):
        *known, name, end = copies_of(one)
        assert [copy.source for copy in known] == [None, None]
        assert min(copy.p_gen for copy in known) > 0.5 > name.p_gen
        assert name.copied == pytest.approx(1, abs=1e-4)
        assert name.source is not None
        assert source.split()[name.source] == name.word == one.text.split()[-1]
        assert end.word == "</s>"
    drawn = task.model.translate(sources, sampling=True, temperature=0.1)
    assert [one.text for one in drawn] == [pair.target for pair in pairs[-40:]]
    (scored,) = task.model.score(sources[:1], [found[0].text])
    assert scored.log_prob == pytest.approx(found[0].forced_decoding.log_prob if found[0].forced_decoding else 1)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for recipe in ("summaries", "answers"):
        assert main(["train", recipe, *RECIPE, *QUICK, "--run", str(folder / recipe)]) == 0
    return folder


def test_a_finished_training_names_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "answers", *RECIPE, *QUICK, "train.steps=1", "--run", str(tmp_path / "run")]) == 0
    model = tmp_path / "run" / "model"
    assert f"use it with: saccade answer {model} FILE" in capsys.readouterr().out
    with pytest.raises(InputError, match=re.escape(f"use it with: saccade answer {model} FILE")):
        saccade.load(model, saccade.Captioner)


def test_the_commands_and_the_methods_say_the_same(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    folder = runs.parent / f"{runs.name}-files"
    folder.mkdir()
    reports = [Summaries(1).pair(number).source for number in range(3)]
    (folder / "plain.txt").write_text("".join(f"{report}\n" for report in reports))
    (folder / "some.jsonl").write_text("".join(f"{json.dumps({'article': report})}\n" for report in reports))
    summarizer = saccade.load(runs / "summaries", saccade.Translator)
    wanted = [one.text for one in summarizer.summarize(reports, beam=2)]
    for file in (["plain.txt"], ["some.jsonl", "--column", "article"]):
        name, *options = file
        assert main(["summarize", str(runs / "summaries"), str(folder / name), *options, "--beam", "2"]) == 0
        assert capsys.readouterr().out.splitlines() == wanted

    questions, passages = zip(*(Answers(1).pair(n).source.split(f" {SEPARATOR} ") for n in range(3)), strict=True)
    lines = [json.dumps({"question": q, "passage": p}) for q, p in zip(questions, passages, strict=True)]
    (folder / "asked.jsonl").write_text("".join(f"{line}\n" for line in [*lines, "", "{}"]))
    answerer = saccade.load(runs / "answers", saccade.Translator)
    wanted = [one.text for one in answerer.answer(questions, passages, beam=2)]
    assert main(["answer", str(runs / "answers"), str(folder / "asked.jsonl"), "--beam", "2"]) == 1
    said = capsys.readouterr()
    assert said.out.splitlines() == [*wanted, "", ""]
    assert "line 5: found no text under 'question'" in said.err
    squad = [{"context": p, "qas": [{"question": q, "answers": []}]} for q, p in zip(questions, passages, strict=True)]
    (folder / "squad.json").write_text(json.dumps({"data": [{"paragraphs": squad}]}))
    assert main(["answer", str(runs / "answers"), str(folder / "squad.json"), "--beam", "2", "--batch-size", "2"]) == 0
    assert capsys.readouterr().out.splitlines() == wanted
    (folder / "passage.txt").write_text(passages[0].replace(" . ", " .\n"))
    asked = ["answer", str(runs / "answers"), "--question", questions[0], "--beam", "2"]
    for options in ([str(folder / "passage.txt")], ["--passage", passages[0]]):
        assert main([*asked, *options]) == 0
        assert capsys.readouterr().out.splitlines() == wanted[:1]


def test_what_a_model_was_not_trained_for_is_refused(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command, model, message in (
        ("summarize", "answers", "this model was trained to answer, not to summarize"),
        ("answer", "summaries", "this model was trained to summarize, not to answer; use it with: saccade summarize"),
        ("translate", "answers", "this model was trained to answer, not to translate; use it with: saccade answer"),
    ):
        capsys.readouterr()
        assert main([command, str(runs / model), str(runs / "nothing")]) == 2
        assert message in capsys.readouterr().err
    answerer = saccade.load(runs / "answers", Translator)
    with pytest.raises(InputError, match="a passage for each question"):
        answerer.answer(["Where ?"], [])
    assert main(["answer", str(runs / "answers"), "--passage", "x"]) == 2
    assert main(["answer", str(runs / "answers"), "--question", "x"]) == 2
    assert "found no passage" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("recipe", "figures"),
    [("summaries", ["rouge1", "rouge2", "rouge_l", "exact_match"]), ("answers", ["exact_match", "f1"])],
)
def test_made_files_are_learnt_from_and_evaluated(
    recipe: str, figures: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = ["--pairs", "60", "--valid", "7", "--test", "5", "--seed", "2"]
    assert main(["data", "make", recipe, *sizes, "--out", str(tmp_path)]) == 0
    assert "train.jsonl: 60 pairs" in capsys.readouterr().out
    made = {"summaries": Summaries, "answers": Answers}[recipe](2)
    test = tmp_path / "test.jsonl"
    if recipe == "answers":
        assert [one.pair for one in read_questions(test)] == [made.pair(number) for number in range(67, 72)]
    else:
        pairs = read_table(test, source="article", target="highlights")
        assert pairs == [made.pair(number) for number in range(67, 72)]
    files = [f"data.train={tmp_path / 'train.jsonl'}", f"data.valid={tmp_path / 'valid.jsonl'}"]
    assert main(["train", recipe, *RECIPE, *QUICK, *files, "--run", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    assert main(["evaluate", str(tmp_path / "run"), "--table", str(test), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found.pop("summaries" if recipe == "summaries" else "answers") == 5
    assert list(found) == figures
    assert main(["evaluate", str(tmp_path / "run"), "--table", str(test), "--by-length", "5"]) == 2


def test_all_right_answers_count_and_questions_without_one_are_counted(tmp_path: Path) -> None:
    lines = [{"question": "q", "passage": f"p {number}", "answers": ["x y", "z"]} for number in range(20)]
    lines[3]["answers"] = []
    (tmp_path / "some.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    recipe = load_recipe("answers", [*RECIPE, f"data.train={tmp_path / 'some.jsonl'}", "vocabulary.min_frequency=1"])
    assert isinstance(recipe, TranslationRecipe)
    reporter = Listening()
    splits = load_splits(recipe.data, reporter.say, purpose="answer")
    assert reporter.said == [f"{tmp_path}/some.jsonl: 1 of 20 questions have no answer, and are left out"]
    assert splits.answers == {pair.source: ("x y", "z") for pair in splits.valid}
    assert splits.fingerprint() != splits._replace(answers={}).fingerprint()
    task = TranslationTask(recipe, splits, tmp_path / "run", Silent())
    task.model.translate = lambda sources, **_: [_answer(task.model, "The z.")] * len(sources)  # pyright: ignore[reportAttributeAccessIssue]
    task.net.eval()
    assert task.validate()["exact_match"] == 100


def _answer(model: Translator, text: str) -> Translation:
    (found,) = model.score(["p"], ["x"])
    return Translation(text, found.log_prob, found.source_words, found.target_words)


def test_long_sources_are_cut_off_and_counted(tmp_path: Path) -> None:
    pairs = [Pair(f"{'long ' * number}Name{number}", f"Name{number}") for number in range(1, 21)]
    recipe = load_recipe("summaries", [*RECIPE, "model.max_length=8", "vocabulary.min_frequency=3"])
    assert isinstance(recipe, TranslationRecipe)
    reporter = Listening()
    task = TranslationTask(recipe, Splits(pairs, pairs[:1]), tmp_path, reporter)
    assert "data.train: 14 of 20 sources are cut off, for they are longer than model.max_length=8" in reporter.said
    size = len(task.model.vocabularies.source)
    assert [max(example.source) for example in task.examples] == [size] * 6 + [size - 1] * 14
    assert all(max(example.target) <= max(example.source) for example in task.examples)
    (found,) = task.model.summarize([pairs[-1].source])
    assert found.note == "21 words, 22 tokens; this model reads at most 8 tokens: the rest is left out"


def test_look_says_where_words_come_from(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    source = Answers(1).pair(0).source
    assert main(["look", str(runs / "answers"), source, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["word"] for one in found["copies"]] == found["rows"]
    assert all(0 <= one["p_gen"] <= 1 and 0 <= one["copied"] <= 1 for one in found["copies"])
    assert main(["look", str(runs / "answers"), source, "--target", source.split()[-2]]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r" *\S+  p_gen 0\.\d\d, copied 100%, from word \d+: \S+", lines[-2])
    assert main(["look", str(runs / "answers"), source, "--html", str(runs / "map.html"), "--beam", "2"]) == 0


def test_a_training_that_was_broken_off_goes_on_bit_for_bit(tmp_path: Path) -> None:
    """Copying and the coverage loss draw nothing and keep nothing."""
    settings = [*RECIPE, *QUICK, "train.coverage_loss=0.5", "train.schedule=constant", "train.select_checkpoint=last"]

    def learn(run: str, steps: int) -> bytes:
        start_training(load_recipe("summaries", [*settings, f"train.steps={steps}"]), tmp_path / run, Silent())
        return (tmp_path / run / "model" / "model.safetensors").read_bytes()

    whole = learn("whole", 9)
    assert learn("parts", 4) != whole
    assert learn("parts", 9) == whole


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["vocabulary.joint=false"], "set vocabulary.joint to true"),
        (["train.label_smoothing=0.1"], "train.label_smoothing: wanted 0 with model.copying"),
        (["model.score=none"], "wanted attention to copy by"),
        (["model.weighting=hard"], "wanted attention to copy by"),
        (["vocabulary.kind=subwords", "vocabulary.bpe_dropout=0.1"], "vocabulary.bpe_dropout: wanted 0"),
        (["model.copying=false", "train.coverage_loss=1"], "train.coverage_loss: wanted 0, or model.copying=true"),
        (["train.monitor=bleu"], "train.monitor: found 'bleu', wanted one of exact_match, f1, loss"),
        (["purpose=reply"], "purpose"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(settings: list[str], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        load_recipe("answers", settings)
