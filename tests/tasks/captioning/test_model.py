"""Captioners: images in, text out, with where they looked, from a folder that can go anywhere."""

import copy
import io
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from pydantic import ValidationError

import saccade
from saccade.base.errors import InputError
from saccade.nets.settings import TransformerSettings
from saccade.tasks.captioning.model import Captioner
from saccade.tasks.captioning.net import CaptionBatch, caption_loss
from saccade.tasks.captioning.settings import (
    CaptionerSettings,
    CaptionRnnSettings,
    PretrainedEncoderSettings,
    SmallEncoderSettings,
)
from saccade.tasks.translation.model import Translator
from saccade.text import END, START, Vocabulary, VocabularySettings, learn_vocabulary, pad
from saccade.vision import make_scenes, scaled

SIDE = 16
SCENES = make_scenes(12, seed=0, side=SIDE)
WORDS = VocabularySettings(kind="words")
SMALL = SmallEncoderSettings(kind="small", image_size=SIDE, channels=[5, 7], attend_after=[1])
MODELS: dict[str, CaptionRnnSettings | TransformerSettings] = {
    "soft": CaptionRnnSettings(kind="rnn", embedding=8, dim=12, max_length=9),
    "hard": CaptionRnnSettings(kind="rnn", embedding=8, dim=12, weighting="hard", max_length=9),
    "gru without gate": CaptionRnnSettings(kind="rnn", cell="gru", embedding=8, dim=12, gate=False, max_length=9),
    "luong dot": CaptionRnnSettings(kind="rnn", embedding=8, dim=12, order="luong", score="dot", max_length=9),
    "mean": CaptionRnnSettings(kind="rnn", embedding=8, dim=12, score="mean", max_length=9),
    "none": CaptionRnnSettings(kind="rnn", embedding=8, dim=12, score="none", max_length=9),
    "static": CaptionRnnSettings(kind="rnn", embedding=8, dim=12, score="static", max_length=9),
    "first": CaptionRnnSettings(
        kind="rnn",
        cell="elman",
        embedding=8,
        dim=12,
        score="first",
        bridge="mlp",
        readout=False,
        gate=False,
        max_length=9,
    ),
    "transformer": TransformerSettings(kind="transformer", layers=2, dim=12, heads=3, feed_forward=20, max_length=9),
}


def vocabulary() -> Vocabulary:
    return learn_vocabulary([scene.caption for scene in SCENES], WORDS)


@cache
def captioner(name: str) -> Captioner:
    """A small captioner with random weights, far from even, so that a wrong output shows."""
    torch.manual_seed(3)
    made = Captioner.make(CaptionerSettings(image_encoder=SMALL, model=MODELS[name], vocabulary=WORDS), vocabulary())
    with torch.no_grad():
        for parameter in made.net.parameters():
            parameter.mul_(3.0 if parameter.dim() > 1 else 1.0)
    made.net.eval()
    return made


