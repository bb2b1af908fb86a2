"""The one training loop: for any task, killed at any moment, going on bit for bit.

Everything random is a function of the seed and the step: torch's generator is set anew before each step, and the order
of the data follows from a cursor. So a checkpoint holds tensors and numbers, no state of any generator, and when and
how often one is written changes nothing.
"""

import hashlib
import math
import re
import signal
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar

import torch
from torch import nn

from saccade.base.errors import InputError, Stopped
from saccade.base.files import make_folder, remove_leftovers
from saccade.base.model_folder import MODEL, fill, read_into, tensors_of
from saccade.base.tensors import read_tensors, write_tensors
from saccade.runtime.allocator import keep_heap
from saccade.runtime.bfloat16 import slow_without_bfloat16, training_precision
from saccade.runtime.onednn import batches_of_one_shape
from saccade.training.callback import Callback, any_ends
from saccade.training.checkpoint import REMEDY, Progress, load_checkpoint, save_checkpoint
from saccade.training.freezing import Freezing
from saccade.training.journal import Journal, TensorBoard
from saccade.training.lora import Lora
from saccade.training.reporter import Reporter
from saccade.training.schedule import learning_rate
from saccade.training.settings import TrainSettings
from saccade.training.stopping import Stopping
from saccade.training.task import Task
from saccade.training.transfer import Transfer

BatchT = TypeVar("BatchT")

CHECKPOINT, BEST, SNAPSHOTS, JOURNAL, BOARD = (
    "checkpoint.safetensors",
    "best.safetensors",
    "snapshots",
    "metrics.jsonl",
    "tensorboard",
)


def train(
    task: Task[BatchT, Any],
    settings: TrainSettings,
    run: Path,
    reporter: Reporter,
    stopping: Stopping | None = None,
    callbacks: Sequence[Callback] = (),
    transferred: Transfer | None = None,
) -> dict[str, float]:
    """Train until the last step or until nothing gets better, from where the folder `run` is.

    Leaves the finished model in `run/model`, and gives its metrics. On the way the best so far is there. When it is
    asked to stop, it saves where it is, leaves a model, and raises `Stopped`.

    transferred  what became of the net's tensors, where it was started from another
    """
    keep_heap()
    make_folder(run)
    for folder in (run, run / MODEL, run / SNAPSHOTS):
        remove_leftovers(folder)
    transferred = transferred or Transfer()
    partial: Freezing | Lora | None = None  # what learns, if not all of the net does
    if settings.freeze:
        partial = Freezing(task.net, settings)
    elif settings.lora is not None:
        partial = Lora(task.net, settings.lora, seed=settings.seed, trained={*transferred.new, *transferred.grown})
    if partial is not None:
        reporter.say(partial.describe(task.net))
    optimizer = make_optimizer(task.net, settings, new=transferred.new)
    progress = Progress()
    if settings.precision == "bfloat16" and slow_without_bfloat16():
        reporter.say("this processor has no instructions for bfloat16; train.precision=float32 is faster on it")
    if (run / CHECKPOINT).exists():
        progress = load_checkpoint(run / CHECKPOINT, task.net, optimizer)
        reporter.say(f"going on after step {progress.step}")
    stopping = Stopping() if stopping is None else stopping
    with stopping.noted():
        try:
            training = _Training(task, settings, run, reporter, stopping, optimizer, callbacks, partial)
            return training.go_on(progress)
        except KeyboardInterrupt:
            if stopping.asked is None:
                raise
            raise Stopped(f"stopped at once; what was saved before is in {run}", stopping.asked) from None


