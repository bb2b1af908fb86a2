"""Recurrent encoders and decoders, without and with attention.

Letters: `B` batch, `S` source items, `T` target items, `E` size of an embedding, `D` dim, `L` layers.
"""

from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from saccade.attention import Attended, Choice, Memory, State, padding_mask
from saccade.nets.context import Context
from saccade.nets.decoder import Decoder, Encoded, Forced, Step, spread
from saccade.nets.dropout import Dropout

Cell = Literal["elman", "gru", "lstm"]
Order = Literal["bahdanau", "luong"]

_CELLS: dict[str, type[nn.RNN | nn.GRU | nn.LSTM]] = {"elman": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


class RnnEncoder(nn.Module):
    """h_i = cell(E x_i, h_i-1), in one direction or in two: `[B, S]` tokens -> states `[B, S, D]`.

    With two directions, half of `D` reads forward and half backward, so that h_i knows the whole sentence with a focus
    on what is near x_i (Bahdanau 2015). Padding is never read.
    """

    def __init__(
        self, embedding: nn.Embedding, dim: int, *, cell: Cell, layers: int, two_directions: bool, dropout: float
    ) -> None:
        super().__init__()
        if two_directions and dim % 2:
            raise ValueError(f"dim: found {dim}, wanted an even number: half for each direction")
        self.embedding = embedding
        self.dropout = Dropout(dropout)
        self.rnn = _CELLS[cell](
            embedding.embedding_dim,
            dim // 2 if two_directions else dim,
            layers,
            batch_first=True,
            dropout=dropout if layers > 1 else 0.0,
            bidirectional=two_directions,
        )

    def forward(self, source: Tensor, lengths: Tensor) -> Encoded:
        embedded = self.dropout(self.embedding(source))  # [B, S, E]
        packed = pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)
        output, final = self.rnn(packed)
        states, _ = pad_packed_sequence(output, batch_first=True, total_length=source.shape[1])  # [B, S, D]
        directions = 2 if self.rnn.bidirectional else 1
        parts = final if isinstance(final, tuple) else (final,)  # [L * directions, B, D / directions] each
        tops = tuple(part[-directions:].transpose(0, 1).flatten(1) for part in parts)  # [B, D] each
        return Encoded(self.dropout(states), padding_mask(lengths, size=source.shape[1]), tops)


class RnnState(NamedTuple):
    """What a recurrent decoder goes on with."""

    hidden: tuple[Tensor, ...]  # [L, B, D] each: one for Elman and GRU, two for LSTM
    memory: Memory
    attention: State
    feed: Tensor | None  # [B, 1, D], the last features, for input feeding
    copies: int = 1  # sequences that share one row of `memory`


