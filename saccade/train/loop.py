"""The one training loop: for any task, killed at any moment, going on bit for bit.

Everything random is a function of the seed and the step: torch's generator is set anew before each step, and the order
of the data follows from a cursor. So a checkpoint holds tensors and numbers, no state of any generator, and when and
how often one is written changes nothing.
"""

import hashlib
import math
import time
from itertools import islice
from pathlib import Path
from typing import TypeVar

import torch
from torch import nn

from saccade.bfloat16 import learning_in, slow_without_bfloat16
from saccade.errors import InputError
from saccade.files import remove_leftovers
from saccade.heap import keep_heap
from saccade.models.folder import fill, read_tensors, tensors_of, write_tensors
from saccade.train.checkpoint import Progress, load_checkpoint, save_checkpoint
from saccade.train.journal import Board, Journal
from saccade.train.progress import Reporter
from saccade.train.schedule import learning_rate
from saccade.train.settings import TrainSettings
from saccade.train.task import Task

BatchT = TypeVar("BatchT")

CHECKPOINT, BEST, SNAPSHOTS, JOURNAL, MODEL = (
    "checkpoint.safetensors",
    "best.safetensors",
    "snapshots",
    "metrics.jsonl",
    "model",
)


def train(task: Task[BatchT], settings: TrainSettings, run: Path, reporter: Reporter) -> dict[str, float]:
    """Train until the last step or until nothing gets better, from where the folder `run` is.

    Leaves the finished model in `run/model`, and gives its figures.
    """
    keep_heap()
    remove_leftovers(run)
    optimizer = make_optimizer(task.net, settings)
    progress = Progress()
    if settings.precision == "bfloat16" and slow_without_bfloat16():
        reporter.say("this processor has no instructions for bfloat16; train.precision=float32 is faster on it")
    if (run / CHECKPOINT).exists():
        progress = load_checkpoint(run / CHECKPOINT, task.net, optimizer)
        reporter.say(f"going on after step {progress.step}")
    journal = Journal(run / JOURNAL, step=progress.step)
    board = Board(run / "tensorboard", step=progress.step, wanted=settings.tensorboard)
    began = time.monotonic() - progress.seconds
    window_began = time.monotonic()
    window_first = progress.window_items
    stream = task.batches(progress.cursor)
    figures: dict[str, float] = {}
    while progress.step < settings.steps and not _given_up(progress, settings):
        step = progress.step + 1
        batches = list(islice(stream, settings.accumulate))
        loss, items = one_step(task, [batch for batch, _ in batches], optimizer, settings, step)
        progress = progress._replace(
            step=step,
            cursor=batches[-1][1],
            window_loss=progress.window_loss + loss,
            window_items=progress.window_items + items,
        )
        if step % settings.log_every == 0:
            now = time.monotonic()
            rate = (progress.window_items - window_first) / (now - window_began)
            figures = {"loss": progress.window_loss / progress.window_items, "rate": rate}
            figures["lr"] = learning_rate(settings, step)
            journal.write({"step": step, "epoch": progress.cursor.epoch, "seconds": round(now - began, 1), **figures})
            board.figures("train", figures, step)
            progress = progress._replace(window_loss=0.0, window_items=0)
            window_began, window_first = now, 0
        reporter.step(step, settings.steps, figures, unit=task.unit)
        validate = step % settings.validate_every == 0 or step == settings.steps
        if validate:
            paused = time.monotonic()
            valid = _validate(task)
            journal.write({"step": step, "seconds": round(time.monotonic() - began, 1), "valid": valid})
            board.figures("valid", valid, step)
            board.pictures(task.pictures(), step)
            progress = _keep(task.net, settings, progress, valid, run)
            mark = " (best so far)" if progress.best_step == step else ""
            reporter.say(f"step {step}: validation {describe(valid)}{mark}")
            window_began += time.monotonic() - paused  # the rate is that of training alone
        if validate or step % settings.save_every == 0:
            progress = progress._replace(seconds=time.monotonic() - began)
            save_checkpoint(run / CHECKPOINT, task.net, optimizer, progress)
    figures = _finish(task, settings, progress, run)
    journal.write({"step": progress.step, "seconds": round(time.monotonic() - began, 1), "model": figures})
    board.close()
    return figures