class _Training(Generic[BatchT]):
    """A training that is under way."""

    def __init__(
        self,
        task: Task[BatchT, Any],
        settings: TrainSettings,
        run: Path,
        reporter: Reporter,
        stopping: Stopping,
        optimizer: torch.optim.Optimizer,
        callbacks: Sequence[Callback],
        partial: Freezing | Lora | None,
    ) -> None:
        self.callbacks, self.ended = callbacks, False
        self.begin = None if partial is None else partial.begin
        self.merged = partial.merged if isinstance(partial, Lora) else nullcontext  # the net as others know it
        self.task, self.settings, self.run = task, settings, run
        self.reporter, self.stopping, self.optimizer = reporter, stopping, optimizer

    def go_on(self, progress: Progress) -> dict[str, float]:
        """Step after step, each followed by what is due after it."""
        task, settings = self.task, self.settings
        self.journal = Journal(self.run / JOURNAL, step=progress.step, validated=progress.validated)
        self.board = TensorBoard(
            self.run / BOARD, step=progress.step, wanted=settings.tensorboard, say=self.reporter.say
        )
        self.began = time.monotonic() - progress.seconds
        self.saved = window_began = time.monotonic()
        window_first = progress.window_items
        stream = task.batches(progress.cursor)
        metrics: dict[str, float] = {}
        while True:
            if self._validation_is_due(progress):
                paused = time.monotonic()
                with self.merged():
                    progress = self._validated(progress)
                window_began += time.monotonic() - paused  # the rate is that of training alone
                progress = self._save(progress)
            elif progress.step and self._save_is_due(progress):
                progress = self._save(progress)
            if self.stopping.asked is not None:
                self._stop(progress)
            if progress.step >= settings.steps or self.ended or _given_up(progress, settings):
                self._say_why_early(progress)
                break
            step = progress.step + 1
            batches = list(islice(stream, settings.accumulate))
            loss, items = one_step(task, [batch for batch, _ in batches], self.optimizer, settings, step, self.begin)
            progress = progress._replace(
                step=step,
                cursor=batches[-1][1],
                window_loss=progress.window_loss + loss,
                window_items=progress.window_items + items,
            )
            if step % settings.log_every == 0:
                now = time.monotonic()
                rate = (progress.window_items - window_first) / (now - window_began)
                metrics = {"loss": progress.window_loss / progress.window_items, "rate": rate}
                metrics["lr"] = learning_rate(settings, step)
                self._write({"step": step, "epoch": progress.cursor.epoch, "seconds": now - self.began, **metrics})
                self.board.scalars("train", metrics, step)
                progress = progress._replace(window_loss=0.0, window_items=0)
                window_began, window_first = now, 0
            self.reporter.step(step, settings.steps, metrics, unit=task.unit)
            for callback in self.callbacks:
                callback.on_step_end(step, loss / max(items, 1), task.model)
        return self._finished(progress)

    def _say_why_early(self, progress: Progress) -> None:
        settings = self.settings
        if progress.step < settings.steps and not self.ended:
            self.reporter.say(
                f"{settings.monitor} was not better in {progress.since_best} validations: training ends after step"
                f" {progress.step} of {settings.steps} (train.patience)"
            )

    def _write(self, record: dict[str, Any]) -> None:
        self.journal.write(record | {"seconds": round(record["seconds"], 1)})

    def _validation_is_due(self, progress: Progress) -> bool:
        step, settings = progress.step, self.settings
        return step > progress.validated and (step % settings.validate_every == 0 or step == settings.steps)

    def _validated(self, progress: Progress) -> Progress:
        """Look how good the net is. A validation that is broken off is made when the training goes on."""
        step = progress.step
        try:
            with self.stopping.at_once():
                valid = _validate(self.task)
                maps = self.task.attention_maps()
        except KeyboardInterrupt:
            if self.stopping.asked is None:
                raise
            return progress  # to be stopped
        self._write({"step": step, "seconds": time.monotonic() - self.began, "valid": valid})
        self.board.scalars("valid", valid, step)
        self.board.attention_maps(maps, step)
        progress = _keep(self.task, self.settings, progress, valid, self.run)
        self.ended = any_ends(self.callbacks, step, valid, self.task.model)
        mark = " (best so far)" if progress.best_step == step else ""
        self.reporter.say(f"step {step}: validation {describe(valid)}{mark}")
        return progress._replace(validated=step)

    def _save_is_due(self, progress: Progress) -> bool:
        minutes = self.settings.save_minutes
        late = minutes is not None and time.monotonic() > self.saved + 60 * minutes
        return late or progress.step % self.settings.save_every == 0

    def _save(self, progress: Progress) -> Progress:
        progress = progress._replace(seconds=time.monotonic() - self.began)
        save_checkpoint(self.run / CHECKPOINT, self.task.net, self.optimizer, progress)
        self.saved = time.monotonic()
        return progress

    def _stop(self, progress: Progress) -> NoReturn:
        """Save where the training is, and leave a model: the best so far, or before any validation the last."""
        assert self.stopping.asked is not None
        self._save(progress)
        if progress.best is None:
            with self.merged():
                self.task.model.save(self.run / MODEL)
        self.board.close()
        name = signal.Signals(self.stopping.asked).name
        raise Stopped(
            f"stopped by {name} after step {progress.step}, and saved; {self.run / MODEL} is the model so far",
            self.stopping.asked,
        )

    def _finished(self, progress: Progress) -> dict[str, float]:
        with self.stopping.at_once(), self.merged():
            metrics = _finish(self.task, self.settings, progress, self.run)
        self._write({"step": progress.step, "seconds": time.monotonic() - self.began, "model": metrics})
        self.board.close()
        return metrics


