"""Classification: class folders, MNIST's files, made images; nets that see all at once or by glimpses."""

import gzip
import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import saccade
from saccade.base.errors import InputError
from saccade.base.files import make_folder, write_file
from saccade.base.settings import check_settings
from saccade.base.shuffling import Cursor, ShuffledIndices
from saccade.cli.main import main
from saccade.look import draw_path, figure_bytes
from saccade.tasks.classification.data import LabelledSplits, load_labelled_splits
from saccade.tasks.classification.model import Classifier
from saccade.tasks.classification.recipe import ClassificationRecipe
from saccade.tasks.classification.settings import (
    ClassifierSettings,
    ClassModel,
    CnnSettings,
    GlimpseSettings,
    MlpSettings,
)
from saccade.tasks.classification.training import ClassificationTask, augmented
from saccade.tasks.find_recipe import load_recipe
from saccade.training import Silent, train
from saccade.vision import LabelledImages, as_png, make_digits, read_labelled
from saccade.vision.labelled import read_idx

DIGITS = make_digits(40, seed=0, side=16)
CNN = {"kind": "cnn", "image_size": 16, "channels": [16, 32], "attend_after": [1]}
MLP = {"kind": "mlp", "image_size": 16, "hidden": [48, 24], "dropout": 0.1}
GLIMPSES = {"kind": "glimpses", "image_size": 16, "patch_size": 6, "scales": 2, "glimpses": 3, "dim": 64}


def recipe_of(data: dict[str, Any], model: dict[str, Any], **settings: Any) -> ClassificationRecipe:
    usual = {"steps": 10, "batch_size": 32, "lr": 5e-3, "warmup_steps": 5, "label_smoothing": 0.0, "tensorboard": False}
    values = {"task": "classification", "data": data, "model": model, "train": usual | settings}
    return check_settings(ClassificationRecipe, values, where="small")


def learn(recipe: ClassificationRecipe, run: Path) -> dict[str, float]:
    splits = load_labelled_splits(recipe.data, side=recipe.model.image_size)
    return train(ClassificationTask(recipe, splits, run, Silent()), recipe.train, run, Silent())


@pytest.mark.parametrize("model", [CNN, MLP, GLIMPSES], ids=["cnn", "mlp", "glimpses"])
def test_digits_are_learnt(model: dict[str, Any], tmp_path: Path):
    recipe = recipe_of(
        {"make": "digits", "images": 1000, "validation_size": 200},
        model,
        steps=400,
        validate_every=400,
        schedule="cosine",
    )
    figures = learn(recipe, tmp_path)
    assert figures["accuracy"] > 60  # chance is 10


def write_idx(path: Path, array: np.ndarray) -> Path:
    head = bytes([0, 0, 8, array.ndim]) + b"".join(size.to_bytes(4, "big") for size in array.shape)
    content = head + array.astype(np.uint8).tobytes()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_mnists_files(tmp_path: Path, ending: str):
    images = write_idx(tmp_path / f"train-images-idx3-ubyte{ending}", DIGITS.pixels[..., 0])
    with pytest.raises(InputError, match="labels-idx1"):
        read_labelled(images, side=16)
    write_idx(tmp_path / f"train-labels-idx1-ubyte{ending}", DIGITS.labels)
    found, bad = read_labelled(images, side=16)
    assert (found.pixels == DIGITS.pixels).all()
    assert (found.labels == DIGITS.labels).all()
    assert found.classes == DIGITS.classes
    assert bad == []
    with pytest.raises(InputError, match="image_size"):
        read_labelled(images, side=28)


@pytest.mark.parametrize(
    "content", [b"", b"text", b"\x00\x00\x08\x03\x00\x00", b"\x1f\x8bno gzip", b"\x00\x00\x08\x01\x00\x00\x00\x09abc"]
)
def test_broken_idx_files_get_one_line(tmp_path: Path, content: bytes):
    (tmp_path / "x-images-idx3").write_bytes(content)
    with pytest.raises(InputError, match="get it anew"):
        read_idx(tmp_path / "x-images-idx3")


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """A folder for each digit, with one file that is no image."""
    for number, (pixels, label) in enumerate(zip(DIGITS.pixels, DIGITS.labels, strict=True)):
        make_folder(tmp_path / "photos" / f"digit {label}")
        write_file(tmp_path / "photos" / f"digit {label}" / f"{number}.png", as_png(pixels))
    write_file(tmp_path / "photos" / "digit 1" / "broken.jpg", b"no image")
    write_file(tmp_path / "photos" / "digit 1" / "notes.txt", b"not looked at")
    return tmp_path / "photos"


def test_class_folders(folders: Path, tmp_path: Path):
    told: list[tuple[int, int]] = []
    found, bad = read_labelled(folders, side=16, tell=lambda done, total: told.append((done, total)))
    assert sorted(found.classes) == sorted({f"digit {label}" for label in DIGITS.labels})
    assert len(found.labels) == 40
    assert len(bad) == 1
    assert "broken.jpg" in bad[0]
    assert told[-1] == (41, 41)
    names = [f"digit {label}" for label in DIGITS.labels]
    assert sorted(found.classes[label] for label in found.labels) == sorted(names)
    for wrong in (tmp_path / "photos" / "digit 1", tmp_path / "none"):
        with pytest.raises(InputError, match="class"):
            read_labelled(wrong, side=16)


