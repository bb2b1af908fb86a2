"""saccade itself, as `saccade train` and `saccade translate` run it."""

import saccade.runtime.threads  # noqa: F401, I001 # pyright: ignore[reportUnusedImport] - it has to be before torch is loaded

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F

from bench.sides.turns import DROPOUT, RNN, SMOOTHING, TRANSFORMER, Job, Pair, Turn, decoding_turn, serve
from saccade.base.shuffling import Cursor
from saccade.decode import beam_search, greedy_search
from saccade.nets import TuringMachine
from saccade.runtime.allocator import keep_heap
from saccade.runtime.prepared import Precision, PreparedCache
from saccade.tasks.translation.net import TranslationNet, make_net, translation_loss
from saccade.tasks.translation.settings import RnnSettings, TransformerSettings
from saccade.text import Batch, Batches, Example, pad
from saccade.training import Task, TrainSettings, make_optimizer
from saccade.training.loop import one_step

_TRANSFORMERS: dict[str, dict[str, Any]] = {
    "transformer": TRANSFORMER,
    "transformer-base": {"layers": 6, "dim": 512, "heads": 8, "feed_forward": 2048},  # Vaswani 2017
}
_RNNS: dict[str, dict[str, Any]] = {
    "rnn-fed": {"order": "luong", "input_feeding": True},
    "rnn-luong": {"order": "luong"},
    "rnn-bahdanau": {"order": "bahdanau"},
}


def make_model(job: Job) -> TranslationNet:
    if job.model in _TRANSFORMERS:
        sizes = _TRANSFORMERS[job.model]
        settings = TransformerSettings.model_validate(
            {
                "kind": "transformer",
                "tie_embeddings": "all",
                "dropout": DROPOUT,
                "feed_forward_dropout": DROPOUT,
                **sizes,
            }
        )
    else:
        settings = RnnSettings.model_validate({"kind": "rnn", "dropout": DROPOUT, **RNN, **_RNNS[job.model]})
    return make_net(settings, source_size=job.vocabulary, target_size=job.vocabulary, joint=True)


class _Untold(NamedTuple):
    """A net without the vocabularies that would make a translator of it."""

    net: TranslationNet

    def save(self, folder: Path) -> None:
        raise NotImplementedError


class _Training(Task[Batch, _Untold]):
    """The batches and the loss of `saccade train`, and nothing else of it."""

    unit = "tokens"

    def __init__(self, net: TranslationNet, pairs: list[Pair], tokens: int) -> None:
        self.model = _Untold(net)
        self._batches = Batches([Example(*pair) for pair in pairs], tokens=tokens, seed=0)

    def batches(self, cursor: Cursor) -> Iterator[tuple[Batch, Cursor]]:
        return self._batches.stream(cursor)

    def loss(self, batch: Batch) -> tuple[torch.Tensor, int]:
        return translation_loss(self.model.net, batch, smoothing=SMOOTHING), batch.tokens

    def validate(self) -> dict[str, float]:
        raise NotImplementedError


def make(job: Job, pairs: list[Pair]) -> Turn:
    keep_heap()
    if job.model == "ntm":
        return _turing_turn(job)
    net = make_model(job)
    if job.task == "decode":
        net.eval()
        turn = decoding_turn(job, pairs, _searcher(job, net))
        precision = "int8" if job.precision == "int8" else "float32"
        return _prepared(turn, net.requires_grad_(requires_grad=False), precision)
    task = _Training(net, pairs, job.batch_tokens)
    precision = "bfloat16" if job.precision == "bfloat16" else "float32"
    settings = TrainSettings(lr=1e-4, schedule="constant", warmup_steps=0, precision=precision)
    optimizer = make_optimizer(net, settings)
    stream = task.batches(Cursor())

    def turn() -> int:
        done = 0
        while done < job.turn_tokens:
            batch, _ = next(stream)
            done += one_step(task, [batch], optimizer, settings, step=1)[1]
        return done

    return turn


def _turing_turn(job: Job) -> Turn:
    """Training steps of a Neural Turing Machine on random bits, of the sizes of `bench.memory`: sequences."""
    net = TuringMachine(9, 8, locations=128, width=20, dim=100, controller="lstm")
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-4)
    inputs, targets = torch.randint(2, (16, 21, 9)).float(), torch.randint(2, (16, 21, 8)).float()

    def turn() -> int:
        for _ in range(job.sentences):
            optimizer.zero_grad()
            F.binary_cross_entropy_with_logits(net(inputs)[0], targets).backward()
            optimizer.step()
        return job.sentences * len(inputs)

    return turn


def _prepared(turn: Turn, net: TranslationNet, precision: Precision) -> Turn:
    """Weights are prepared once for all batches, as a loaded model does it."""
    prepared = PreparedCache().of(net, precision)

    def prepared_turn() -> int:
        with prepared.use():
            return turn()

    return prepared_turn


def _searcher(job: Job, net: TranslationNet) -> Callable[[list[list[int]]], Any]:
    def search(sources: list[list[int]]) -> Any:
        with torch.inference_mode():
            encoded = net.encode(pad(sources), torch.tensor([len(source) for source in sources]))
            limits = [job.length] * len(sources)
            if job.beam == 1:
                return greedy_search(net.decoder, encoded, limits=limits)
            return beam_search(net.decoder, encoded, beam=job.beam, limits=limits, alpha=1.0)

    return search


if __name__ == "__main__":
    serve(make)
