"""The pieces of training, each by itself."""

import math
from pathlib import Path

import pytest
import torch
from torch import nn

from saccade.base.errors import InputError
from saccade.tasks.run import start_training
from saccade.tasks.translation.data import Splits
from saccade.tasks.translation.training import TranslationTask
from saccade.text import make_batch
from saccade.training import (
    Journal,
    Lines,
    Progress,
    Silent,
    TrainSettings,
    average,
    learning_rate,
    load_checkpoint,
    make_optimizer,
    read_journal,
    save_checkpoint,
    train,
)
from saccade.training.loop import one_step
from tests.tasks.makers import learn, reverse_pairs, small_recipe

RNN = {"kind": "rnn", "embedding": 8, "dim": 16}


def test_schedules_by_hand() -> None:
    settings = TrainSettings(steps=1000, warmup_steps=100, lr=0.5, schedule="inverse-sqrt")
    assert learning_rate(settings, 1) == pytest.approx(0.005)
    assert learning_rate(settings, 100) == 0.5
    assert learning_rate(settings, 400) == pytest.approx(0.25)
    settings = settings.model_copy(update={"schedule": "cosine"})
    assert learning_rate(settings, 550) == pytest.approx(0.25)
    assert learning_rate(settings, 1000) == pytest.approx(0, abs=1e-12)
    assert learning_rate(settings.model_copy(update={"schedule": "constant"}), 1000) == 0.5
    assert learning_rate(TrainSettings(warmup_steps=0, schedule="inverse-sqrt", lr=1.0), 4) == pytest.approx(0.5)


def test_accumulating_equals_one_large_batch(tmp_path: Path) -> None:
    """The mean is over all tokens of all batches, however they are cut."""
    pairs = reverse_pairs(700)
    changed: list[dict[str, torch.Tensor]] = []
    for name in ("whole", "parts"):
        recipe = small_recipe({**RNN, "dropout": 0.0})
        task = TranslationTask(recipe, Splits(pairs[:60], pairs[60:]), tmp_path / name, Silent())
        optimizer = make_optimizer(task.net, recipe.train)
        cuts = [(0, 60)] if name == "whole" else [(0, 7), (7, 35), (35, 60)]
        batches = [make_batch(task.examples[first:last]) for first, last in cuts]
        one_step(task, batches, optimizer, recipe.train, 30)
        changed.append({key: value.detach().clone() for key, value in task.net.named_parameters()})
        gradients = [parameter.grad for parameter in task.net.parameters() if parameter.grad is not None]
        norm = torch.stack([gradient.norm() for gradient in gradients]).norm()
        assert norm <= 1.0 + 1e-4
    for key, value in changed[0].items():
        torch.testing.assert_close(changed[1][key], value, atol=1e-4, rtol=1e-3)


def test_a_checkpoint_brings_everything_back(tmp_path: Path) -> None:
    torch.manual_seed(0)
    net = nn.Linear(3, 2)
    optimizer = make_optimizer(net, TrainSettings())
    for _ in range(3):
        net(torch.randn(4, 3)).square().sum().backward()
        optimizer.step()
    progress = Progress(step=3, best=0.1 + 0.2, window_loss=1 / 3, seconds=1.5)
    save_checkpoint(tmp_path / "c", net, optimizer, progress)
    other = nn.Linear(3, 2)
    other_optimizer = make_optimizer(other, TrainSettings())
    assert load_checkpoint(tmp_path / "c", other, other_optimizer) == progress
    inputs = torch.randn(4, 3)
    for one, its_optimizer in ((net, optimizer), (other, other_optimizer)):
        its_optimizer.zero_grad()
        one(inputs).square().sum().backward()
        its_optimizer.step()
    assert torch.equal(net.weight, other.weight)


def test_products_are_coarser_where_a_recipe_says_so(tmp_path: Path) -> None:
    """And hardly: after one step with the same draws, all but a few in a hundred of the changes are the same."""
    pairs, changes = reverse_pairs(700), list[torch.Tensor]()
    for precision in ("float32", "bfloat16"):
        recipe = small_recipe({"kind": "transformer", "layers": 1, "dim": 16, "heads": 2}, precision=precision)
        task = TranslationTask(recipe, Splits(pairs[:60], pairs[60:]), tmp_path / precision, Silent())
        before = torch.cat([parameter.detach().flatten().clone() for parameter in task.net.parameters()])
        one_step(task, [make_batch(task.examples)], make_optimizer(task.net, recipe.train), recipe.train, 30)
        changes.append(torch.cat([parameter.detach().flatten() for parameter in task.net.parameters()]) - before)
    exact, coarse = changes
    assert not torch.equal(exact, coarse)
    assert (coarse - exact).norm() < 0.2 * exact.norm()  # Adam's first step is the sign of each gradient


