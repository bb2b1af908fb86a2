"""Captions as a task: from files or made scenes to a captioner that has learnt."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch

import saccade
from saccade.base.errors import InputError
from saccade.base.settings import check_settings
from saccade.cli.main import main
from saccade.decode import Search
from saccade.tasks.captioning.data import load_caption_splits
from saccade.tasks.captioning.kind import KIND
from saccade.tasks.captioning.metrics import score_pointing_game
from saccade.tasks.captioning.model import Captioner
from saccade.tasks.captioning.recipe import CaptionRecipe
from saccade.tasks.captioning.training import CaptionTask
from saccade.tasks.find_recipe import load_recipe
from saccade.training import Silent, train
from saccade.vision import make_scenes, write_scenes


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saccade.tasks.captioning.image_rows.cache_folder", lambda: tmp_path / "cache")


def small(data: dict[str, Any], *, model: dict[str, Any] | None = None, **settings: Any) -> CaptionRecipe:
    values = {
        "task": "captioning",
        "data": {"validation_size": 10, **data},
        "vocabulary": {"kind": "words"},
        "image_encoder": {"kind": "small", "image_size": 16, "channels": [8, 16]},
        "model": {"kind": "rnn", "dim": 16, "embedding": 8, "dropout": 0.0, "max_length": 16, **(model or {})},
        "train": {
            "steps": 12,
            "batch_tokens": 128,
            "lr": 1e-2,
            "warmup_steps": 5,
            "validate_every": 6,
            "log_every": 2,
            "save_every": 3,
            "tensorboard": False,
            **settings,
        },
    }
    return check_settings(CaptionRecipe, values, where="small")


def task_of(recipe: CaptionRecipe, run: Path) -> CaptionTask:
    splits = load_caption_splits(recipe.data, side=recipe.image_encoder.image_size)
    return CaptionTask(recipe, splits, run, Silent())


@pytest.fixture
def scenes(tmp_path: Path) -> Path:
    """A folder of 40 scenes with captions, one of the images broken and one gone."""
    folder = tmp_path / "scenes"
    write_scenes(make_scenes(40, seed=0, side=16), folder)
    (folder / "images" / "000003.png").write_bytes(b"no image")
    (folder / "images" / "000005.png").unlink()
    return folder


def from_files(scenes: Path, **data: Any) -> dict[str, Any]:
    return {"images": str(scenes), "captions": str(scenes / "captions.jsonl"), **data}


@pytest.mark.parametrize("weighting", ["soft", "hard"])
def test_it_learns_what_a_single_shape_is_called(weighting: str, tmp_path: Path):
    model = {"weighting": weighting, "dim": 32, "embedding": 16}
    recipe = small({"make": "shapes", "scenes": 300}, model=model, steps=120, validate_every=120, batch_tokens=512)
    task = task_of(recipe, tmp_path / "run")
    before = task.validate()
    after = train(task, recipe.train, tmp_path / "run", Silent())
    assert after["loss"] < 0.5 * before["loss"]
    assert after["bleu1"] > before["bleu1"] + 30
    captions = task.captions_of(task.valid_images, Search(beam=1), attention=True)
    assert after["pointing_game"] == score_pointing_game(task.valid_images, captions, side=4)


class Listening(Silent):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)


def test_bad_images_are_told_of_and_left_out(scenes: Path, tmp_path: Path):
    reporter = Listening()
    recipe = small(from_files(scenes))
    splits = load_caption_splits(recipe.data, side=16)
    task = CaptionTask(recipe, splits, tmp_path / "run", reporter)
    assert len(task.train_images) + len(task.valid_images) == 38
    (told,) = (text for text in reporter.said if "left out" in text)
    assert "2 of 40" in told
    assert "000005.png" in told or "000003.png" in told
    with pytest.raises(InputError, match=r"00000[35]\.png"):
        task_of(small(from_files(scenes, bad_images="stop")), tmp_path / "other")


def test_images_are_encoded_once(scenes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    looked: list[str] = []
    recipe = small(from_files(scenes))

    def count(self: Any, image: Any, name: str) -> Any:
        looked.append(name)
        return real(self, image, name)

    real = Captioner.preprocess
    monkeypatch.setattr(Captioner, "preprocess", count)
    first = task_of(recipe, tmp_path / "one")
    assert len(looked) == 39  # the one that is gone was not there to be read
    looked.clear()
    second = task_of(recipe, tmp_path / "two")
    assert looked == [str(scenes / "images" / "000003.png")]  # tried again: it may have been mended
    names = [one.image for one in first.train_images]
    assert (first._rows.encoded(names) == second._rows.encoded(names)).all()
    shutil.copy(scenes / "images" / "000010.png", scenes / "images" / "000011.png")
    looked.clear()
    third = task_of(recipe, tmp_path / "three")
    assert str(scenes / "images" / "000011.png") in looked  # another image by an old name
    paths = [str(scenes / "images" / name) for name in ("000010.png", "000011.png")]
    one, other = third._rows.encoded(paths)
    assert (one == other).all()


def test_splits_by_list_and_by_name(scenes: Path, tmp_path: Path):
    (tmp_path / "valid.txt").write_text("images/000001.png\nimages/000002.png\nimages/999999.png\n")
    splits = load_caption_splits(small(from_files(scenes, valid=str(tmp_path / "valid.txt"))).data, side=16)
    assert [Path(one.image).name for one in splits.valid] == ["000001.png", "000002.png"]
    assert len(splits.train) == 38
    images = [
        {"filename": f"images/00000{n}.png", "split": "train" if n else "val", "sentences": [{"raw": "A Star ."}]}
        for n in range(3)
    ]
    (tmp_path / "karpathy.json").write_text(json.dumps({"images": images}))
    data = {"images": str(scenes), "captions": str(tmp_path / "karpathy.json"), "train": "train", "valid": "val"}
    splits = load_caption_splits(small(data).data, side=16)
    assert [len(part) for part in splits[:2]] == [2, 1]
    assert splits.train[0].captions == ["a star"]  # in lower case, without marks
    kept = load_caption_splits(small({**data, "lowercase": False}).data, side=16)
    assert kept.train[0].captions == ["A Star ."]


def test_what_is_left_out_of_lists_and_captions_is_told(scenes: Path, tmp_path: Path):
    captions = tmp_path / "captions.jsonl"
    records = [
        {"image": "a.png", "captions": ["A dog", " . ", "!"]},
        {"image": "b.png", "captions": ["?"]},
        {"image": "c.png", "captions": ["A cat"]},
        {"image": "d.png", "captions": ["A cow"]},
    ]
    captions.write_text("".join(json.dumps(record) + "\n" for record in records))
    train, valid = tmp_path / "train.txt", tmp_path / "valid.txt"
    train.write_text("c.png\nx.png\nd.png\na.png\ny.png\n")
    valid.write_text("a.png\nb.png\nd.png\n")
    data = {"images": str(scenes), "captions": str(captions), "train": str(train), "valid": str(valid)}
    recipe = small(data)
    said: list[str] = []
    loaded = KIND.load_data(recipe, said.append)
    assert [[Path(one.image).name for one in part] for part in loaded[:2]] == [["c.png"], ["a.png", "d.png"]]
    empty = "3 of 6 captions and 1 images without any other are left out, for they have no word; the first is of a.png"
    assert said == [
        f"{captions}: {empty}",
        f"{valid}: 1 of 3 images have no caption in {captions} and are left out; the first is b.png",
        f"{train}: 2 of 5 images have no caption in {captions} and are left out; the first is x.png",
        f"{train}: 2 of 5 images are in {valid}, too, and are not learnt from; the first is d.png",
    ]
    said.clear()
    KIND.load_data(small(from_files(scenes)), said.append)
    assert said == []


def test_captions_that_are_cut_are_told_of(scenes: Path, tmp_path: Path):
    captions = scenes / "captions.jsonl"
    records = [json.loads(line) for line in captions.read_text().splitlines()]
    for number, record in enumerate(records):
        words = {10: 8, 20: 9}.get(number, 7)  # with the end, seven words are eight
        record |= {"caption": "so " * words, "nouns": []}
    captions.write_text("".join(json.dumps(record) + "\n" for record in records))
    (tmp_path / "valid.txt").write_text("images/000020.png\nimages/000021.png\n")
    recipe = small(from_files(scenes, valid=str(tmp_path / "valid.txt")), model={"max_length": 8})
    reporter = Listening()
    CaptionTask(recipe, load_caption_splits(recipe.data, side=16), tmp_path / "run", reporter)
    cut = "captions are cut, for they are longer than model.max_length=8; the first is of"
    assert [text for text in reporter.said if "are cut" in text] == [
        f"data.train: 1 of 36 {cut} {scenes}/images/000010.png",
        f"data.valid: 1 of 2 {cut} {scenes}/images/000020.png",
    ]


def test_the_fingerprint_knows_the_images_and_not_where_they_lie(
    scenes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fingerprint(folder: Path, captions: str = "captions.jsonl", **data: Any) -> str:
        values = {"images": str(folder), "captions": str(folder / captions), **data}
        return KIND.load_data(small(values), print).fingerprint()

    here = fingerprint(scenes)
    monkeypatch.chdir(scenes.parent)
    assert fingerprint(Path("scenes")) == here
    lines = (scenes / "captions.jsonl").read_text()
    (scenes / "absolute.jsonl").write_text(lines.replace("images/", f"{scenes.as_posix()}/images/"))
    assert fingerprint(scenes, "absolute.jsonl") == fingerprint(Path("scenes"), "absolute.jsonl") == here
    moved = tmp_path / "elsewhere" / "photos"
    shutil.copytree(scenes, moved)
    assert fingerprint(moved) == here
    assert fingerprint(moved, seed=1) != here
    assert fingerprint(moved, validation_size=3) != here
    (moved / "images").rename(moved / "pictures")  # other folders within are other names
    (moved / "captions.jsonl").write_text(lines.replace("images/", "pictures/"))
    assert fingerprint(moved) != here
    (scenes / "images" / "000007.png").write_bytes(b"another image by an old name")
    assert fingerprint(scenes) != here


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"images": "nowhere"}, "nowhere: no such folder"),
        ({"captions": "nowhere.csv"}, r"nowhere\.csv"),
        ({"valid": "nowhere.txt"}, r"nowhere\.txt: no such file"),
    ],
)
def test_what_is_not_there_is_named(scenes: Path, data: dict[str, str], says: str):
    with pytest.raises(InputError, match=says):
        load_caption_splits(small(from_files(scenes, **data)).data, side=16)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("data.make=null", "wanted images and captions"),
        ("data.images=photos", "not both"),
        ("data={make: shapes, images: a, captions: b}", "not both; data.make=null for your own"),
        ("image_encoder.image_size=4", "image_size"),
        ("image_encoder.channels=[]", "channels"),
        ("image_encoder.attend_after=[4]", "attend_after"),
        ("model.tie_embeddings=all", "tie_embeddings"),
        ("vocabulary={kind: subwords, bpe_dropout: 0.1}", "it is for translation"),
        ("vocabulary.lowercase=true", "data.lowercase for captions"),
        ("train.monitor=beauty", "beauty"),
        ("task=juggling", "juggling"),
    ],
)
def test_bad_settings_get_one_line_with_their_path(change: str, says: str):
    with pytest.raises(InputError, match=says):
        load_recipe("shapes", [change])


def test_a_training_that_is_cut_short_goes_on_bit_for_bit(tmp_path: Path):
    recipe = small({"make": "shapes", "scenes": 60}, model={"doubly_stochastic": 0.1, "dropout": 0.2})
    train(task_of(recipe, tmp_path / "whole"), recipe.train, tmp_path / "whole", Silent())
    half = recipe.train.model_copy(update={"steps": 6})
    train(task_of(recipe, tmp_path / "parts"), half, tmp_path / "parts", Silent())
    train(task_of(recipe, tmp_path / "parts"), recipe.train, tmp_path / "parts", Silent())
    whole, parts = (
        safetensors.torch.load_file(tmp_path / name / "checkpoint.safetensors") for name in ("whole", "parts")
    )
    nets = [key for key in whole if "image_encoder" in key or "decoder" in key]
    assert nets
    assert all((whole[key] == parts[key]).all() for key in nets)


def test_captions_of_the_task_are_those_of_the_model(tmp_path: Path):
    recipe = small({"make": "shapes", "scenes": 60})
    task = task_of(recipe, tmp_path / "run")
    train(task, recipe.train, tmp_path / "run", Silent())
    images = task.valid_images[:5]
    found = task.captions_of(images, Search(beam=2))
    pixels = [scene.pixels for scene in make_scenes(5, seed="valid 0", side=16)]
    loaded = saccade.load(tmp_path / "run" / "model", Captioner)
    again = loaded.caption_encoded(loaded.encode(pixels), [one.image for one in images], Search(beam=2))
    assert [caption.text for caption in found] == [caption.text for caption in again]
    assert all(isinstance(map_, np.ndarray) for map_ in task.attention_maps().values())
    assert len(task.attention_maps()) == 3


def test_the_pretrained_eye_sees_once_and_is_trained_on(scenes: Path, tmp_path: Path):
    values = small(from_files(scenes)).model_dump()
    values["image_encoder"] = {"kind": "efficientnet-lite0", "level": "top"}
    recipe = check_settings(CaptionRecipe, values, where="pretrained")
    task = task_of(recipe, tmp_path / "run")
    names = [one.image for one in task.valid_images]
    kept = task._rows.encoded(names)
    assert kept.shape == (len(names), 49, 320)
    fresh = task.model.encode([task.model.preprocess(Path(name), name) for name in names])
    assert float((kept - fresh).abs().max()) < 2e-3 * float(fresh.abs().max())  # kept in half precision
    figures = train(task, recipe.train, tmp_path / "run", Silent())
    assert np.isfinite(figures["loss"])


def test_the_commands_from_scenes_to_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = tmp_path / "made"
    assert main(["data", "make", "shapes", "--out", str(folder), "--scenes", "30", "--image-size", "16"]) == 0
    assert main(["data", "make", "shapes", "--out", str(folder), "--scenes", "30"]) == 2
    assert "--overwrite" in capsys.readouterr().err
    settings = [
        "image_encoder.image_size=16",
        "image_encoder.channels=[8,16]",
        "model.dim=16",
        "model.embedding=8",
        "train.steps=4",
    ]
    data = [
        f"data.images={folder}",
        f"data.captions={folder / 'captions.jsonl'}",
        "data.make=null",
        "data.validation_size=5",
    ]
    run = tmp_path / "run"
    assert main(["train", "shapes", *data, *settings, "train.tensorboard=false", "--run", str(run)]) == 0
    assert f"saccade caption {run / 'model'} IMAGE" in capsys.readouterr().out
    images = str(folder / "images")
    (folder / "images" / "000001.png").write_bytes(b"no image")
    page = tmp_path / "page.html"
    assert main(["caption", str(run / "model"), images, "--json", "--html", str(page), "--beam", "2"]) == 1
    captured = capsys.readouterr()
    lines = [json.loads(line) for line in captured.out.splitlines()]
    assert [line["image"] for line in lines if "error" in line] == [f"{images}/000001.png"]
    assert len(lines) == 30
    assert len(lines[0]["attention"][0]) == 16
    assert "000001.png" in captured.err
    assert page.stat().st_size > 10_000
    assert (
        main(["look", str(run / "model"), str(folder / "images" / "000002.png"), "--png", str(folder / "look.png")])
        == 0
    )
    assert (folder / "look.png").read_bytes().startswith(b"\x89PNG")
    where = ["--images", str(folder), "--captions", str(folder / "captions.jsonl")]
    assert main(["evaluate", str(run / "model"), *where, "--json", "--beam", "1"]) == 1  # for one cannot be read
    scores = json.loads(capsys.readouterr().out)
    assert scores["images"] == 29
    assert set(scores) == {
        "images",
        "bleu1",
        "bleu2",
        "bleu3",
        "bleu4",
        "rouge_l",
        "cider",
        "exact_match",
        "pointing_game",
    }


def test_commands_given_wrong_things(tmp_path: Path, capsys: pytest.CaptureFixture[str], scenes: Path):
    recipe = small({"make": "shapes", "scenes": 30}, steps=2)
    task = task_of(recipe, tmp_path / "run")
    task.model.save(tmp_path / "model")
    model, image = str(tmp_path / "model"), str(scenes / "images" / "000001.png")
    wrong = {
        "000003.png: not an image that can be read": ["caption", model, str(scenes / "images" / "000003.png")],
        "no images there": ["caption", model, str(tmp_path / "run")],
        "folders in it are not searched: name them": ["caption", model, str(scenes)],
        "nowhere.jpg: no such file": ["caption", model, str(tmp_path / "nowhere.jpg")],
        "wanted a name that ends in .png": ["caption", model, image, "--png", str(tmp_path / "a.jpg")],
        "no such folder": ["evaluate", model, "--images", "nowhere", "--captions", str(scenes / "captions.jsonl")],
        "a figure is of one image": ["caption", model, image, image, "--png", str(tmp_path / "a.png")],
        "wanted --images DIR": ["evaluate", model, "--source", image, "--reference", image],
        "--by-length": ["evaluate", model, "--images", str(scenes), "--captions", "x", "--by-length", "5"],
        "saccade caption": ["translate", model, image],
        "none of its images": [
            *["evaluate", model, "--images", str(scenes), "--captions", str(scenes / "captions.jsonl")],
            *["--split", str(scenes / "captions.jsonl")],
        ],
    }
    for says, arguments in wrong.items():
        assert main(arguments) == 2, arguments
        message = capsys.readouterr().err
        assert says in message
        assert "Traceback" not in message
