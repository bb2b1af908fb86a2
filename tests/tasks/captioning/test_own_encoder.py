"""An image encoder of the user's own: it is trained with the rest, saved with it, and handed over again."""

import copy
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import saccade
from saccade.base.errors import InputError
from saccade.cli.main import main
from saccade.tasks.captioning.settings import OwnEncoderSettings
from saccade.tasks.find_recipe import load_recipe
from saccade.training import Callback, Silent
from saccade.vision import make_scenes


class Several(nn.Module):
    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        return images, images


SETTINGS: dict[str, Any] = {
    "data.scenes": 30,
    "data.validation_size": 5,
    "image_encoder.kind": "own",
    "image_encoder.image_size": 16,
    "image_encoder.side": 4,
    "image_encoder.channels": 6,
    "model.dim": 8,
    "model.embedding": 4,
    "train.steps": 4,
    "train.save_every": 2,
    "train.batch_tokens": 64,
    "train.tensorboard": False,
    "train.threads": 1,
    "validation.images": 2,
}
SCENES = [scene.pixels for scene in make_scenes(3, seed=1, side=16)]


class Patches(nn.Module):
    """Four by four pixels at a time, as vision transformers see them; with numbers of several kinds."""

    def __init__(self, channels: int = 6) -> None:
        super().__init__()
        self.cut = nn.Conv2d(3, channels, 4, stride=4)
        self.frozen = nn.Conv2d(channels, channels, 1).requires_grad_(requires_grad=False)
        self.norm = nn.BatchNorm2d(channels)  # which counts its batches in whole numbers

    def forward(self, images: Tensor) -> Tensor:
        return self.norm(self.frozen(self.cut(images)))


