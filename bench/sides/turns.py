"""What all sides of a race share. On torch and the standard library alone: peers run in an environment of their own.

A side is started with its job as JSON. It says `ready`, and for each line that it reads it takes one turn and says in
JSON how many `units` it did in how many `seconds`. When there is nothing more to read, it tells its peak memory.

Token numbers are the same for all: 0 padding, 1 unknown, 2 start, 3 end.
"""

import json
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

PAD, START, END = 0, 2, 3

Pair = tuple[list[int], list[int]]  # source and target, each with END last


class Job(NamedTuple):
    """What a side has to do."""

    task: str  # "train" or "decode"
    model: str  # "transformer", "rnn-fed", "rnn-luong" or "rnn-bahdanau"
    pairs: str  # a JSON file of pairs
    vocabulary: int
    batch_tokens: int  # of a batch in training, padding included
    turn_tokens: int  # target tokens of a training turn
    sentences: int  # of a decoding turn
    batch: int  # sentences at a time
    beam: int
    length: int  # of every output
    threads: int
    precision: str = "float32"  # of products, for who has a choice


# The sizes of all models: the Transformer is the tiny one of Wu 2021.
TRANSFORMER = {"layers": 4, "dim": 128, "heads": 4, "feed_forward": 256}
RNN = {"embedding": 256, "dim": 512}
DROPOUT, SMOOTHING = 0.3, 0.1

Turn = Callable[[], int]  # does the work, gives its units


def serve(make: Callable[[Job, list[Pair]], Turn]) -> None:
    """Do the job that the command line says, in turns."""
    job = Job(**json.loads(sys.argv[1]))
    torch.set_num_threads(job.threads)
    torch.manual_seed(0)
    take_turns(make(job, json.loads(Path(job.pairs).read_text())))


def take_turns(turn: Turn) -> None:
    """Take a turn for each line of the standard input."""
    print("ready", flush=True)
    for _ in sys.stdin:
        began = time.perf_counter()
        units = turn()
        print(json.dumps({"units": units, "seconds": time.perf_counter() - began}), flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kilobytes on Linux
    print(json.dumps({"megabytes": round(peak / 1024)}), flush=True)


def pad(rows: list[list[int]]) -> Tensor:
    size = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (size - len(row))] for row in rows])


def random_batches(pairs: list[Pair], tokens: int) -> Iterator[list[Pair]]:
    """Batches as they come, within a budget that counts padding: what JoeyNMT does."""
    rng = random.Random(0)
    while True:
        yield from _cut(rng.sample(pairs, len(pairs)), tokens)


def bucketed_batches(pairs: list[Pair], tokens: int) -> Iterator[list[Pair]]:
    """Batches of similar source length, within a budget that counts padding: what a careful user does."""
    rng = random.Random(0)
    while True:
        batches = list(_cut(sorted(rng.sample(pairs, len(pairs)), key=lambda pair: len(pair[0])), tokens))
        rng.shuffle(batches)
        yield from batches


def _cut(pairs: list[Pair], tokens: int) -> Iterator[list[Pair]]:
    batch: list[Pair] = []
    longest = 0
    for pair in pairs:
        longest = max(longest, *map(len, pair))
        if batch and longest * (len(batch) + 1) > tokens:
            yield batch
            batch, longest = [], max(map(len, pair))
        batch.append(pair)
    yield batch


def training_turn(job: Job, batches: Iterator[list[Pair]], step: Callable[[list[Pair]], Any]) -> Turn:
    """Steps until as many real target tokens as the job wants were learnt from."""

    def turn() -> int:
        done = 0
        while done < job.turn_tokens:
            batch = next(batches)
            step(batch)
            done += sum(len(target) for _, target in batch)
        return done

    return turn


def plain_training(
    job: Job, net: nn.Module, batches: Iterator[list[Pair]], loss: Callable[[Tensor, Tensor, Tensor], Tensor]
) -> Turn:
    """A training loop as tutorials have it: Adam, clipping, the loss of (source, previous, target)."""
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-4, betas=(0.9, 0.98))
    net.train()

    def step(batch: list[Pair]) -> None:
        source = pad([source for source, _ in batch])
        previous = pad([[START, *target[:-1]] for _, target in batch])
        target = pad([target for _, target in batch])
        optimizer.zero_grad()
        loss(source, previous, target).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()

    return training_turn(job, batches, step)


def decoding_turn(job: Job, pairs: list[Pair], search: Callable[[list[list[int]]], Any]) -> Turn:
    """The first sentences of the right length, batch by batch."""
    sources = [source for source, _ in pairs if len(source) == job.length][: job.sentences]
    batches = [sources[first : first + job.batch] for first in range(0, len(sources), job.batch)]

    def turn() -> int:
        for batch in batches:
            search(batch)
        return len(sources)

    return turn
