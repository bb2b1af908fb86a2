"""The pointer network (Vinyals 2015): what attention looks at is the answer.

The inputs e_1 ... e_n are encoded with a position END before them. A decoder reads the input that was pointed at last,
and its attention over all positions, which elsewhere would gather a context, is the distribution of what is pointed at
next:

    d_t = LSTM(e of the last position, d_t-1)
    u_ti = score(d_t, e_i)                 additive, as published: vᵀ tanh(W1 e_i + W2 d_t)
    P(position t is i) = softmax(u_t)_i       over the positions that may be pointed at

As a token, a position is its number counted on from END, which is the first of them; so the one search of
`saccade.decode` serves this decoder, too.

Letters: `B` batch, `S` positions, END among them, `T` steps, `C` numbers of an input, `D` dim.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from saccade.attention import Memory, Score, Sinusoidal, StatefulScore, padding_mask, remember
from saccade.nets.cells import run, run_padded
from saccade.nets.decoder import Encoded, Searchable, Step, batch_size, repeat_rows
from saccade.nets.dropout import Dropout
from saccade.nets.transformer import EncoderLayer, LayerShape
from saccade.text import END


class SequenceEncoder(nn.Module):
    """Inputs `[B, n, C]` read forward and backward by an LSTM, half of `D` for each: states `[B, 1 + n, D]`."""

    def __init__(self, inputs: int, dim: int, *, layers: int, dropout: float) -> None:
        super().__init__()
        self.embed = nn.Linear(inputs, dim)
        self.end = nn.Parameter(nn.init.normal_(torch.empty(dim), std=dim**-0.5))
        self.dropout = Dropout(dropout)
        self.rnn = nn.LSTM(
            dim, dim // 2, layers, batch_first=True, bidirectional=True, dropout=dropout if layers > 1 else 0.0
        )

    def forward(self, inputs: Tensor, lengths: Tensor) -> Encoded:
        embedded = self.dropout(torch.tanh(self.embed(inputs)))
        mask = padding_mask(lengths, size=inputs.shape[1])[:, 0]
        states, (summary, _) = run_padded(self.rnn, embedded, lengths, mask)
        return _with_end(self.end, self.dropout(states), lengths, summary)


class SetEncoder(nn.Module):
    """Inputs `[B, n, C]` that look at each other, by layers of a Transformer: states `[B, 1 + n, D]`.

    Without positions, inputs are a set: in another order they have the same states. Their mean sums them up.
    """

    def __init__(self, inputs: int, shape: LayerShape, *, layers: int) -> None:
        super().__init__()
        dim = shape.dim
        self.embed = nn.Linear(inputs, dim)
        self.end = nn.Parameter(nn.init.normal_(torch.empty(dim), std=dim**-0.5))
        self.positions = Sinusoidal(dim) if shape.positions == "sinusoidal" else None
        self.layers = nn.ModuleList(EncoderLayer(shape) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)

    def forward(self, inputs: Tensor, lengths: Tensor) -> Encoded:
        mask = padding_mask(lengths, size=inputs.shape[1])  # [B, 1, n]
        x = self.embed(inputs.masked_fill(~mask.transpose(1, 2), 0.0))  # padding may be anything
        x = x if self.positions is None else self.positions(x)
        for layer in self.layers:
            x, _ = layer(x, mask, need_weights=False)
        x = self.norm(x)
        real = mask.transpose(1, 2)  # [B, n, 1]
        summary = (x * real).sum(1) / lengths[:, None]
        return _with_end(self.end, x, lengths, summary)


def _with_end(end: Tensor, states: Tensor, lengths: Tensor, summary: Tensor) -> Encoded:
    """What was encoded, with the position END before the inputs."""
    batch, count, dim = states.shape
    positions = torch.cat((end.expand(batch, 1, dim), states), dim=1)  # [B, S, D]
    return Encoded(positions, padding_mask(lengths + 1, size=count + 1), (summary,))


class PointerState(NamedTuple):
    """What the decoder goes on with."""

    hidden: tuple[Tensor, ...]  # [1, B, D], of the state and of the cell
    memory: Memory  # the positions: prepared keys, and what is read of one that was pointed at
    free: Tensor  # [B, S], the positions that may be pointed at
    past: Tensor | None  # [B, S], the state of a score, if it has one


class PointerDecoder(Searchable[PointerState]):
    """Points at one position after the other, by any score of `saccade.attention`.

    With `mask_visited`, no input is pointed at twice. A whole answer is computed at once, as attention feeds nothing
    back.
    """

    def __init__(self, dim: int, *, score: Score, mask_visited: bool, dropout: float) -> None:
        super().__init__()
        self.score = score
        self.mask_visited = mask_visited
        self.first = nn.Parameter(
            nn.init.normal_(torch.empty(dim), std=dim**-0.5)
        )  # what is read before the first position
        self.bridge = nn.Linear(dim, 2 * dim)
        self.rnn = nn.LSTM(dim, dim, batch_first=True)
        self.dropout = Dropout(dropout)

    def start(self, encoded: Encoded | None, *, prefix: Tensor | None = None, copies: int = 1) -> PointerState:
        batch_size(encoded, prefix, has_source=True)
        assert encoded is not None
        hidden, cell = self.bridge(encoded.final[0])[None].chunk(2, dim=-1)
        memory = remember(encoded.states, score=self.score, mask=encoded.mask)
        past = self.score.initial_state(memory.key) if isinstance(self.score, StatefulScore) else None
        first = hidden.tanh().contiguous(), cell.contiguous()
        state = PointerState(first, memory, encoded.mask[:, 0], past)
        state = state if prefix is None else self._read_by_steps(prefix, state)
        return state if copies == 1 else self.reorder(state, repeat_rows(len(state.free), copies, state.free.device))

    def step(
        self, tokens: Tensor, state: PointerState, *, need_weights: bool = False, best: int | None = None
    ) -> Step[PointerState]:
        states, hidden = run(self.rnn, self._read(tokens[:, None], state.memory), state.hidden)
        free = (
            state.free & self._unvisited(tokens[:, None], state.free.shape[1])[:, 0]
            if self.mask_visited
            else state.free
        )
        scores, past = self._scores(states, state.memory, free[:, None], state.past)  # [B, 1, S]
        weights = scores.softmax(-1)[:, None] if need_weights else None
        return Step(_token_logits(scores)[:, 0], PointerState(hidden, state.memory, free, past), weights)

    def reorder(self, state: PointerState, index: Tensor) -> PointerState:
        hidden = tuple(part.index_select(1, index) for part in state.hidden)
        past = None if state.past is None else state.past.index_select(0, index)
        return PointerState(hidden, state.memory.select(index), state.free.index_select(0, index), past)

    def forward(self, encoded: Encoded, previous: Tensor) -> Tensor:
        """The scores `[B, T, S]` of all positions after each of the tokens `previous` `[B, T]`.

        Minus infinity for those that may not be pointed at.
        """
        state = self.start(encoded)
        states, _ = run(self.rnn, self._read(previous, state.memory), state.hidden)
        free = state.free[:, None]  # [B, 1, S]
        if self.mask_visited:
            free = free & self._unvisited(previous, free.shape[-1])  # [B, T, S]
        return self._scores(states, state.memory, free, state.past)[0]

    def _read(self, tokens: Tensor, memory: Memory) -> Tensor:
        """What is read of the positions `tokens` `[B, T]`: `[B, T, D]`. START and what is before END are none."""
        positions = (tokens - END).clamp(min=0)[..., None]  # [B, T, 1]
        found = memory.value.gather(1, positions.expand(-1, -1, memory.value.shape[-1]))
        return self.dropout(torch.where((tokens < END)[..., None], self.first, found))

    def _unvisited(self, tokens: Tensor, positions: int) -> Tensor:
        """Which positions none of the tokens up to each names, `[B, T, S]`; END always is."""
        pointed = F.one_hot((tokens - END).clamp(min=0), positions).cumsum(1) > 0
        pointed[..., 0] = False
        return ~pointed

    def _scores(
        self, states: Tensor, memory: Memory, free: Tensor, past: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        """The scores `[B, T, S]` of the positions that are free, and the state of the score after them."""
        queries, score = self.score.queries(self.dropout(states)), self.score
        if not isinstance(score, StatefulScore):
            # back from the float32 in which scores of half precision may have been compared
            return score.compare(queries, memory.key).to(states.dtype).masked_fill(~free, -torch.inf), None
        assert past is not None
        rows: list[Tensor] = []
        for query, free_now in zip(
            queries.split(1, dim=1), free.expand(-1, queries.shape[1], -1).split(1, 1), strict=True
        ):
            scores = score.compare(query, score.condition_keys(memory.key, past)).masked_fill(~free_now, -torch.inf)
            past = score.update_state(past, scores.softmax(-1)[:, 0], visible=free_now[:, 0])
            rows.append(scores)
        return torch.cat(rows, dim=1).to(states.dtype), past


def _token_logits(scores: Tensor) -> Tensor:
    """Scores of positions `[B, T, S]` as logits of tokens, those before END impossible."""
    return F.pad(scores, (END, 0), value=-torch.inf)
