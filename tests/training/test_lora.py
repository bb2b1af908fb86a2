"""Low-rank adaptation: it begins with the start, leaves it as it is, and is merged into an ordinary model."""

from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from torch import Tensor

import saccade
from saccade.base.errors import InputError
from saccade.base.model_folder import tensors_of
from saccade.tasks.language_modeling.data import LanguageSplits, Texts
from saccade.tasks.language_modeling.model import LanguageModel
from saccade.training import Silent, Transfer, train
from saccade.training.lora import Lora
from saccade.training.settings import LoraSettings
from tests.training.test_freezing import Kill, Killed
from tests.training.tiny import TinyNet, TinyTask, settings

LORA = LoraSettings(rank=2, alpha=6.0, targets=["second", "first"])
GPT: dict[str, Any] = {
    "model.layers": 2,
    "model.dim": 8,
    "model.heads": 2,
    "model.feed_forward": 12,
    "model.max_length": 16,
    "train.steps": 6,
    "train.validate_every": 2,
    "train.save_every": 2,
    "train.warmup_steps": 0,
    "train.threads": 1,
    "train.tensorboard": False,
}
LINES = ["the old song was long", "a long day and a song", "the day was old"]
TEXTS = LanguageSplits(Texts(["\n".join(LINES * 8)]), Texts(["\n".join(LINES)]))


def learnt(net: TinyNet, *, seed: int = 1) -> dict[str, Tensor]:
    """Numbers for what LoRA adds, as if it had learnt something; gives them."""
    generator = torch.Generator().manual_seed(seed)
    added = {name: one for name, one in net.named_parameters() if name.endswith((".A", ".B"))}
    for parameter in added.values():
        parameter.data.copy_(torch.randn(parameter.shape, generator=generator))
    return {name: one.detach().clone() for name, one in added.items()}


def test_it_begins_with_the_net_as_it_was() -> None:
    net, x = TinyNet().eval(), torch.randn(11, 5)
    before = net(x)
    Lora(net, LORA, seed=1)
    torch.testing.assert_close(net(x), before, rtol=0, atol=0)


def test_merged_is_the_formula_and_gives_the_same() -> None:
    net, x = TinyNet().eval(), torch.randn(11, 5)
    names = list(tensors_of(net))
    weight = net.second.weight.detach().clone()
    lora = Lora(net, LORA, seed=1)
    added = learnt(net)
    unmerged, inside = net(x), "second.parametrizations.weight.0"
    with lora.merged():
        assert sorted(tensors_of(net)) == sorted(names)
        assert type(net.second) is torch.nn.Linear
        wanted = weight + 6 / 2 * added[f"{inside}.B"] @ added[f"{inside}.A"]
        torch.testing.assert_close(net.second.weight, wanted)
        torch.testing.assert_close(net(x), unmerged)
    torch.testing.assert_close(net(x), unmerged, rtol=0, atol=0)
    assert torch.equal(net.get_parameter("second.parametrizations.weight.original"), weight)


def test_only_what_is_added_and_what_is_new_learns(tmp_path: Path) -> None:
    task = TinyTask()
    before = {name: tensor.clone() for name, tensor in tensors_of(task.net).items()}
    how = settings(start_from="x", lora=LORA, optimizer="adamw", weight_decay=0.1)
    train(task, how, tmp_path, Silent(), transferred=Transfer(taken=["first"], new=["second.bias"]))
    first, last = task.seen[0], task.seen[-1]
    changed = {name for name in first if not torch.equal(first[name], last[name])}
    assert changed == {
        *(f"{part}.parametrizations.weight.0.{matrix}" for part in ("first.0", "second") for matrix in "AB"),
        "second.bias",
    }
    model = safetensors.torch.load_file(tmp_path / "model/model.safetensors")
    assert model.keys() == before.keys()
    for name, tensor in before.items():
        learns = name in {"first.0.weight", "second.weight", "second.bias"}
        assert torch.equal(model[name], tensor) != learns, name
    checkpoint = safetensors.torch.load_file(tmp_path / "checkpoint.safetensors")
    assert checkpoint["net.second.parametrizations.weight.0.A"].shape == (2, 7)
    assert torch.equal(checkpoint["net.second.parametrizations.weight.original"], before["second.weight"])


@pytest.mark.parametrize("select", ["best", "average", "last"])
def test_a_killed_training_goes_on_bit_for_bit(select: str, tmp_path: Path) -> None:
    how = settings(start_from="x", lora=LORA, select_checkpoint=select)
    with pytest.raises(Killed):
        train(TinyTask(), how, tmp_path / "killed", Silent(), callbacks=[Kill()])
    assert (tmp_path / "killed/model/model.safetensors").exists()  # the best so far
    figures = [train(TinyTask(), how, tmp_path / name, Silent()) for name in ("killed", "whole")]
    assert figures[0] == figures[1]
    model = Path("model/model.safetensors")
    assert (tmp_path / "killed" / model).read_bytes() == (tmp_path / "whole" / model).read_bytes()


def test_the_metrics_of_a_training_are_those_of_its_model(tmp_path: Path) -> None:
    figures = train(TinyTask(), settings(start_from="x", lora=LORA), tmp_path, Silent())
    task = TinyTask()
    task.net.load_state_dict(safetensors.torch.load_file(tmp_path / "model/model.safetensors"), strict=False)
    task.net.eval()
    with torch.no_grad():
        assert task.validate()["loss"] == pytest.approx(figures["loss"], rel=1e-6)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("third", "no linear map is called third; there is first.*, second"),
        ("output", "no linear map is called output"),  # for its matrix is another's as well
        ("first.1", "no linear map is called first.1"),  # which is a norm
    ],
)
def test_targets_that_cannot_be_meant(target: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        Lora(TinyNet(), LoraSettings(targets=["second", target]), seed=1)
    assert f"train.lora.targets: {message}" in str(error.value)


def test_a_language_model_of_a_run_with_lora_is_an_ordinary_one(tmp_path: Path) -> None:
    def run(name: str, **settings: Any) -> LanguageModel:
        how = GPT | settings
        return saccade.train("gpt", LanguageModel, run=tmp_path / name, data=TEXTS, settings=how, reporter=Silent())

    start = run("start")
    tuned = run("tuned", **{"train.start_from": tmp_path / "start", "train.lora": {"rank": 2}, "train.lr": 0.02})
    one, other = start.net.state_dict(), tuned.net.state_dict()
    assert one.keys() == other.keys()
    changed = {name for name in one if not torch.equal(one[name], other[name])}
    assert changed == {
        f"layers.{layer}.attention.{part}_projection.weight" for layer in (0, 1) for part in ("query", "value")
    }
    again = run("again", **{"train.start_from": tmp_path / "tuned", "train.steps": 1})  # it can be started from
    assert again.net.state_dict().keys() == one.keys()
    with pytest.raises(InputError, match=r"was begun with other settings: train\.lora\.rank: 2 -> 3"):
        run("tuned", **{"train.start_from": tmp_path / "start", "train.lora": {"rank": 3}, "train.lr": 0.02})
