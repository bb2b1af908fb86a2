"""The eye with its ImageNet weights: against the reference architecture, and on photographs."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from saccade.base.errors import InputError
from saccade.nets import GRIDS, Eye
from saccade.nets.eye import SIDE
from saccade.tasks.captioning import pretrained
from saccade.tasks.captioning.pretrained import load_eye, weights_file
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
def eye() -> Eye:
    return load_eye()


def folder_of(package: str) -> Path:
    found = importlib.util.find_spec(package)
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


def scaled(path: Path) -> torch.Tensor:
    return (torch.from_numpy(read_image(path, side=SIDE).astype(np.float32)).permute(2, 0, 1)[None] - 127) / 128


def test_it_is_the_reference_architecture(eye: Eye):
    efficientnet: Any = importlib.import_module("efficientnet_lite_pytorch").EfficientNet
    reference = efficientnet.from_pretrained("efficientnet-lite0", weights_path=str(weights_file())).eval()
    photographs = torch.cat([scaled(folder_of("skimage") / "data" / name) for name in PHOTOGRAPHS])
    with torch.inference_mode():
        wanted = reference(photographs)
        torch.testing.assert_close(eye(photographs), wanted, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(
            eye.features(photographs), reference.extract_features(photographs), rtol=1e-4, atol=1e-4
        )
    assert wanted.std() > 0.5  # and not nothing everywhere


@pytest.mark.parametrize(("name", "right"), PHOTOGRAPHS.items())
def test_a_photograph_has_its_class_among_the_first_five(eye: Eye, name: str, right: set[int]):
    with torch.inference_mode():
        first_five = eye(scaled(folder_of("skimage") / "data" / name))[0].topk(5).indices.tolist()
    assert right & set(first_five)


@pytest.mark.parametrize("level", GRIDS)
def test_the_levels_have_their_sizes(eye: Eye, level: Any):
    side, channels = GRIDS[level]
    with torch.inference_mode():
        assert eye.features(torch.zeros(1, 3, SIDE, SIDE), level).shape == (1, channels, side, side)


def test_without_the_package_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pretrained, "_PACKAGE", "no_such_package")
    with pytest.raises(InputError, match="pip install"):
        load_eye()
