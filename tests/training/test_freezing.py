"""What is frozen stays as it is, up to a step or for good, and what is new has a learning rate of its own."""

from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from saccade.base.errors import InputError
from saccade.training import Callback, Silent, Transfer, make_optimizer, train
from saccade.training.freezing import Freezing
from tests.training.tiny import STEPS, TinyNet, TinyTask, settings


class Killed(Exception):  # noqa: N818 - nothing went wrong
    """The end of a training that nobody asked for."""


class Kill(Callback):
    """Ends a training between two checkpoints."""

    def on_step_end(self, step: int, loss: float, model: Any) -> None:
        if step == 5:
            raise Killed


def steps_in_which(task: TinyTask, name: str) -> list[int]:
    """The steps that changed a tensor; what the last one did is not seen."""
    pairs = zip(task.seen, task.seen[1:], strict=False)
    return [step for step, (one, other) in enumerate(pairs, start=1) if not torch.equal(one[name], other[name])]


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd"])
def test_frozen_parameters_stay_as_they_are(optimizer: str, tmp_path: Path) -> None:
    """Weight decay does not touch them either, nor do the batches their statistics."""
    task = TinyTask()
    how = settings(freeze=["first", "*.bias"], optimizer=optimizer, weight_decay=0.1)
    train(task, how, tmp_path, Silent())
    for name in ("first.0.weight", "first.0.bias", "first.1.weight", "first.1.running_mean", "second.bias"):
        assert steps_in_which(task, name) == [], name
    assert steps_in_which(task, "second.weight") == list(range(1, STEPS))


def test_they_learn_after_a_step(tmp_path: Path) -> None:
    task = TinyTask()
    train(task, settings(freeze=["first.*"], unfreeze_at=4), tmp_path, Silent())
    for name in ("first.0.weight", "first.1.weight", "first.1.running_mean"):
        assert steps_in_which(task, name) == list(range(5, STEPS)), name
    assert steps_in_which(task, "second.bias") == list(range(1, STEPS))


@pytest.mark.parametrize("until", [3, 4, 6])
def test_going_on_before_and_after_that_step(until: int, tmp_path: Path) -> None:
    how = settings(freeze=["first"], unfreeze_at=until)
    with pytest.raises(Killed):
        train(TinyTask(), how, tmp_path / "killed", Silent(), callbacks=[Kill()])
    for name in ("killed", "whole"):
        train(TinyTask(), how, tmp_path / name, Silent())
    for name in ("model/model.safetensors", "checkpoint.safetensors"):
        one, other = (safetensors.torch.load_file(tmp_path / run / name) for run in ("killed", "whole"))
        assert one.keys() == other.keys()
        assert all(torch.equal(one[key], other[key]) for key in one)


def test_dropout_works_in_frozen_parts() -> None:
    net = TinyNet().train()
    freezing = Freezing(net, settings(freeze=["first", "second"]))
    freezing.begin(1)
    assert net.dropout.training
    assert not net.first[1].training
    assert net.output.weight.requires_grad


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        (["frist"], "train.freeze: nothing is called frist; there is first.*.weight, first.*.bias, second.weight"),
        (["first", "*.waits"], "nothing is called *.waits"),
        (["*"], "train.freeze: nothing would be left to learn"),
    ],
)
def test_patterns_that_cannot_be_meant(patterns: list[str], message: str) -> None:
    with pytest.raises(InputError) as error:
        Freezing(TinyNet(), settings(freeze=patterns))
    assert message in str(error.value)


def test_a_shared_parameter_goes_by_any_of_its_names() -> None:
    net = TinyNet()
    Freezing(net, settings(freeze=["tied"])).begin(1)
    assert not net.output.weight.requires_grad


def test_what_needs_no_gradient_is_not_unfrozen() -> None:
    net = TinyNet()
    net.second.bias.requires_grad = False
    freezing = Freezing(net, settings(freeze=["second"], unfreeze_at=1))
    freezing.begin(2)
    assert net.second.weight.requires_grad
    assert not net.second.bias.requires_grad


def test_what_is_new_has_a_learning_rate_of_its_own(tmp_path: Path) -> None:
    """Adam's first step is as long as its learning rate, whatever the gradient."""
    task = TinyTask()
    how = settings(lr=1e-3, start_from="x", new_lr=0.02, steps=2, betas=[0.0, 0.0], schedule="constant")
    train(task, how, tmp_path, Silent(), transferred=Transfer(taken=["first"], new=["second.weight"]))
    before, after = task.seen
    for name, lr in {"first.0.weight": 1e-3, "second.weight": 0.02, "output.weight": 1e-3}.items():
        change = (after[name] - before[name]).abs()
        torch.testing.assert_close(change, torch.full_like(change, lr), rtol=1e-3, atol=1e-7, msg=name)


def test_without_one_there_is_one_group() -> None:
    (group,) = make_optimizer(TinyNet(), settings(start_from="x"), new=["second.weight"]).param_groups
    assert len(group["params"]) == len(list(TinyNet().parameters()))
