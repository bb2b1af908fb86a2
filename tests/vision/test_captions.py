"""Captioned images, from every form of file."""

import gzip
import json
from pathlib import Path

import pytest

from saccade.base.errors import InputError
from saccade.vision import Box, CaptionedImage, Noun, read_captions, read_names

WANTED = [CaptionedImage("a.jpg", ["A dog runs .", "The dog, running"]), CaptionedImage("b c.jpg", ['Two "cats"'])]

FORMS = {
    "captions.csv": 'image,caption\na.jpg,A dog runs .\na.jpg,"The dog, running"\nb c.jpg,"Two ""cats"""\n',
    "captions.txt": 'image,caption\na.jpg,A dog runs .\na.jpg,"The dog, running"\nb c.jpg,"Two ""cats"""\n',  # Kaggle's
    "captions.tsv": 'image\tid\tcaption\na.jpg\t0\tA dog runs .\na.jpg\t1\tThe dog, running\nb c.jpg\t0\tTwo "cats"\n',
    "one.jsonl": '{"image": "a.jpg", "caption": "A dog runs ."}\n\n{"image": "a.jpg", "caption": "The dog, running"}\n'
    '{"image": "b c.jpg", "caption": "Two \\"cats\\""}\n',
    "several.jsonl": '{"image": "a.jpg", "captions": ["A dog runs .", "The dog, running"]}\n'
    '{"image": "b c.jpg", "captions": ["Two \\"cats\\""]}\n',
    "Flickr8k.token.txt": 'a.jpg#0\tA dog runs .\na.jpg#1\tThe dog, running\nb c.jpg#0\tTwo "cats"\n',
}


@pytest.mark.parametrize(("name", "content"), FORMS.items())
def test_every_form_gives_the_same(name: str, content: str, tmp_path: Path):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    assert read_captions(path) == WANTED
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(b"\xef\xbb\xbf" + content.encode()))
    assert read_captions(packed) == WANTED


def test_the_form_of_karpathy_knows_splits_and_folders(tmp_path: Path):
    images = [
        {"filename": "a.jpg", "split": "train", "sentences": [{"raw": "A dog .", "tokens": ["a", "dog"]}]},
        {"filename": "b.jpg", "filepath": "val2014", "split": "val", "sentences": [{"raw": "Cats ."}, {"raw": "Two"}]},
    ]
    path = tmp_path / "dataset.json"
    path.write_text(json.dumps({"images": images, "dataset": "flickr8k"}))
    assert read_captions(path) == [
        CaptionedImage("a.jpg", ["A dog ."], "train"),
        CaptionedImage("val2014/b.jpg", ["Cats .", "Two"], "val"),
    ]
    packed = tmp_path / "dataset.json.gz"
    packed.write_bytes(gzip.compress(b"\xef\xbb\xbf" + path.read_bytes()))
    assert read_captions(packed) == read_captions(path)


def test_nouns_with_boxes_belong_to_the_one_caption(tmp_path: Path):
    nouns = [{"word": 1, "box": [0.1, 0.2, 0.5, 1]}]
    records = [
        {"image": "a.jpg", "caption": "A dog", "nouns": nouns},
        {"image": "b.jpg", "captions": ["A dog", "Dogs"], "nouns": nouns},  # of which?
    ]
    path = tmp_path / "captions.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert [one.nouns for one in read_captions(path)] == [(Noun(1, Box(0.1, 0.2, 0.5, 1.0)),), ()]