def png(pixels: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


IMAGES = [png(scene.pixels) for scene in SCENES]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("search", [{"beam": 1}, {"beam": 3, "nbest": 2}, {"sampling": True, "nbest": 2}], ids=str)
def test_no_output_depends_on_the_batch(name: str, search: dict[str, Any]):
    together, alone = (
        captioner(name).caption(IMAGES, batch_size=batch_size, attention=True, **search) for batch_size in (12, 1)
    )
    if search.get("sampling"):  # draws belong to the image's name, which is its number here
        alone = captioner(name).caption(IMAGES, batch_size=5, attention=True, **search)
    for one, other in zip(together, alone, strict=True):
        assert (one.text, one.words, len(one.alternatives)) == (other.text, other.words, len(other.alternatives))
        assert one.score == pytest.approx(other.score, abs=1e-4)
        if one.attention is not None and other.attention is not None:
            np.testing.assert_allclose(one.attention, other.attention, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_each_word_looked_somewhere(name: str):
    layers, heads = (2, 3) if name == "transformer" else (1, 1)
    for caption in captioner(name).caption(IMAGES[:3], beam=2, attention=True):
        assert caption.words[-1] == "</s>"
        assert caption.side == 4
        if name in {"none", "first"}:
            assert caption.attention is None
            continue
        assert caption.attention is not None
        assert caption.attention.shape == (layers, heads, len(caption.words), 16)
        np.testing.assert_allclose(caption.attention.sum(-1), 1, atol=1e-5)
        if name == "hard":
            assert set(np.unique(caption.attention)) <= {0.0, 1.0}
        if name == "mean":
            np.testing.assert_allclose(caption.attention, 1 / 16, atol=1e-6)
        if name == "static":
            np.testing.assert_allclose(caption.attention, caption.attention[:, :, :1].repeat(len(caption.words), 2))
            assert caption.attention.std() > 0.01


@pytest.mark.parametrize("name", MODELS)
def test_steps_give_what_the_whole_caption_gives(name: str):
    net = captioner(name).net
    targets = [vocabulary().encode(scene.caption).ids[:8] for scene in SCENES[:3]]
    previous = pad([[START, *ids[:-1]] for ids in targets])
    with torch.no_grad():
        encoded = net.encode(scaled([scene.pixels for scene in SCENES[:3]]))
        whole = net.decoder.output(net.decoder(encoded, previous).features)
        state = net.decoder.start(encoded)
        for t, tokens in enumerate(previous.unbind(1)):
            step = net.decoder.step(tokens, state)
            state = step.state
            torch.testing.assert_close(step.logits, whole[:, t], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["soft", "transformer"])
def test_a_saved_captioner_says_the_same_elsewhere(name: str, tmp_path: Path):
    captioner(name).save(tmp_path / "here")
    shutil.move(tmp_path / "here", tmp_path / "there")
    loaded = saccade.load(tmp_path / "there")
    assert isinstance(loaded, Captioner)
    assert loaded.caption(IMAGES) == captioner(name).caption(IMAGES)
    with pytest.raises(InputError, match="saccade caption"):
        saccade.load(tmp_path / "there", Translator)
    assert saccade.load(tmp_path / "there", Captioner).settings == captioner(name).settings


def test_the_pretrained_encoder_travels_with_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    settings = CaptionerSettings(
        image_encoder=PretrainedEncoderSettings(kind="efficientnet-lite0", level="top"),
        model=MODELS["soft"],
        vocabulary=WORDS,
    )
    torch.manual_seed(0)
    made = Captioner.make(settings, vocabulary())
    before = made.caption(IMAGES[:2], beam=2)
    made.save(tmp_path)
    monkeypatch.setattr("saccade.tasks.captioning.pretrained._PACKAGE", "no_such_package")
    assert saccade.load(tmp_path, Captioner).caption(IMAGES[:2], beam=2) == before
    (tmp_path / "image_encoder.safetensors").write_bytes(b"nothing")
    with pytest.raises(InputError, match="damaged"):
        saccade.load(tmp_path)


def batch_of(count: int) -> CaptionBatch:
    targets = [vocabulary().encode(scene.caption).ids[-7:] for scene in SCENES[:count]]
    previous = pad([[START, *ids[:-1]] for ids in targets])
    images = scaled([scene.pixels for scene in SCENES[:count]])
    return CaptionBatch(images, previous, pad(targets), sum(map(len, targets)))


def test_the_doubly_stochastic_term_is_its_formula():
    net, batch = captioner("soft").net, batch_of(4)
    with torch.no_grad():
        plain, more = (
            caption_loss(net, batch, smoothing=0.0, doubly_stochastic=weight).item() for weight in (0.0, 2.0)
        )
        weights = net(batch, need_weights=True).weights
    wanted = 0.0
    for row in range(4):
        length = batch.target[row].tolist().index(END) + 1
        for region in range(16):
            wanted += (1 - sum(float(weights[row, 0, 0, word, region]) for word in range(length))) ** 2
    assert more - plain == pytest.approx(2 * wanted, rel=1e-4)


def test_the_gate_scales_what_was_seen():
    net = captioner("soft").net
    gated: Any = net.decoder.context
    with torch.no_grad():
        encoded = net.encode(scaled([SCENES[0].pixels]))
        memory = gated.remember(encoded, torch.zeros(1, 12))
        query = torch.randn(1, 1, 12)
        options = {"state": net.decoder.start(encoded).attention, "need_weights": False}
        inner = gated.inner.recall(query, memory, **options).context
        share = torch.sigmoid(query @ gated.gate.weight.T + gated.gate.bias)
        torch.testing.assert_close(gated.recall(query, memory, **options).context, share * inner)
    assert not torch.allclose(share, torch.ones(()))


def test_captions_by_a_context_that_stays():
    """z the mean of all regions, c = h_0 = tanh(MLP(z)), h_t = tanh(W [y, c] + U h_t-1 + b), P = softmax(O h_t)."""
    net = copy.deepcopy(captioner("first").net).double()
    p = {name: parameter.detach() for name, parameter in net.decoder.named_parameters()}
    words = [START, 7, 5, 9]
    with torch.no_grad():
        encoded = net.encode(scaled([SCENES[0].pixels]).double())
        found = net.decoder.output(net.decoder(encoded, torch.tensor([words])).features).softmax(-1)[0]
    z = encoded.states[0].mean(0)
    hidden = torch.tanh(p["bridges.0.0.weight"] @ z + p["bridges.0.0.bias"])
    c = h = torch.tanh(p["bridges.0.2.weight"] @ hidden + p["bridges.0.2.bias"])
    for word, probabilities in zip(words, found, strict=True):
        x = torch.cat([p["embedding.weight"][word], c])
        h = torch.tanh(
            p["rnn.weight_ih_l0"] @ x + p["rnn.bias_ih_l0"] + p["rnn.weight_hh_l0"] @ h + p["rnn.bias_hh_l0"]
        )
        wanted = (p["output.weight"] @ h + p["output.bias"]).softmax(0)
        torch.testing.assert_close(probabilities, wanted, rtol=0, atol=1e-12)


def test_an_image_has_no_last_region():
    with pytest.raises(ValidationError, match="score: found last, wanted first or mean"):
        CaptionRnnSettings(kind="rnn", score="last")


@pytest.mark.parametrize("name", MODELS)
def test_everything_learns(name: str):
    torch.manual_seed(0)
    made = Captioner.make(CaptionerSettings(image_encoder=SMALL, model=MODELS[name], vocabulary=WORDS), vocabulary())
    with torch.no_grad():
        made.net.get_parameter("image_encoder.attentions.1.gate").fill_(1.0)
    caption_loss(made.net, batch_of(12), smoothing=0.1, doubly_stochastic=0.1).backward()
    idle = [key for key, value in made.net.named_parameters() if value.grad is None or not value.grad.any()]
    # one key's bias moves all scores of a query alike
    assert [key for key in idle if "key_projection.bias" not in key] == []


@pytest.mark.parametrize(
    ("images", "says"),
    [("one.png", "a list"), (b"", "a list"), ([b"text"], "image 1"), ([IMAGES[0], "none.png"], "none.png")],
)
def test_bad_images_get_one_line(images: Any, says: str):
    with pytest.raises(InputError, match=says):
        captioner("soft").caption(images)


@pytest.mark.parametrize("options", [{"beam": 0}, {"batch_size": 0}, {"wings": 2}, {"nbest": 9}])
def test_bad_options_get_one_line(options: dict[str, Any]):
    with pytest.raises(InputError):
        captioner("soft").caption(IMAGES[:1], **options)


def test_progress_is_told():
    done: list[int] = []
    captioner("soft").caption(IMAGES, batch_size=5, beam=1, progress=done.append)
    assert done == [5, 5, 2]
