"""Rows of tokens for a language model: documents one behind the other, and no padding between them.

The tokens of all documents are one long stream, and a row is a stretch of it:

    stream     <s> the cat sat </s> <s> a dog ran </s>
    inputs     <s> the cat    sat </s> <s>    a dog ran         (context: 3)
    targets    the cat sat    </s>  -  a      dog ran </s>

Every token is foreseen but `START`, which says nothing of the text; where no target is, there is `PAD`. A token is
foreseen from those before it in its row, and from none of the row before. So the first of a row has one token of
context, and one behind the end of a document has that document in sight, with `END` and `START` between them.

A model that begins to write, or is asked about a text, begins with `START`. Where documents are few and long, as books
are, it would hardly know that. Of tinyshakespeare, one document, a GPT sees it once or twice in 2,000 steps, and half a
context of text behind it is foreseen worse than behind a random character: 2.43 nats for 1.95. So where `START` is in
fewer than one row of 32, some more begin with it in training, in place of their first token, as if a document began
there; then it makes no difference after four characters.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from saccade.base.shuffling import Cursor, shuffled
from saccade.text.vocabularies.running import TokenIds
from saccade.text.vocabularies.vocabulary import PAD, START
from saccade.text.windows import windows

_ROWS_WITH_START = 1 / 32


class Rows(NamedTuple):
    """Rows as a model wants them. Letters: `B` rows, `T` tokens of context."""

    inputs: Tensor  # [B, T], PAD after the end of a short row
    targets: Tensor  # [B, T], the token behind each input, or PAD
    tokens: int  # how many targets there are


class PackedRows:
    """All of the text once an epoch: each token but `START` is a target once, neither more nor less.

    A row begins where another ends, which is at other tokens each epoch: the first has 1 to `context` tokens, so that
    those who had little context in one epoch have more in the next. Only the first and the last row are short. The rows
    are shuffled, and the batches of an epoch differ by one row at most.

    Everything depends on the seed and the epoch alone, so a `Cursor` is all there is to save.

    documents   how many there are; None: no row begins with another token than it has
    """

    def __init__(
        self, tokens: TokenIds, *, context: int, batch_size: int, seed: int, documents: int | None = None
    ) -> None:
        _expect_rows(tokens, context)
        self.tokens, self.context, self.batch_size, self.seed = tokens, context, batch_size, seed
        self._starts = 0.0 if documents is None else more_starts(documents * context / len(tokens))

    def spans(self, cursor: Cursor) -> Iterator[list[tuple[int, int]]]:
        """The batches of an epoch from `cursor` on, as the first and the end of the inputs of each row."""
        last = len(self.tokens) - 1  # the last token is no input
        size = int(np.random.default_rng([self.seed, cursor.epoch]).integers(1, self.context + 1))  # of the first row
        rows = 1 - (size - last) // self.context if size < last else 1
        batches = -(-rows // self.batch_size)
        for batch in range(cursor.batch, batches):
            places = np.arange(rows * batch // batches, rows * (batch + 1) // batches)
            numbers = shuffled(places, rows, seed=[self.seed, cursor.epoch, 1])
            ends = [size + number * self.context for number in numbers.tolist()]
            yield [(max(end - self.context, 0), min(end, last)) for end in ends]

    def stream(self, cursor: Cursor) -> Iterator[tuple[Rows, Cursor]]:
        """The batches from `cursor` on, endlessly, each with the cursor that comes after it."""
        while True:
            for number, spans in enumerate(self.spans(cursor), start=cursor.batch):
                rows = _gather(self.tokens, spans, self.context)
                _put_starts(rows, self._starts, seed=[self.seed, cursor.epoch, number, 2])
                yield rows, Cursor(cursor.epoch, number + 1)
            cursor = Cursor(cursor.epoch + 1)


class RandomRows:
    """Rows that begin anywhere, drawn anew for each batch, as nanoGPT does.

    All rows are full. Some tokens are targets often and some never; an epoch is as many batches as would have room for
    all of the text. A batch depends on the seed, the epoch and its number alone. `documents` is as of `PackedRows`.
    """

    def __init__(
        self, tokens: TokenIds, *, context: int, batch_size: int, seed: int, documents: int | None = None
    ) -> None:
        _expect_rows(tokens, context)
        if len(tokens) <= context:
            raise ValueError(f"tokens: found {len(tokens)}, wanted more than the context of {context}")
        self.tokens, self.context, self.batch_size, self.seed = tokens, context, batch_size, seed
        self._starts = 0.0 if documents is None else more_starts(documents * context / len(tokens))

    def stream(self, cursor: Cursor) -> Iterator[tuple[Rows, Cursor]]:
        """The batches from `cursor` on, endlessly, each with the cursor that comes after it."""
        batches = -(-(len(self.tokens) - 1) // (self.batch_size * self.context))
        while True:
            for number in range(cursor.batch, batches):
                rng = np.random.default_rng([self.seed, cursor.epoch, number])
                begins = rng.integers(0, len(self.tokens) - self.context, size=self.batch_size).tolist()
                spans = [(first, first + self.context) for first in begins]
                rows = _gather(self.tokens, spans, self.context)
                _put_starts(rows, self._starts, seed=[self.seed, cursor.epoch, number, 2])
                yield rows, Cursor(cursor.epoch, number + 1)
            cursor = Cursor(cursor.epoch + 1)


def more_starts(share: float) -> float:
    """How many of the rows should begin with `START` besides the share of them that have one."""
    return max(0.0, _ROWS_WITH_START - share)


def _put_starts(rows: Rows, share: float, *, seed: Sequence[int]) -> None:
    if share:
        chosen = np.random.default_rng(seed).random(len(rows.inputs)) < share
        rows.inputs[torch.from_numpy(chosen), 0] = START


RowOrder = Literal["packed", "random"]
ROW_ORDERS: dict[RowOrder, type[PackedRows | RandomRows]] = {"packed": PackedRows, "random": RandomRows}


def validation_rows(tokens: TokenIds, *, context: int, batch_size: int, stride: int | None = None) -> Iterator[Rows]:
    """All of the text in its order, each token but `START` a target once, in the windows of `saccade.text.windows`.

    Without a stride, a row begins where the one before it ends. `context_lengths` says how many tokens each target is
    foreseen from.
    """
    _expect_rows(tokens, context)
    stride = context if stride is None else stride
    if not 1 <= stride <= context:
        raise ValueError(f"stride: found {stride}, wanted 1 to the context of {context}")
    found = windows(len(tokens), context=context, stride=stride)
    while here := list(islice(found, batch_size)):
        yield _gather(tokens, [(one.first, one.end) for one in here], context, seen=[one.seen for one in here])


def context_lengths(targets: Tensor) -> Tensor:
    """Of how many tokens each target `[B, T]` is foreseen; 0 where there is none."""
    return torch.where(targets != PAD, torch.arange(1, targets.shape[1] + 1), 0)


def _expect_rows(tokens: TokenIds, context: int) -> None:
    if context < 2:  # a row of one token might have nothing to foresee
        raise ValueError(f"context: found {context}, wanted at least 2")
    if len(tokens) < 2:
        raise ValueError(f"tokens: found {len(tokens)}, wanted at least 2")


def _gather(
    tokens: TokenIds, spans: Sequence[tuple[int, int]], context: int, *, seen: Sequence[int] | None = None
) -> Rows:
    """Rows with these stretches of the stream as inputs. The first `seen` targets of a row are none."""
    inputs = np.full((len(spans), context), PAD, dtype=np.int64)
    targets = np.full((len(spans), context), PAD, dtype=np.int64)
    for row, (first, end) in enumerate(spans):
        before = 0 if seen is None else seen[row]
        inputs[row, : end - first] = tokens[first:end]
        targets[row, before : end - first] = tokens[first + before + 1 : end + 1]
    targets[targets == START] = PAD
    return Rows(torch.from_numpy(inputs), torch.from_numpy(targets), int(np.count_nonzero(targets != PAD)))