BAD = {
    "nouns.jsonl": ('{"image": "a.jpg", "caption": "x", "nouns": 3}\n', "line 1: nouns: wanted a list"),
    "box.jsonl": ('{"image": "a.jpg", "caption": "x", "nouns": [{"word": 0, "box": [0, 0, 2, 1]}]}\n', "from 0 to 1"),
    "word.jsonl": ('{"image": "a.jpg", "caption": "x", "nouns": [{"box": [0, 0, 1, 1]}]}\n', "line 1: nouns: found"),
    "empty.csv": ("", "empty"),
    "header.csv": ("picture,text\na.jpg,A dog\n", "image and caption"),
    "columns.csv": ("image,caption\na.jpg,A dog, running\n", "line 2: found 3 columns"),
    "columns.tsv": ("image\tcaption\na.jpg\n", "line 2: found 1 columns"),
    "twice.csv": ("image,caption,caption\na.jpg,A dog,Dogs\n", "line 1: found 'image, caption, caption'"),
    "caption.csv": ("image,caption\na.jpg,A dog\n\nb.jpg, \n", "line 4: no caption"),
    "image.tsv": ("image\tcaption\n\tA dog\n", "line 2: no image"),
    "after.csv": ('image,caption\na.jpg,"A" dog\n', "line 2: found text after a quote that closes"),
    "mac.csv": ("image,caption\na.jpg,A dog\rb.jpg,A cat\n", "line 2: not CSV"),
    "long.csv": (f"image,caption\na.jpg,{'so ' * 50_000}\n", "line 2: not CSV (field larger than"),
    "half.jsonl": ('{"image": "a.jpg", "caption": "A \\ud83d dog"}\n', r"line 1: found \ud83d, half of a character"),
    "half.json": ('{"images": [{"filename": "\\uDC00", "sentences": [{"raw": "x"}]}]}', r"found \udc00, half"),
    "both.jsonl": ('{"image": "a.jpg", "caption": "x", "captions": ["y"]}\n', "line 1: found both"),
    "broken.jsonl": ('{"image": "a.jpg", "caption": "x"}\n{"image"\n', "line 2: not JSON"),
    "keys.jsonl": ('{"image": "a.jpg", "text": "A dog"}\n', "line 1"),
    "list.jsonl": ("[1]\n", "line 1"),
    "none.jsonl": ('{"image": "a.jpg", "captions": []}\n', "line 1"),
    "number.jsonl": ('{"image": "a.jpg", "captions": [1]}\n', "line 1"),
    "token.txt": ("a.jpg#0\tA dog\nb.jpg#0 no tab\n", "line 2"),
    "broken.json": ("{", "not JSON"),
    "other.json": ('{"pictures": []}', "images"),
    "sentences.json": ('{"images": [{"filename": "a.jpg"}]}', "image 1"),
    "text.json": ('{"images": ["a.jpg"]}', "image 1"),
    "split.json": ('{"images": [{"filename": "a", "split": 3, "sentences": [{"raw": "x"}]}]}', "image 1: wanted"),
    "folder.json": ('{"images": [{"filename": "a", "filepath": 3, "sentences": [{"raw": "x"}]}]}', "image 1: wanted"),
}


@pytest.mark.parametrize(("name", "content", "says"), [(name, *rest) for name, rest in BAD.items()])
def test_bad_files_get_one_line_with_their_place(name: str, content: str, says: str, tmp_path: Path):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_captions(path)
    assert name in str(caught.value)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("bad", ['b.jpg,"A cat', 'b.jpg,"A ""cat""', '"b.jpg,A cat', '"'])
def test_a_stray_quote_is_refused_where_it_opens(bad: str, tmp_path: Path):
    """Quotes may close lines later in CSV, and the rows between would be one caption, with no word said."""
    path = tmp_path / "captions.csv"
    for rest in ("c.jpg,A cow\n", 'c.jpg,"A cow"\n', ""):
        path.write_text(f"image,caption\na.jpg,A dog\n{bad}\n{rest}d.jpg,A pig\n")
        with pytest.raises(InputError) as caught:
            read_captions(path)
        says = "a quote opens here and is not closed on its line; double it or take it away"
        assert str(caught.value) == f"{path}, line 3: {says}"


def test_a_whole_character_of_two_halves_is_fine(tmp_path: Path):
    path = tmp_path / "captions.jsonl"
    path.write_text('{"image": "a.jpg", "caption": "A \\ud83d\\ude00 face, \\\\ud800 written out"}\n')
    assert read_captions(path) == [CaptionedImage("a.jpg", ["A 😀 face, \\ud800 written out"])]


def test_names_of_images(tmp_path: Path):
    path = tmp_path / "train.txt"
    path.write_text("a.jpg\n\n b.jpg \n")
    assert read_names(path) == ["a.jpg", "b.jpg"]
    path.write_text("\n")
    with pytest.raises(InputError, match="empty"):
        read_names(path)