def test_indices_are_shuffled_and_go_on_from_a_cursor():
    indices = ShuffledIndices(23, batch_size=5, seed=1)
    stream = indices.stream(Cursor())
    first = [next(stream) for _ in range(9)]
    epoch = np.concatenate([batch for batch, _ in first[:4]])
    assert len(set(epoch.tolist())) == 20  # the rest of three is left out
    assert set(epoch.tolist()) != set(np.concatenate([batch for batch, _ in first[4:8]]).tolist())
    again = indices.stream(first[5][1])
    for batch, cursor in first[6:]:
        other, after = next(again)
        assert (batch == other).all()
        assert cursor == after


def test_moved_images_are_pieces_of_wider_ones():
    torch.manual_seed(0)
    images = torch.arange(2 * 3 * 5 * 5, dtype=torch.float32).view(2, 3, 5, 5)
    found = augmented(images, random_shift=2, horizontal_flip=False)
    assert found.shape == images.shape
    wide = torch.nn.functional.pad(images, (2, 2, 2, 2), mode="replicate")
    for row in range(2):
        pieces = [wide[row, :, y : y + 5, x : x + 5] for y in range(5) for x in range(5)]
        assert any(torch.equal(found[row], piece) for piece in pieces)
    mirrored = augmented(images.repeat(20, 1, 1, 1), random_shift=0, horizontal_flip=True)
    turned = [torch.equal(one, images[n % 2].flip(-1)) for n, one in enumerate(mirrored)]
    plain = [torch.equal(one, images[n % 2]) for n, one in enumerate(mirrored)]
    assert any(turned)
    assert any(plain)
    assert all(a != b for a, b in zip(turned, plain, strict=True))


@pytest.mark.parametrize(
    "model",
    [
        CnnSettings.model_validate(CNN | {"downsampling": "stride"}),
        MlpSettings.model_validate(MLP),
        GlimpseSettings.model_validate(GLIMPSES),
    ],
    ids=lambda model: model.kind,
)
def test_a_classifier_is_saved_and_says_the_same(model: ClassModel, tmp_path: Path):
    torch.manual_seed(0)
    made = Classifier.make(ClassifierSettings(model=model, classes=["a", "b", "ü"]))
    made.net.eval()
    images = [as_png(pixels) for pixels in DIGITS.pixels[:5]]
    found = made.classify(images, batch_size=2)
    made.save(tmp_path)
    loaded = saccade.load(tmp_path, Classifier)
    for one, other in zip(found, loaded.classify(images), strict=True):
        assert one.label == other.label
        assert one.probability == pytest.approx(other.probability, abs=1e-6)
        assert sum(share for _, share in one.ranking) == pytest.approx(1, abs=1e-5)
        assert one.ranking[0] == (one.label, one.probability)
        assert (one.path is None) == (model.kind != "glimpses")


def test_commands(folders: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    run = str(tmp_path / "run")
    settings = ["data.make=null", f"data.train={folders}", "model.image_size=16", "model.patch_size=6", "train.steps=3"]
    assert (
        main(["train", "mnist-glimpses", *settings, "train.batch_size=8", "train.tensorboard=false", "--run", run]) == 0
    )
    captured = capsys.readouterr()
    assert "1 images cannot be read" in captured.err
    model, image = f"{run}/model", str(next(folders.glob("*/*.png")))
    assert main(["classify", model, image, "--top", "2"]) == 0
    assert capsys.readouterr().out.count("digit") >= 2
    figure = tmp_path / "path.svg"
    assert main(["classify", model, image, "--json", "--svg", str(figure)]) == 0
    record = json.loads(capsys.readouterr().out)
    assert len(record["path"]) == 6
    assert figure.read_text().count('id="glimpse-') == 6
    assert main(["evaluate", model, "--images", str(folders), "--json"]) == 1  # one of the images cannot be read
    scores = json.loads(capsys.readouterr().out)
    assert scores["images"] == 40
    readable = sorted(folders.glob("*/*.png"))
    found = saccade.load(model, saccade.Classifier).classify(readable)
    right = sum(one.label == path.parent.name for one, path in zip(found, readable, strict=True))
    assert scores["accuracy"] == pytest.approx(100 * right / 40)
    wrong = {
        "a figure is of one image": ["classify", model, image, image, "--png", "a.png"],
        "not an image that can be read": ["classify", model, str(next(folders.glob("*/broken.jpg")))],
        "wanted --images DIR": ["evaluate", model, "--source", image, "--reference", image],
        "saccade classify": ["caption", model, image],
        "ends in": ["classify", model, image, "--png", str(tmp_path / "a.bmp")],
    }
    for says, arguments in wrong.items():
        assert main(arguments) == 2, arguments
        assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("data.make=null", "either train"),
        ("model.patch_size=0", "patch_size"),
        ("train.monitor=bleu", "train.monitor"),
        ("model.wings=2", "wings"),
    ],
)
def test_bad_settings_get_one_line(change: str, says: str):
    with pytest.raises(InputError, match=says):
        load_recipe("mnist-glimpses", [change])