def describe(metrics: dict[str, float]) -> str:
    """Figures on one line."""
    return ", ".join(f"{name} {value:.4g}" for name, value in metrics.items())


def make_optimizer(net: nn.Module, settings: TrainSettings, *, new: Collection[str] = ()) -> torch.optim.Optimizer:
    """The optimizer of all parameters; those called `new` have a learning rate of their own, if there is one."""
    groups = _groups(net, settings, frozenset(new))
    if settings.optimizer == "sgd":
        return torch.optim.SGD(groups, lr=settings.lr, weight_decay=settings.weight_decay, fused=True)
    kind = torch.optim.AdamW if settings.optimizer == "adamw" else torch.optim.Adam
    first, second = settings.betas
    return kind(
        groups,
        lr=settings.lr,
        betas=(first, second),
        weight_decay=settings.weight_decay,
        eps=1e-9,
        fused=True,
    )


def _groups(net: nn.Module, settings: TrainSettings, new: frozenset[str]) -> list[dict[str, Any]]:
    """The parameters in groups, each with the `share` of the learning rate that it has, and the weight decay.

    AdamW decays matrices alone: biases and the gains of norms have no reason to be small (GPT, Radford 2018).
    """
    spares_vectors = settings.optimizer == "adamw" and settings.weight_decay > 0
    found: dict[tuple[float, float], list[nn.Parameter]] = {}
    for name, parameter in net.named_parameters():
        share = settings.new_lr / settings.lr if settings.new_lr is not None and name in new else 1.0
        decay = 0.0 if spares_vectors and parameter.dim() < 2 else settings.weight_decay
        found.setdefault((share, decay), []).append(parameter)
    return [
        {"params": parameters, "share": share, "weight_decay": decay} for (share, decay), parameters in found.items()
    ]


def one_step(
    task: Task[BatchT, Any],
    batches: list[BatchT],
    optimizer: torch.optim.Optimizer,
    settings: TrainSettings,
    step: int,
    begin: Callable[[int], None] | None = None,
) -> tuple[float, int]:
    """One change of the weights by the mean loss of all items of the batches; gives its sum, and the items.

    begin  is told of the step, once the net is in training: so that some of it is frozen
    """
    # torch.manual_seed is this, and a note of the stack for each kind of device that there might be
    torch.default_generator.manual_seed(_seed_of(settings.seed, step))
    if not all(module.training for module in task.net.modules()):  # to look is quicker than to say it to each
        task.net.train()
    if begin is not None:
        begin(step)
    optimizer.zero_grad()
    total, items = 0.0, 0
    for batch in batches:
        with training_precision(settings.precision), batches_of_one_shape(task.one_shape):
            loss, count = task.loss(batch)
        loss.backward()
        total, items = total + float(loss.detach()), items + count
    if not math.isfinite(total):
        raise InputError(
            f"step {step}: the loss is {total}; begin again with a lower train.lr"
            f" (it was {learning_rate(settings, step):.2g} at this step)"
        )
    _scale_gradients(optimizer, items, settings.clip_norm)
    for group in optimizer.param_groups:
        group["lr"] = learning_rate(settings, step) * group["share"]
    optimizer.step()
    return total, items


