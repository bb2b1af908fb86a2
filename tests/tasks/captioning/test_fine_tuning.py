"""A captioner whose pretrained image encoder learns with the rest, after it was frozen."""

from pathlib import Path
from typing import Any

import saccade
from saccade.training import Silent
from saccade.vision import as_png, make_scenes

SMALL: dict[str, Any] = {
    "data.scenes": 10,
    "data.validation_size": 2,
    "image_encoder.kind": "efficientnet-lite0",
    "model.dim": 8,
    "model.embedding": 4,
    "train.steps": 2,
    "train.validate_every": 2,
    "train.warmup_steps": 0,
    "train.batch_tokens": 32,
    "train.tensorboard": False,
    "train.threads": 1,
    "validation.images": 2,
}


def test_an_encoder_is_fine_tuned_after_it_was_frozen(tmp_path: Path) -> None:
    """Features are kept at first; then it starts from that, and the CNN learns at its own rate, without its norms."""
    settings = SMALL | {"data.cache": tmp_path / "cache"}
    saccade.train("shapes", run=tmp_path / "frozen", settings=settings, reporter=Silent())
    frozen = saccade.load(tmp_path / "frozen", saccade.Captioner)
    settings |= {
        "train.start_from": tmp_path / "frozen",
        "image_encoder.fine_tune": True,
        "train.new_lr": 1e-4,
        "train.freeze": ["image_encoder.*.norm"],
    }
    tuned = saccade.train("shapes", saccade.Captioner, run=tmp_path / "tuned", settings=settings, reporter=Silent())
    assert not (tmp_path / "tuned/model/image_encoder.safetensors").exists()
    before, after = frozen.image_encoder.state_dict(), tuned.net.state_dict()
    changes = {name: (after[f"image_encoder.cnn.{name}"] - one).abs().max().item() for name, one in before.items()}
    assert 0 < changes["stem.convolution.weight"] < 1e-3
    assert {change for name, change in changes.items() if ".norm." in name} == {0.0}
    assert after.keys() - frozen.net.state_dict().keys() == {f"image_encoder.cnn.{name}" for name in before}
    picture = make_scenes(1, seed=2, side=224)[0].pixels
    (caption,) = saccade.load(tmp_path / "tuned", saccade.Captioner).caption([as_png(picture)], attention=True)
    assert caption.attention is not None
    assert caption.attention.shape[-1] == 49