def describe(figures: dict[str, float]) -> str:
    """Figures on one line."""
    return ", ".join(f"{name} {value:.4g}" for name, value in figures.items())


def make_optimizer(net: nn.Module, settings: TrainSettings) -> torch.optim.Optimizer:
    if settings.optimizer == "sgd":
        return torch.optim.SGD(net.parameters(), lr=settings.lr, weight_decay=settings.weight_decay, fused=True)
    kind = torch.optim.AdamW if settings.optimizer == "adamw" else torch.optim.Adam
    first, second = settings.betas
    return kind(
        net.parameters(),
        lr=settings.lr,
        betas=(first, second),
        weight_decay=settings.weight_decay,
        eps=1e-9,
        fused=True,
    )


def one_step(
    task: Task[BatchT], batches: list[BatchT], optimizer: torch.optim.Optimizer, settings: TrainSettings, step: int
) -> tuple[float, int]:
    """One change of the weights by the mean loss of all items of the batches; gives its sum, and the items."""
    torch.manual_seed(_seed_of(settings.seed, step))
    task.net.train()
    optimizer.zero_grad()
    total, items = 0.0, 0
    for batch in batches:
        with learning_in(settings.precision):
            loss, count = task.loss(batch)
        loss.backward()
        total, items = total + float(loss.detach()), items + count
    if not math.isfinite(total):
        raise InputError(
            f"step {step}: the loss is {total}; begin again with a lower train.lr"
            f" (it was {learning_rate(settings, step):.2g} at this step)"
        )
    for parameter in task.net.parameters():
        if parameter.grad is not None:
            parameter.grad.mul_(1 / items)
    if settings.clip is not None:
        nn.utils.clip_grad_norm_(task.net.parameters(), settings.clip)
    for group in optimizer.param_groups:
        group["lr"] = learning_rate(settings, step)
    optimizer.step()
    return total, items


def _seed_of(seed: int, step: int) -> int:
    """A number for torch's generator that no other step and no other seed shares, but by chance."""
    return int.from_bytes(hashlib.blake2b(f"{seed} {step}".encode(), digest_size=7).digest(), "big")


def _validate(task: Task[BatchT]) -> dict[str, float]:
    task.net.eval()
    with torch.no_grad():
        return task.validate()


def _keep(net: nn.Module, settings: TrainSettings, progress: Progress, valid: dict[str, float], run: Path) -> Progress:
    """Write the weights where they may be wanted at the end: the best so far, and the last few."""
    value = -valid["loss"] if settings.watch == "loss" else valid[settings.watch]
    if settings.keep == "average":
        write_tensors(run / SNAPSHOTS / f"{progress.step:09d}.safetensors", tensors_of(net))
        for old in sorted((run / SNAPSHOTS).glob("*.safetensors"))[: -settings.average]:
            old.unlink()
    better = progress.best is None or value > progress.best
    surer = value == progress.best and valid["loss"] < progress.best_loss  # of two that get everything right
    if better or surer:
        write_tensors(run / BEST, tensors_of(net))
        progress = progress._replace(best=value, best_loss=valid["loss"], best_step=progress.step)
    return progress._replace(since_best=0 if better else progress.since_best + 1)


def _given_up(progress: Progress, settings: TrainSettings) -> bool:
    return settings.patience is not None and progress.since_best >= settings.patience


def _finish(task: Task[BatchT], settings: TrainSettings, progress: Progress, run: Path) -> dict[str, float]:
    """Put the wanted weights into the net, write the model, and see how good it is.

    A training that was cut short before its first validation has no others than the last.
    """
    if settings.keep == "best" and progress.best is not None:
        fill(task.net, read_tensors(run / BEST), where=str(run / BEST))
    elif settings.keep == "average":
        paths = [path for path in sorted((run / SNAPSHOTS).glob("*.safetensors")) if int(path.stem) <= progress.step]
        if paths:
            averaged = average([read_tensors(path) for path in paths[-settings.average :]])
            fill(task.net, averaged, where=str(run / SNAPSHOTS))
    task.save_model(run / MODEL)
    return _validate(task)


def average(all_tensors: list[dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """The mean of each tensor over several sets of them."""
    return {
        name: torch.stack([tensors[name].double() for tensors in all_tensors]).mean(0).to(first.dtype)
        for name, first in all_tensors[0].items()
    }