@pytest.mark.parametrize("slow", [True, False])
def test_a_processor_without_bfloat16_is_told_of(
    slow: bool,  # noqa: FBT001
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("saccade.training.loop.slow_without_bfloat16", lambda: slow)
    pairs, recipe = reverse_pairs(700), small_recipe(RNN, steps=1, precision="bfloat16")
    train(
        TranslationTask(recipe, Splits(pairs[:60], pairs[60:90]), tmp_path, Silent()), recipe.train, tmp_path, Lines()
    )
    captured = capsys.readouterr()
    assert ("train.precision=float32 is faster" in captured.out + captured.err) == slow


def test_averaging() -> None:
    first, second = {"w": torch.tensor([1.0, 2.0])}, {"w": torch.tensor([3.0, 6.0])}
    assert average([first, second])["w"].tolist() == [2.0, 4.0]


def test_a_journal_forgets_what_will_be_written_again(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1}\n{"step": 1, "valid": {}}\n{"step": 2}\n{"step": 2, "valid": {}}\n{"step": 3}\n{"ste')
    assert [record["step"] for record in read_journal(path)] == [1, 1, 2, 2, 3]
    Journal(path, step=2, validated=1).write({"step": 3, "new": True})
    wanted = [{"step": 1}, {"step": 1, "valid": {}}, {"step": 2}, {"step": 3, "new": True}]
    assert read_journal(path) == wanted  # the validation of step 2 was not part of the checkpoint, and comes again


def test_training_stops_when_nothing_gets_better(tmp_path: Path) -> None:
    """With a rate of next to nothing, the second validation is no better than the first."""
    recipe = small_recipe(
        RNN, steps=1000, validate_every=2, patience=2, lr=1e-12, monitor="exact_match", select_checkpoint="best"
    )
    learn(recipe, reverse_pairs(700), tmp_path)
    validated = [record["step"] for record in read_journal(tmp_path / "metrics.jsonl") if "valid" in record]
    assert validated == [2, 4, 6]


def test_the_best_weights_are_kept(tmp_path: Path) -> None:
    """A rate that grows beyond all measure ruins what was learnt; the model is from before that."""
    recipe = small_recipe(
        RNN,
        steps=60,
        validate_every=10,
        lr=10.0,
        warmup_steps=300,
        monitor="loss",
        select_checkpoint="best",
        clip_norm=None,
    )
    figures = learn(recipe, reverse_pairs(700), tmp_path)
    losses = [record["valid"]["loss"] for record in read_journal(tmp_path / "metrics.jsonl") if "valid" in record]
    assert figures["loss"] == pytest.approx(min(losses), rel=1e-5)
    assert min(losses) < losses[-1]


def test_of_equally_good_weights_the_surest_are_kept(tmp_path: Path) -> None:
    """After so few steps no sentence is right: the watched figure never moves, while the loss falls."""
    recipe = small_recipe(RNN, steps=12, validate_every=3, monitor="exact_match", select_checkpoint="best")
    figures = learn(recipe, reverse_pairs(700), tmp_path)
    valid = [record["valid"] for record in read_journal(tmp_path / "metrics.jsonl") if "valid" in record]
    assert {one["exact_match"] for one in valid} == {0.0}
    assert figures["loss"] == pytest.approx(min(one["loss"] for one in valid), rel=1e-5)
    assert figures["loss"] < 0.999 * valid[0]["loss"]


def test_a_loss_that_is_no_number(tmp_path: Path) -> None:
    recipe = small_recipe(RNN, steps=50, lr=10.0, warmup_steps=0, schedule="constant", clip_norm=None)
    pairs = reverse_pairs(700)
    task = TranslationTask(recipe, Splits(pairs[:200], pairs[200:]), tmp_path, Silent())
    with torch.no_grad():
        next(task.net.parameters()).fill_(math.inf)
    with pytest.raises(InputError, match=r"step 1: the loss is (nan|inf); begin again with a lower train.lr"):
        train(task, recipe.train, tmp_path, Silent())


def test_lines_say_how_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines()
    for step in range(1, 5):
        lines.step(step, 8, {"loss": 1.5, "rate": 1234.0} if step % 2 == 0 else {}, unit="words")
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert said[0].startswith("step 2 of 8  loss 1.500  1,234 words/s  ")
    assert said[0].endswith(" s left")


def test_tensorboard_gets_figures_and_attention(tmp_path: Path) -> None:
    event_accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    recipe = small_recipe(RNN, steps=4, validate_every=2, log_every=2, tensorboard=True)
    start_training(
        recipe.model_copy(update={"data": recipe.data.model_copy(update={"pairs": 100})}), tmp_path, Silent()
    )
    events = event_accumulator.EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    assert {"train/loss", "train/rate", "valid/bleu"} <= set(events.Tags()["scalars"])
    assert [event.step for event in events.Scalars("valid/loss")] == [2, 4]
    assert set(events.Tags()["images"]) == {"attention/1", "attention/2", "attention/3"}


@pytest.mark.parametrize(("optimizer", "spared"), [("adamw", ["1.bias"]), ("adam", [])])
def test_vectors_do_not_decay_by_adamw(optimizer: str, spared: list[str]) -> None:
    net = nn.Sequential(nn.ReLU(), nn.Linear(3, 2))
    settings = TrainSettings.model_validate({"optimizer": optimizer, "weight_decay": 0.1})
    names = {parameter: name for name, parameter in net.named_parameters()}
    decay = {
        names[one]: group["weight_decay"]
        for group in make_optimizer(net, settings).param_groups
        for one in group["params"]
    }
    assert decay == {name: 0.0 if name in spared else 0.1 for name in ("1.weight", "1.bias")}