def _scale_gradients(optimizer: torch.optim.Optimizer, items: int, clip_norm: float | None) -> None:
    """Make the gradients of a sum those of the mean of so many items, of at most that norm; in one pass over them."""
    gradients = [one.grad for group in optimizer.param_groups for one in group["params"] if one.grad is not None]
    scale = 1 / items
    if clip_norm is not None:
        norm = float(nn.utils.get_total_norm(gradients)) / items
        scale *= min(1.0, clip_norm / (norm + 1e-6))  # as nn.utils.clip_grad_norm_ has it
    torch._foreach_mul_(gradients, scale)  # pyright: ignore[reportPrivateImportUsage]


def _seed_of(seed: int, step: int) -> int:
    """A number for torch's generator that no other step and no other seed shares, but by chance."""
    return int.from_bytes(hashlib.blake2b(f"{seed} {step}".encode(), digest_size=7).digest(), "big")


def _validate(task: Task[BatchT, Any]) -> dict[str, float]:
    task.net.eval()
    with torch.no_grad():
        return task.validate()


def _keep(
    task: Task[BatchT, Any], settings: TrainSettings, progress: Progress, valid: dict[str, float], run: Path
) -> Progress:
    """Write the weights where they may be wanted: the best so far, as the model so far as well, and the last few."""
    net = task.net
    value = valid[settings.monitor] * (-1 if settings.monitor in task.better_lower else 1)
    if settings.select_checkpoint == "average":
        make_folder(run / SNAPSHOTS)
        write_tensors(run / SNAPSHOTS / f"{progress.step:09d}.safetensors", tensors_of(net))
        for old in _snapshots(run)[: -settings.average_checkpoints]:
            old.unlink()
    better = progress.best is None or value > progress.best
    surer = value == progress.best and valid["loss"] < progress.best_loss  # of two that get everything right
    if better or surer:
        write_tensors(run / BEST, tensors_of(net))
        task.model.save(run / MODEL)
        progress = progress._replace(best=value, best_loss=valid["loss"], best_step=progress.step)
    return progress._replace(since_best=0 if better else progress.since_best + 1)


def _snapshots(run: Path) -> list[Path]:
    """The weights of the last validations, in their order."""
    named = (run / SNAPSHOTS).glob("*.safetensors")
    return sorted(path for path in named if re.fullmatch(r"\d{9}", path.stem))


def _given_up(progress: Progress, settings: TrainSettings) -> bool:
    return settings.patience is not None and progress.since_best >= settings.patience


def _finish(task: Task[BatchT, Any], settings: TrainSettings, progress: Progress, run: Path) -> dict[str, float]:
    """Put the wanted weights into the net, write the model, and see how good it is.

    A training that was cut short before its first validation has no others than the last.
    """
    if settings.select_checkpoint == "best" and progress.best is not None:
        read_into(task.net, run / BEST, remedy=REMEDY)
    elif settings.select_checkpoint == "average":
        paths = [path for path in _snapshots(run) if int(path.stem) <= progress.step]
        if paths:
            wanted = tensors_of(task.net)
            averaged = average(
                [read_tensors(path, wanted, remedy=REMEDY)[0] for path in paths[-settings.average_checkpoints :]]
            )
            fill(task.net, averaged, where=str(run / SNAPSHOTS))
    task.model.save(run / MODEL)
    return _validate(task)


def average(all_tensors: list[dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """The mean of each tensor over several sets of them."""
    return {
        name: torch.stack([tensors[name].double() for tensors in all_tensors]).mean(0).to(first.dtype)
        for name, first in all_tensors[0].items()
    }