def train(run: Path, module: nn.Module, **how: Any) -> saccade.Captioner:
    settings = SETTINGS | {"data.cache": run.parent / "cache"} | how.pop("settings", {})
    modules = {"image_encoder": module}
    return saccade.train(
        "shapes", saccade.Captioner, run=run, settings=settings, modules=modules, reporter=Silent(), **how
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own") / "run"
    torch.manual_seed(5)
    train(folder, Patches())
    return folder


def test_it_is_trained_with_the_rest_but_for_what_is_frozen(tmp_path: Path) -> None:
    module = Patches()
    captioner = train(tmp_path / "run", module)
    trained = captioner.net.image_encoder
    assert isinstance(trained, Patches)
    assert not trained.training
    assert not trained.cut.weight.equal(module.cut.weight)
    assert trained.frozen.weight.equal(module.frozen.weight)
    assert trained.norm.num_batches_tracked == 4
    assert captioner.caption(SCENES, attention=True)[0].attention is not None


def test_the_one_that_is_handed_over_stays_as_it_is_and_can_be_handed_over_again(tmp_path: Path) -> None:
    module = Patches()
    before = copy.deepcopy(module)
    first = train(tmp_path / "run", module)
    more = train(tmp_path / "run", module, settings={"train.steps": 8})
    for name, tensor in module.state_dict().items():
        assert tensor.equal(before.state_dict()[name])
    assert [one.requires_grad for one in module.parameters()] == [one.requires_grad for one in before.parameters()]
    assert module.training
    weights = [model.net.get_parameter("image_encoder.cut.weight") for model in (first, more)]
    assert not weights[0].equal(weights[1])


def test_its_weights_are_saved_and_read_into_another_one(run: Path, tmp_path: Path) -> None:
    wanted = saccade.load(run, saccade.Captioner, modules={"image_encoder": Patches()})
    captions = wanted.caption(SCENES, beam=2, attention=True)
    shutil.copytree(run / "model", tmp_path / "model")
    again = saccade.load(str(tmp_path / "model"), saccade.Captioner, modules={"image_encoder": Patches()})
    assert again.caption(SCENES, beam=2, attention=True) == captions
    assert saccade.Captioner.load(run, modules={"image_encoder": Patches()}).caption(SCENES)[0].text == captions[0].text
    for other in (pickle.loads(pickle.dumps(wanted)), copy.deepcopy(wanted)):  # noqa: S301
        assert other.caption(SCENES, beam=2, attention=True) == captions
    wanted.save(tmp_path / "saved")
    assert (tmp_path / "saved" / "config.yaml").read_text() == (run / "model" / "config.yaml").read_text()


def test_the_models_settings_say_what_it_is(run: Path) -> None:
    captioner = saccade.load(run, saccade.Captioner, modules={"image_encoder": Patches()})
    settings = OwnEncoderSettings(kind="own", image_size=16, side=4, channels=6, name="Patches")
    assert captioner.settings.image_encoder == settings


def test_without_it_the_model_is_refused_with_what_to_do(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = run / "model"
    says = f"{model}: the image encoder, Patches, is one of somebody's own; hand it over: "
    says += f'saccade.load("{model}", saccade.Captioner, modules={{"image_encoder": ...}})'
    with pytest.raises(InputError) as error:
        saccade.load(run)
    assert str(error.value) == says
    assert main(["caption", str(run), str(tmp_path)]) == 2
    assert main(["train", "train.steps=5", "--run", str(run)]) == 2
    said = capsys.readouterr().err
    assert (
        "the recipe: the image encoder is one of somebody's own; hand it over: saccade.train(..., modules={\"" in said
    )
    assert "Traceback" not in said


def test_a_training_that_was_broken_off_goes_on_bit_for_bit(tmp_path: Path) -> None:
    """Whatever weights the second module begins with: those of the checkpoint take their place."""

    class Broken(Callback):
        def on_step_end(self, step: int, loss: float, model: Any) -> None:
            if step == 3:
                raise RuntimeError("power cut")

    first, second = Patches(), Patches()
    whole = copy.deepcopy(first)
    with pytest.raises(RuntimeError, match="power cut"):
        train(tmp_path / "run", first, callbacks=[Broken()])
    train(tmp_path / "run", second)
    train(tmp_path / "whole", whole)
    ours, theirs = ((tmp_path / name / "model/model.safetensors").read_bytes() for name in ("run", "whole"))
    assert ours == theirs


@pytest.mark.parametrize(
    ("modules", "says"),
    [
        (
            {"image_encoder": Patches(channels=5)},
            r"image_encoder: found \[1, 5, 4, 4\] for an image of 16 x 16, wanted \[1, 6, 4, 4\], as image_encoder\.ch",
        ),
        ({"image_encoder": nn.Flatten()}, r"image_encoder: found \[1, 768\] for an image of 16 x 16"),
        ({"image_encoder": Several()}, r"image_encoder: found tuple for an image of 16 x 16"),
        ({"eye": Patches()}, r"modules: found 'eye', wanted image_encoder"),
        ({}, r"the recipe: the image encoder is one of somebody's own; hand it over: saccade\.train\("),
    ],
)
def test_modules_that_do_not_fit(modules: dict[str, nn.Module], says: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=says):
        saccade.train("shapes", run=tmp_path / "run", settings=SETTINGS, modules=modules, reporter=Silent())


def test_modules_where_none_are_wanted(tmp_path: Path) -> None:
    small = {"image_encoder.kind": "small", "image_encoder.channels": [4], "image_encoder.side": 4}
    with pytest.raises(InputError, match=r"image_encoder\.side: no such setting"):
        train(tmp_path / "run", Patches(), settings=small)
    settings = [f"{name}={value}" for name, value in SETTINGS.items() if "encoder" not in name and "train." not in name]
    recipe = load_recipe("shapes", [*settings, f"data.cache={tmp_path}", "train.steps=1", "train.tensorboard=false"])
    with pytest.raises(InputError, match=r"modules: found an image_encoder, and the recipe has small; it wants "):
        saccade.train(recipe, run=tmp_path / "run", modules={"image_encoder": Patches()}, reporter=Silent())
    saccade.train(recipe, run=tmp_path / "small", reporter=Silent())
    with pytest.raises(InputError, match=r"modules: found an image_encoder, and .*model has small"):
        saccade.load(tmp_path / "small", modules={"image_encoder": Patches()})
    pairs = {"data.pairs": 20, "data.validation_size": 2, "model.dim": 4, "train.steps": 1, "train.tensorboard": False}
    saccade.train("dates", run=tmp_path / "dates", settings=pairs, reporter=Silent())
    with pytest.raises(InputError, match=r"modules: found image_encoder; a Translator has no part of one's own"):
        saccade.load(tmp_path / "dates", modules={"image_encoder": Patches()})