class RnnDecoder(Decoder[RnnState]):
    """A recurrent decoder that looks at the source through a `Context`.

    order "bahdanau" (Bahdanau 2015): attend with the last state, then step

        c_t = context(s_t-1),  s_t = cell([E y_t-1, c_t], s_t-1),  f_t = tanh(W [s_t, c_t, E y_t-1])

    order "luong" (Luong 2015): step, then attend

        s_t = cell(E y_t-1, s_t-1),  c_t = context(s_t),  f_t = tanh(W [s_t, c_t])

    P(y_t) = softmax(O f_t). The first state is tanh(W h) of what the encoder ends with, for each layer (the cell state
    of an LSTM without the tanh). Input feeding (Luong 2015) gives f_t-1 to the cell beside E y_t-1, so that it knows
    where attention has been. Where the cell's input depends on nothing that comes out of a step (the Luong order, or a
    context that is the same at every step; no input feeding), the whole target is computed at once.
    """

    def __init__(
        self,
        embedding: nn.Embedding,
        dim: int,
        *,
        context: Context,
        cell: Cell,
        order: Order,
        layers: int,
        input_feeding: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        self.dim = dim
        self.layers = layers
        self.order: Order = order
        self.input_feeding = input_feeding
        self.embedding = embedding
        self.context = context
        self.dropout = Dropout(dropout)
        size = embedding.embedding_dim
        attends_first = order == "bahdanau"
        self.rnn = _CELLS[cell](
            size + (context.size if attends_first else 0) + (dim if input_feeding else 0),
            dim,
            layers,
            batch_first=True,
            dropout=dropout if layers > 1 else 0.0,
        )
        self.bridges = nn.ModuleList(nn.Linear(dim, layers * dim) for _ in range(2 if cell == "lstm" else 1))
        self.readout = nn.Linear(dim + context.size + (size if attends_first else 0), dim)
        self.output = nn.Linear(dim, embedding.num_embeddings)

    @property
    def at_once(self) -> bool:
        """Whether a whole target is computed at once, not step by step."""
        return not self.input_feeding and (self.order == "luong" or not self.context.follows_query)

    def start(self, encoded: Encoded, *, copies: int = 1) -> RnnState:
        parts = [
            bridge(final).unflatten(-1, (self.layers, self.dim)).transpose(0, 1).contiguous()  # [L, B, D]
            for bridge, final in zip(self.bridges, encoded.final, strict=True)
        ]
        feed = encoded.states.new_zeros(len(encoded.states), 1, self.dim) if self.input_feeding else None
        state = RnnState((parts[0].tanh(), *parts[1:]), self.context.remember(encoded), State(), feed)
        if copies == 1:
            return state
        copied = self.reorder(state, spread(len(encoded.states), copies))
        return copied._replace(memory=state.memory, copies=copies) if self.context.shares_memory else copied

    def step(self, tokens: Tensor, state: RnnState, *, need_weights: bool = False) -> Step[RnnState]:
        embedded = self.dropout(self.embedding(tokens[:, None]))  # [B, 1, E]
        features, state, attended = self._read(embedded, state, need_weights=need_weights)
        weights = None if attended.weights is None else attended.weights[:, None]  # [B, 1, 1, S]
        return Step(self.output(features[:, 0]), state, weights)

    def reorder(self, state: RnnState, index: Tensor) -> RnnState:
        hidden = tuple(part.index_select(1, index) for part in state.hidden)
        feed = None if state.feed is None else state.feed.index_select(0, index)
        return RnnState(hidden, _memory_of(index, state), state.attention.select(index), feed, state.copies)

    def forward(self, encoded: Encoded, previous: Tensor, *, need_weights: bool = False) -> Forced:
        embedded = self.dropout(self.embedding(previous))  # [B, T, E]
        state = self.start(encoded)
        if self.at_once:
            features, _, attended = self._read(embedded, state, need_weights=need_weights)
            weights, choice = attended.weights, attended.choice
        else:
            steps: list[tuple[Tensor, Attended]] = []
            for t in range(previous.shape[1]):
                here, state, attended = self._read(embedded[:, t : t + 1], state, need_weights=need_weights)
                steps.append((here, attended))
            features = torch.cat([here for here, _ in steps], dim=1)  # [B, T, D]
            weights = _join([attended.weights for _, attended in steps])
            choice = _join_choices([attended.choice for _, attended in steps])
        return Forced(features, None if weights is None else weights[:, None, None], choice)

    def _read(self, embedded: Tensor, state: RnnState, *, need_weights: bool) -> tuple[Tensor, RnnState, Attended]:
        """Read tokens `[B, T, E]`: all of a target where that can be, and else one. Features `[B, T, D]`."""
        inputs = [embedded] if state.feed is None else [embedded, state.feed]
        if self.order == "bahdanau":
            query = state.hidden[0][-1][:, None].expand(-1, embedded.shape[1], -1)  # [B, T, D], of the top layer
            attended = self._attend(query, state, need_weights=need_weights)
            states, hidden = self._run([*inputs, attended.context], state.hidden)
            read = [states, attended.context, embedded]
        else:
            states, hidden = self._run(inputs, state.hidden)
            attended = self._attend(states, state, need_weights=need_weights)
            read = [states, attended.context]
        features = self.dropout(torch.tanh(self.readout(torch.cat(read, dim=-1))))
        feed = features if self.input_feeding else None
        return features, state._replace(hidden=hidden, attention=attended.state, feed=feed), attended

    def _attend(self, query: Tensor, state: RnnState, *, need_weights: bool) -> Attended:
        if state.copies == 1:
            return self.context.recall(query, state.memory, state=state.attention, need_weights=need_weights)
        # the sequences of one source ask it together, as so many queries
        together = query.view(-1, state.copies, self.dim)  # [B * K, 1, D] -> [B, K, D]
        attended = self.context.recall(together, state.memory, state=state.attention, need_weights=need_weights)
        weights = None if attended.weights is None else attended.weights.flatten(0, 1)[:, None]  # [B * K, 1, S]
        return attended._replace(context=attended.context.flatten(0, 1)[:, None], weights=weights)

    def _run(self, inputs: list[Tensor], hidden: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The cells over the inputs, side by side: states `[B, T, D]` of the top layer, and the last of all layers."""
        first = hidden if isinstance(self.rnn, nn.LSTM) else hidden[0]
        states, last = self.rnn(torch.cat(inputs, dim=-1), first)
        return states, last if isinstance(last, tuple) else (last,)


def _memory_of(index: Tensor, state: RnnState) -> Memory:
    """The memory for the sequences `index`; while no source has gone, those that share it need no copy."""
    kept = index.view(-1, state.copies)[:, 0] // state.copies
    return state.memory if kept.equal(torch.arange(len(state.memory.key))) else state.memory.select(kept)


def _join(weights: list[Tensor | None]) -> Tensor | None:
    found = [part for part in weights if part is not None]
    return torch.cat(found, dim=1) if found else None  # [B, T, S]


def _join_choices(choices: list[Choice | None]) -> Choice | None:
    found = [choice for choice in choices if choice is not None]
    return Choice(*(torch.cat(parts, dim=-1) for parts in zip(*found, strict=True))) if found else None  # [B, T]
