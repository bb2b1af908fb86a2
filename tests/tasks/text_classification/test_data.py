"""Texts with labels: made, read, refused, held out, limited."""

import gzip
from collections import Counter
from pathlib import Path

import pytest

from saccade.base.errors import InputError
from saccade.tasks.find_recipe import load_recipe
from saccade.tasks.text_classification.data import LabelledTexts, load_labelled_texts
from saccade.tasks.text_classification.labelled import (
    LabelledText,
    read_labelled_texts,
    stratified,
    write_labelled_texts,
)
from saccade.tasks.text_classification.made import make_reviews
from saccade.tasks.text_classification.recipe import TextClassificationRecipe

SHARED = Path(__file__).parents[4] / "shared" / "data" / "classify"
FULL = [LabelledText("not bad", "good"), LabelledText('"so", so', "bad")]

NEGATORS = ("not", "never", "hardly", "anything but")
GOOD = ("good", "great", "lovely", "friendly", "pleasant", "wonderful", "warm", "charming")


def load(*settings: str) -> tuple[LabelledTexts, list[str]]:
    recipe = load_recipe("labels", settings)
    assert isinstance(recipe, TextClassificationRecipe)
    told: list[str] = []
    return load_labelled_texts(recipe.data, told.append), told


def meaning(text: str) -> str:
    """What a made review says: its last clause counts, and what is turned around is the opposite."""
    clause = text.rpartition(" was ")[2]
    turned = any(clause.startswith(f"{word} ") for word in NEGATORS)
    good = clause.split()[-1] in GOOD
    return "negative" if good == turned else "positive"


def test_made_reviews_mean_what_they_say() -> None:
    texts = make_reviews(300, seed=1)
    assert all(one.label == meaning(one.text) for one in texts)
    assert 100 < sum(one.label == "positive" for one in texts) < 200
    assert texts == make_reviews(300, seed=1) != make_reviews(300, seed=2)
    assert make_reviews(400, seed=1)[:300] == texts


def test_no_bag_of_words_tells_all_made_reviews() -> None:
    """There are two of the same words with other labels."""
    by_words: dict[tuple[str, ...], set[str]] = {}
    for one in make_reviews(20_000, seed=1):
        words = tuple(sorted(word for word in one.text.split() if word not in {"soup", "film"}))
        by_words.setdefault(words, set()).add(one.label)
    assert any(len(labels) == 2 for labels in by_words.values())


CONTENTS = {
    "texts.tsv": 'label\ttext\ngood\tnot bad\nbad\t"so", so\n',
    "texts.csv": 'text,id,label\nnot bad,1, good\n"""so"", so",2,bad\n',
    "texts.jsonl": '{"text": "not bad", "label": "good"}\n\n{"label": "bad", "text": "\\"so\\", so"}\n',
}


@pytest.mark.parametrize("name", CONTENTS)
def test_files_of_every_form(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(CONTENTS[name])
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(CONTENTS[name].encode()))
    for path in (tmp_path / name, packed):
        assert [(one.text, one.label) for one in read_labelled_texts(path)] == [one[:2] for one in FULL]
    last = read_labelled_texts(tmp_path / name)[-1]
    assert last.where == f"{tmp_path / name}, line 3"


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_labelled_texts(tmp_path / "t.tsv", FULL)
    assert [one[:2] for one in read_labelled_texts(tmp_path / "t.tsv")] == [one[:2] for one in FULL]


