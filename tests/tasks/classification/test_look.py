"""What the places of an image looked at, and the layers of a net."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from saccade.attention import SelfAttention2d
from saccade.cli.main import main
from saccade.tasks.classification.model import Classifier
from saccade.tasks.classification.settings import ClassifierSettings, CnnSettings, MlpSettings
from saccade.vision import as_png, make_digits, read_image, scaled

DIGIT = make_digits(1, seed=0, side=16).pixels[0]
CNN = CnnSettings(kind="cnn", image_size=16, channels=[16, 8, 4], attend_after=[1, 2], downsampling="average")


@pytest.fixture
def cnn() -> Classifier:
    torch.manual_seed(0)
    made = Classifier.make(ClassifierSettings(model=CNN, classes=["odd", "even"]))
    made.net.eval()
    return made


@pytest.fixture
def files(cnn: Classifier, tmp_path: Path) -> tuple[str, str]:
    """A model and an image."""
    cnn.save(tmp_path / "model")
    (tmp_path / "digit.png").write_bytes(as_png(DIGIT))
    return str(tmp_path / "model"), str(tmp_path / "digit.png")


def test_the_weights_are_those_of_the_layer(cnn: Classifier) -> None:
    image = as_png(DIGIT)
    (plain,), (found,) = cnn.classify([image]), cnn.classify([image], attention=True, block=1)
    assert plain.attention is None
    assert plain.ranking == found.ranking
    net: Any = cnn.net
    with torch.inference_mode():
        features = net.blocks.blocks[0](scaled(np.stack([read_image(image, side=16)])))
        layer: SelfAttention2d = net.blocks.attentions["1"]
        queries = layer.query_projection(features).flatten(2).mT
        keys = layer.key_projection(features).flatten(2)
        wanted = (queries @ keys).softmax(-1)[0]
    assert found.attention is not None
    assert found.attention[0, 0] == pytest.approx(wanted.numpy(), abs=1e-6)
    (last,) = cnn.maps(cnn.classify([image], attention=True)[0], image=image)
    assert last.weights.shape == (1, 1, 16, 16)


def test_a_place_is_looked_from(files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["look", *files, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert len(record["rows"]) == 16
    assert main(["look", *files, "--place", "2,3"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[1].startswith("row 2, column 3 looked at")
    looked = np.array(record["weights"]).reshape(16, 16)[6]
    cells = [line.split()[1:] for line in said[-4:]]
    assert cells[looked.argmax() // 4][looked.argmax() % 4] == "██"
    assert [len(row) for row in cells] == [4, 4, 4, 4]
    assert main(["look", *files, "--html", str(tmp_path / "map.html"), "--png", str(tmp_path / "map.png")]) == 0
    assert "row 4, column 4" in (tmp_path / "map.html").read_text()
    capsys.readouterr()
    wrong = {
        "--place: found 5,1, wanted 1,1 to 4,4": ["--place", "5,1"],
        "--place: found 'middle'": ["--place", "middle"],
        "block: found 3, wanted a block that self-attention stands after: 1, 2": ["--block", "3"],
        "wanted the model alone": ["--layers"],
    }
    for says, options in wrong.items():
        assert main(["look", *files, *options]) == 2
        assert says in capsys.readouterr().err


def test_the_layers_are_a_table(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["look", files[0], "--layers"]) == 0
    said = capsys.readouterr().out
    assert "⌊(16 + 2·1 - 3) / 1⌋ + 1 = 16" in said
    assert main(["look", files[0], "--layers", "--json"]) == 0
    layers = json.loads(capsys.readouterr().out)["layers"]
    total = sum(parameter.numel() for parameter in Classifier.load(Path(files[0])).net.parameters())
    assert sum(layer["parameters"] for layer in layers) == total
    assert f"{total:,}" in said


def test_what_does_not_look_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = ClassifierSettings(model=MlpSettings(kind="mlp", image_size=16), classes=["odd", "even"])
    Classifier.make(settings).save(tmp_path / "model")
    assert main(["look", str(tmp_path / "model"), "digit.png"]) == 2
    assert "--layers shows the layers" in capsys.readouterr().err
    assert main(["look", str(tmp_path / "model"), "--layers"]) == 0
    assert "AdaptiveAvgPool2d" not in capsys.readouterr().out