def test_a_path_has_a_square_for_each_glimpse():
    path = np.array([[0, 0], [0.5, -0.5], [-1, 1]], dtype=np.float32)
    figure = draw_path(as_png(DIGITS.pixels[0]), path, size=0.25)
    squares = {patch.get_gid(): patch for patch in figure.axes[0].patches}
    assert [squares[f"glimpse-{n}"].get_xy() for n in (1, 2, 3)] == [  # pyright: ignore[reportAttributeAccessIssue]
        pytest.approx((0.375, 0.375)),
        pytest.approx((0.625, 0.125)),
        pytest.approx((-0.125, 0.875)),
    ]
    with pytest.raises(InputError, match="glimpses, 2"):
        draw_path(as_png(DIGITS.pixels[0]), path[:, :1], size=0.25)


def test_made_digits_are_the_same_for_a_seed_and_differ():
    again = make_digits(40, seed=0, side=16)
    assert (again.pixels == DIGITS.pixels).all()
    assert isinstance(DIGITS, LabelledImages)
    assert len({pixels.tobytes() for pixels in DIGITS.pixels}) == 40
    assert DIGITS.pixels.max() > 200


def test_numbers_of_glimpses_that_would_lie_on_each_other_share_a_label():
    path = np.array([[0.0, 0.0], [0.6, 0.0], [0.65, 0.1], [0.0, 0.05]], dtype=np.float32)
    figure = draw_path(as_png(DIGITS.pixels[0]), path, size=0.25)
    assert [text.get_text() for text in figure.axes[0].texts] == ["1, 4", "2, 3"]


def test_a_label_of_strange_characters_leaves_the_figure_well_formed():
    path = np.zeros((2, 2), dtype=np.float32)
    figure = draw_path(as_png(DIGITS.pixels[0]), path, size=0.25, title="digit \x00\udcff")
    root = ET.fromstring(figure_bytes(figure, "svg"))  # noqa: S314 - our own file
    assert "digit ��" in ["".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")]


INVERTED = 255 - DIGITS.pixels
PHOTOS = np.random.default_rng(0).integers(0, 256, (40, 16, 16, 3), dtype=np.uint8)


def test_the_background_of_what_was_learnt_is_known(tmp_path: Path):
    def background(pixels: np.ndarray) -> str | None:
        splits = LabelledSplits(DIGITS._replace(pixels=pixels), DIGITS, [])
        task = ClassificationTask(recipe_of({"make": "digits"}, CNN), splits, tmp_path, Silent())
        task.model.save(tmp_path / "model")
        return Classifier.load(tmp_path / "model").settings.background

    assert background(DIGITS.pixels) == "dark"
    assert background(INVERTED) == "light"
    assert background(PHOTOS) is None
    assert background(np.concatenate([DIGITS.pixels[:20], INVERTED[20:]])) is None


@pytest.mark.parametrize("model", [CNN, GLIMPSES], ids=["cnn", "glimpses"])
def test_dark_digits_on_light_paper_are_the_same_digits(model: dict[str, Any]):
    """Nothing is turned that was learnt from photographs, and no photograph is."""

    def shares(classifier: Classifier, pixels: np.ndarray) -> list[list[tuple[str, float]]]:
        files = [as_png(one) for one in pixels]
        found = [one.ranking for one in classifier.classify(files)]
        assert found == [one.ranking for one in classifier.classify_pixels(list(pixels))]
        return found

    torch.manual_seed(0)
    settings = ClassifierSettings.model_validate({"model": model, "classes": DIGITS.classes, "background": "dark"})
    dark = Classifier.make(settings)
    plain = Classifier(dark.net, settings.model_copy(update={"background": None}))
    light = Classifier(dark.net, settings.model_copy(update={"background": "light"}))
    as_they_are = shares(plain, DIGITS.pixels)
    assert shares(dark, DIGITS.pixels) == shares(dark, INVERTED) == as_they_are
    assert shares(light, DIGITS.pixels) == shares(light, INVERTED) == shares(plain, INVERTED)
    assert shares(plain, INVERTED) != as_they_are
    assert shares(dark, PHOTOS) == shares(light, PHOTOS) == shares(plain, PHOTOS)


def test_evaluation_is_the_same_on_the_other_background(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    data = {"make": "digits", "images": 400, "validation_size": 50}
    learn(recipe_of(data, CNN, steps=60, validate_every=60), tmp_path / "run")
    accuracy = []
    for name, pixels in (("dark", DIGITS.pixels), ("light", INVERTED)):
        for number, (one, label) in enumerate(zip(pixels, DIGITS.labels, strict=True)):
            folder = tmp_path / name / DIGITS.classes[label]
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{number}.png").write_bytes(as_png(one))
        assert main(["evaluate", str(tmp_path / "run" / "model"), "--images", str(tmp_path / name), "--json"]) == 0
        accuracy.append(json.loads(capsys.readouterr().out)["accuracy"])
    assert accuracy[0] == accuracy[1] > 15  # chance is 10