def test_numbers_are_labels_and_columns_have_any_name(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"sentence": "a", "class": 10}\n{"sentence": "b", "class": true}\n')
    found = read_labelled_texts(path, text_column="sentence", label_column="class")
    assert [one[:2] for one in found] == [("a", "10"), ("b", "true")]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.tsv", b"", "t.tsv: no text there with a label"),
        ("t.tsv", b"label\ttext\n", "t.tsv: no text there with a label"),
        ("t.tsv", b"a\tb\n", "t.tsv, line 1: no column text and no column label, but 'a, b'"),
        ("t.tsv", b"label\ttext\ngood\tnot bad\nbad\n", "t.tsv, line 3: found 1 columns, wanted 2, as in line 1; mend"),
        ("t.tsv", b"label\ttext\ngood\t \n", "t.tsv, line 2: the text is empty; mend it, or leave such lines out with"),
        ("t.tsv", b"label\ttext\n\tnot bad\n", "t.tsv, line 2: the label is empty"),
        ("t.tsv", b"label\ttext\ngood\tb\xe9\n", "t.tsv, line 2: byte 7 (0xe9) is not UTF-8"),
        ("t.csv", b'label,text\ngood,"a\nb"\n', "t.csv, line 2: no line of a CSV"),
        ("t.jsonl", b'{"text": "a", "label": 1.5}\n', "t.jsonl, line 1: found no text under 'label'"),
        ("t.jsonl", b'{"text": "a"\n', "t.jsonl, line 1: not JSON"),
    ],
)
def test_bad_lines_are_named(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as error:
        read_labelled_texts(tmp_path / name)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_bad_lines_are_left_out_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    rows = ["label\ttext", "a\tone", "b\t", "x", "\ttwo", "b\tthree", "c"]
    path.write_text("\n".join(rows))
    splits, told = load(f"data.train={path}", "data.bad_lines=skip")
    assert sorted(one.text for part in splits for one in part) == ["one", "three"]
    (line,) = told
    reasons = "2 with other than 2 columns, 1 without a text, 1 without a label"
    assert line == f"{path}: 4 of 6 texts are left out: {reasons}; the first is line 3"
    path.write_text("label\ttext\nx\n")
    with pytest.raises(InputError, match=r"no text there with a label; 1 of 1 texts are left out"):
        load(f"data.train={path}", "data.bad_lines=skip")


def test_any_beginning_has_the_shares_of_the_labels() -> None:
    texts = [LabelledText(str(number), "abbbcccccc"[number % 10]) for number in range(500)]
    order = stratified(texts, seed="x")
    assert sorted(order) == list(range(500))
    for count in (50, 130, 400):
        shares = Counter(texts[index].label for index in order[:count])
        for label, share in (("a", 0.1), ("b", 0.3), ("c", 0.6)):
            assert abs(shares[label] - share * count) <= 1
    assert order != stratified(texts, seed="y")


def test_a_limit_takes_the_first_of_them(tmp_path: Path) -> None:
    texts = [LabelledText(f"text {number}", "ab"[number % 5 == 0]) for number in range(200)]
    write_labelled_texts(tmp_path / "t.tsv", texts)
    train = f"data.train={tmp_path / 't.tsv'}"
    whole, small, large = (load(train, f"data.limit={limit}")[0] for limit in ("null", 20, 100))
    assert len(whole.train) == 180
    assert set(small.train) < set(large.train) < set(whole.train)
    assert small.valid == large.valid == whole.valid
    assert len(whole.valid) == 20
    assert not set(whole.train) & set(whole.valid)
    assert Counter(one.label for one in small.train) == {"a": 16, "b": 4}
    assert load(train, "data.limit=20", "data.seed=1")[0].train != small.train
    assert len({part.fingerprint() for part in (whole, small, large)}) == 3
    with pytest.raises(InputError, match=r"data\.limit: found 181, but there are 180 texts to learn from"):
        load(train, "data.limit=181")


def test_a_file_of_its_own_validates_and_its_labels_are_known(tmp_path: Path) -> None:
    train, valid = tmp_path / "train.tsv", tmp_path / "valid.tsv"
    write_labelled_texts(train, [LabelledText("x", "b"), LabelledText("y", "a")])
    write_labelled_texts(valid, [LabelledText("z", "a")])
    splits, _ = load(f"data.train={train}", f"data.valid={valid}")
    assert (len(splits.train), len(splits.valid), splits.labels) == (2, 1, ["a", "b"])
    valid.write_text("label\ttext\na\tz\nc\tw\nd\tw\n")
    with pytest.raises(InputError) as error:
        load(f"data.train={train}", f"data.valid={valid}")
    assert str(error.value) == (
        f"{valid}, line 3: found the label 'c', which {train} does not have (2 such texts); it has a, b"
    )
    write_labelled_texts(train, [LabelledText("x", "a"), LabelledText("y", "a")])
    with pytest.raises(InputError, match="all texts have the label 'a'; wanted at least two"):
        load(f"data.train={train}")
    with pytest.raises(InputError, match=r"nowhere\.tsv: no such file; say where yours is: data.train=FILE"):
        load("data.train=nowhere.tsv")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["data.make=null"], "wanted either train, such as data.train=texts.tsv, or make"),
        (["data.valid=a.tsv"], "valid: found some beside made texts"),
        (["data.limit=1"], "data.limit"),
        (["model.pooling_score=x"], "found 'x', wanted one of"),
        (["train.monitor=f1"], "train.monitor: found 'f1', wanted one of accuracy, macro_f1, loss"),
        (["model.tie_embeddings=output"], "tie_embeddings"),
    ],
)
def test_settings_that_cannot_be(settings: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_recipe("labels", settings)


@pytest.mark.skipif(not SHARED.exists(), reason="the files are not there")
def test_real_files() -> None:
    sizes = {"sst2.train": (6920, 2), "sst2.dev": (872, 2), "sst2.test": (1821, 2), "trec.train": (5452, 6)}
    for name, (count, labels) in sizes.items():
        texts = read_labelled_texts(SHARED / f"{name}.tsv")
        assert (len(texts), len({one.label for one in texts})) == (count, labels)
    splits, told = load(f"data.train={SHARED / 'trec.train.tsv'}", "data.limit=500")
    assert (len(splits.train), len(splits.valid), told) == (500, 500, [])
