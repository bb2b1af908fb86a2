"""Recurrent encoders and decoders, without and with attention.

Letters: `B` batch, `S` source items, `T` target items, `E` size of an embedding, `D` dim, `L` layers.
"""

from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from saccade.attention import AttentionOutput, Choice, Memory, State, padding_mask
from saccade.nets._kernels.deferred import DeferredLinear
from saccade.nets._kernels.project import project
from saccade.nets.cells import KINDS, Cell, cell_weights, run, run_padded
from saccade.nets.context import Context
from saccade.nets.decoder import Decoder, DecoderOutput, Encoded, Step, batch_size, repeat_rows
from saccade.nets.dropout import Dropout
from saccade.runtime.kernel_conditions import is_bare
from saccade.runtime.linear import apply_linear, linear

CellKind = Literal["elman", "gru", "lstm"]
Order = Literal["bahdanau", "luong"]
Bridge = Literal["linear", "mlp"]

_CELLS: dict[str, type[nn.RNN | nn.GRU | nn.LSTM]] = {"elman": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


class RnnEncoder(nn.Module):
    """h_i = cell(E x_i, h_i-1), in one direction or in two: `[B, S]` tokens -> states `[B, S, D]`.

    With two directions, half of `D` reads forward and half backward, so that h_i knows the whole sentence with a focus
    on what is near x_i (Bahdanau 2015). Padding is never read.
    """

    def __init__(
        self, embedding: nn.Embedding, dim: int, *, cell: CellKind, layers: int, bidirectional: bool, dropout: float
    ) -> None:
        super().__init__()
        if bidirectional and dim % 2:
            raise ValueError(f"dim: found {dim}, wanted an even number: half for each direction")
        self.embedding = embedding
        self.dropout = Dropout(dropout)
        self.rnn = _CELLS[cell](
            embedding.embedding_dim,
            dim // 2 if bidirectional else dim,
            layers,
            batch_first=True,
            dropout=dropout if layers > 1 else 0.0,
            bidirectional=bidirectional,
        )

    def forward(self, source: Tensor, lengths: Tensor, *, need_weights: bool = False) -> Encoded:
        embedded = self.dropout(self.embedding(source))  # [B, S, E]
        mask = padding_mask(lengths, size=source.shape[1])
        states, final = run_padded(self.rnn, embedded, lengths, mask[:, 0])
        return Encoded(self.dropout(states), mask, final)


class RnnState(NamedTuple):
    """What a recurrent decoder goes on with."""

    hidden: tuple[Tensor, ...]  # [L, B, D] each: one for Elman and GRU, two for LSTM
    memory: Memory
    attention: State
    input_feed: Tensor | None  # [B, D], the last features, for input feeding
    copies: int = 1  # sequences that share one row of `memory`


class RnnDecoder(Decoder[RnnState]):
    """A recurrent decoder that looks at the source through a `Context`.

    order "bahdanau" (Bahdanau 2015): attend with the last state, then step

        c_t = context(s_t-1),  s_t = cell([E y_t-1, c_t], s_t-1),  f_t = tanh(W [s_t, c_t, E y_t-1])

    order "luong" (Luong 2015): step, then attend

        s_t = cell(E y_t-1, s_t-1),  c_t = context(s_t),  f_t = tanh(W [s_t, c_t])

    P(y_t) = softmax(O f_t). Without a readout f_t is s_t itself; a cell "elman" in the first order is then Elman's
    network to the letter: s_t = tanh(W [E y_t-1, c_t] + U s_t-1 + b), P(y_t) = softmax(O s_t).

    The first state is s_0 = tanh(g(h)) of what the encoder ends with, for each layer (the cell state of an LSTM without
    the tanh); the bridge g is "linear", or an "mlp" with a hidden layer of tanh. Input feeding (Luong 2015) gives f_t-1
    to the cell beside E y_t-1, so that it knows where attention has been. Where the cell's input depends on nothing
    that comes out of a step (the Luong order, or a context that is the same at every step; no input feeding), the whole
    target is computed at once.
    """

    def __init__(
        self,
        embedding: nn.Embedding,
        dim: int,
        *,
        context: Context,
        cell: CellKind,
        order: Order,
        layers: int,
        input_feeding: bool,
        dropout: float,
        bridge: Bridge = "linear",
        readout: bool = True,
        has_source: bool = True,
    ) -> None:
        super().__init__()
        if not readout and (order == "luong" or input_feeding):
            raise ValueError("readout: found false, wanted true in the Luong order, and with input feeding")
        if context.grows and (has_source or order != "luong"):
            raise ValueError("context: attention to its own past is for decoders without a source, in the Luong order")
        self.dim = dim
        self.has_source = has_source
        self.layers = layers
        self.order: Order = order
        self.input_feeding = input_feeding
        self.embedding = embedding
        self.context = context
        self.dropout, self.between_layers = Dropout(dropout), Dropout(dropout)
        size = embedding.embedding_dim
        attends_first = order == "bahdanau"
        self.rnn = _CELLS[cell](
            size + (context.size if attends_first else 0) + (dim if input_feeding else 0),
            dim,
            layers,
            batch_first=True,
            dropout=dropout if layers > 1 else 0.0,
        )
        self.parts = 2 if cell == "lstm" else 1  # of a state
        self.bridges = nn.ModuleList(
            _make_bridge(bridge, dim, layers * dim) for _ in range(self.parts if has_source else 0)
        )
        self.readout = nn.Linear(dim + context.size + (size if attends_first else 0), dim) if readout else None
        self.output = nn.Linear(dim, embedding.num_embeddings)

    @property
    def at_once(self) -> bool:
        """Whether a whole target is computed at once, not step by step."""
        return not self.input_feeding and (self.order == "luong" or not self.context.follows_query)

    def start(self, encoded: Encoded | None, *, prefix: Tensor | None = None, copies: int = 1) -> RnnState:
        size = batch_size(encoded, prefix, has_source=self.has_source)
        state = self._start(encoded, size)
        if prefix is not None and prefix.shape[1]:
            state = self._read(prefix, state, need_weights=False).state
        if copies == 1:
            return state
        copied = self.reorder(state, repeat_rows(size, copies, state.hidden[0].device))
        return copied._replace(memory=state.memory, copies=copies) if self.context.shares_memory else copied

    def _start(self, encoded: Encoded | None, size: int) -> RnnState:
        nothing = self.embedding.weight.new_zeros(size, self.dim)  # of all weights, the one that stays one if quantized
        input_feed = nothing if self.input_feeding else None
        if encoded is None:
            hidden = tuple(nothing.new_zeros(self.layers, size, self.dim) for _ in range(self.parts))
            return RnnState(hidden, self.context.without_source(nothing), State(), input_feed)
        parts = [
            bridge(final).unflatten(-1, (self.layers, self.dim)).transpose(0, 1).contiguous()  # [L, B, D]
            for bridge, final in zip(self.bridges, encoded.final, strict=True)
        ]
        hidden = (parts[0].tanh(), *parts[1:])
        return RnnState(hidden, self.context.remember(encoded, hidden[0][-1]), State(), input_feed)

    def step(
        self, tokens: Tensor, state: RnnState, *, need_weights: bool = False, best: int | None = None
    ) -> Step[RnnState]:
        embedded = self.dropout(self.embedding(tokens))  # [B, E]
        cells = _StackedCells(self.rnn, self.between_layers, given=self.embedding.embedding_dim)
        step = self._run_step(cells, cells.project(embedded), embedded, state, need_weights=need_weights)
        features = self._readout(step.read) if step.features is None else step.features
        logits, weights = project(features, self.output, best=best), step.attention.weights  # [B, V], [B, 1, S]
        return Step(logits, step.state, None if weights is None else weights[:, None], features)

    def reorder(self, state: RnnState, index: Tensor) -> RnnState:
        hidden = tuple(part.index_select(1, index) for part in state.hidden)
        input_feed = None if state.input_feed is None else state.input_feed.index_select(0, index)
        return RnnState(hidden, _memory_of(index, state), state.attention.select(index), input_feed, state.copies)

    def forward(self, encoded: Encoded | None, previous: Tensor, *, need_weights: bool = False) -> DecoderOutput:
        size = batch_size(encoded, previous, has_source=self.has_source)
        read = self._read(previous, self._start(encoded, size), need_weights=need_weights)
        weights = None if read.weights is None else read.weights[:, None, None]
        own = self.context.grows
        return DecoderOutput(read.features, None if own else weights, read.choice, weights if own else None)

    def _read(self, tokens: Tensor, state: RnnState, *, need_weights: bool) -> "_Read":
        """Read tokens `[B, T]`, all at once where no step waits for what comes out of the one before."""
        embedded = self.dropout(self.embedding(tokens))  # [B, T, E]
        forward = self._forward_at_once if self.at_once else self._forward_step_by_step
        return forward(embedded, state, need_weights=need_weights)

    def _forward_at_once(self, embedded: Tensor, state: RnnState, *, need_weights: bool) -> "_Read":
        if self.order == "bahdanau":  # with a context that does not depend on who asks
            query = state.hidden[0][-1][:, None].expand(-1, embedded.shape[1], -1)  # [B, T, D]
            output = self._attend(query, state, need_weights=need_weights)
            states, hidden = run(self.rnn, torch.cat([embedded, output.context], dim=-1), state.hidden)
            features = self._readout([states, output.context, embedded])
        else:
            states, hidden = run(self.rnn, embedded, state.hidden)
            output = self._attend(states, state, need_weights=need_weights)
            features = self._readout([states, output.context])
        memory = self.context.extend(state.memory, states)
        state = state._replace(hidden=hidden, memory=memory, attention=output.state)
        return _Read(features, state, output.weights, output.choice)

    def _forward_step_by_step(self, embedded: Tensor, state: RnnState, *, need_weights: bool) -> "_Read":
        """The same. What does not depend on the step before is computed for all steps, before or after them."""
        cells = _StackedCells(self.rnn, self.between_layers, given=embedded.shape[-1])
        by_time = embedded.transpose(0, 1)
        steps: list[_StepOutput] = []
        for projected, here in zip(cells.project(by_time).unbind(), by_time.unbind(), strict=True):
            steps.append(self._run_step(cells, projected, here, state, need_weights=need_weights))
            state = steps[-1].state
        if self.input_feeding:
            features = torch.stack([step.features for step in steps if step.features is not None], dim=1)
        else:
            parts = zip(*(step.read for step in steps), strict=True)
            features = self._readout([torch.stack(part, dim=1) for part in parts])
        weights = [step.attention.weights for step in steps if step.attention.weights is not None]
        choices = [step.attention.choice for step in steps if step.attention.choice is not None]
        keys = max((one.shape[-1] for one in weights), default=0)  # a memory that grows has more of them at each step
        return _Read(
            features,
            state,
            torch.cat([F.pad(one, (0, keys - one.shape[-1])) for one in weights], dim=1) if weights else None,
            Choice(*(torch.cat(parts, dim=-1) for parts in zip(*choices, strict=True))) if choices else None,
        )

    def _run_step(
        self, cells: "_StackedCells", projected: Tensor, embedded: Tensor, state: RnnState, *, need_weights: bool
    ) -> "_StepOutput":
        """One step over the token `embedded` `[B, E]`, of which `projected` `[B, G D]` is the cells' share."""
        inputs = [] if state.input_feed is None else [state.input_feed]
        if self.order == "bahdanau":
            output = self._attend(state.hidden[0][-1][:, None], state, need_weights=need_weights)
            context = output.context[:, 0]
            top, hidden = cells.step(projected, [*inputs, context], state.hidden)
            read = [top, context, embedded]
        else:
            top, hidden = cells.step(projected, inputs, state.hidden)
            output = self._attend(top[:, None], state, need_weights=need_weights)
            read = [top, output.context[:, 0]]
        features = self._readout(read) if self.input_feeding else None
        memory = self.context.extend(state.memory, top[:, None])
        state = state._replace(hidden=hidden, memory=memory, attention=output.state, input_feed=features)
        return _StepOutput(read, features, output, state)

    def _readout(self, read: list[Tensor]) -> Tensor:
        """Features `[..., D]` of what a step knows: `[..., size]` each, its state first."""
        if self.readout is None:
            return self.dropout(read[0])
        return self.dropout(torch.tanh(apply_linear(self.readout, torch.cat(read, dim=-1))))

    def _attend(self, query: Tensor, state: RnnState, *, need_weights: bool) -> AttentionOutput:
        if state.copies == 1:
            return self.context.recall(query, state.memory, state=state.attention, need_weights=need_weights)
        # the sequences of one source ask it together, as so many queries
        together = query.view(-1, state.copies, self.dim)  # [B * K, 1, D] -> [B, K, D]
        output = self.context.recall(together, state.memory, state=state.attention, need_weights=need_weights)
        weights = None if output.weights is None else output.weights.flatten(0, 1)[:, None]  # [B * K, 1, S]
        return output._replace(context=output.context.flatten(0, 1)[:, None], weights=weights)


def _make_bridge(kind: Bridge, dim: int, size: int) -> nn.Module:
    """From what an encoder ends with, `[B, D]`, to the first states of all layers, `[B, L D]`."""
    if kind == "linear":
        return nn.Linear(dim, size)
    return nn.Sequential(nn.Linear(dim, dim), nn.Tanh(), nn.Linear(dim, size))


class _Read(NamedTuple):
    """Several tokens that were read."""

    features: Tensor  # [B, T, D]
    state: RnnState
    weights: Tensor | None  # [B, T, S], if they were asked for and there are any
    choice: Choice | None  # the draws of hard attention, [B, T]


class _StepOutput(NamedTuple):
    """What one step gives."""

    read: list[Tensor]  # [B, size] each: what the features are made of
    features: Tensor | None  # [B, D], where the next step wants them
    attention: AttentionOutput  # with one query
    state: RnnState


class _StackedCells:
    """The cells of all layers, one step at a time over one sequence.

    Of what the lowest layer reads, the first `given` numbers are known before the cells, and `project` does their part
    for all steps at once. The rest comes out of the steps themselves.
    """

    def __init__(self, rnn: nn.RNNBase, between_layers: Dropout, *, given: int) -> None:
        self._called = None if is_bare(rnn, *KINDS) else rnn
        if self._called is not None:
            return
        lowest, *upper = (cell_weights(rnn, layer) for layer in range(rnn.num_layers))
        self._given = lowest.weight_ih[:, :given], lowest.bias_ih
        self._rest = DeferredLinear(lowest.weight_ih[:, given:])
        self._upper = [(DeferredLinear(weights.weight_ih), weights.bias_ih) for weights in upper]
        self._cells = [Cell(rnn, layer) for layer in range(rnn.num_layers)]
        self._between_layers = between_layers

    def project(self, given: Tensor) -> Tensor:
        """`[..., given]` -> `[..., G D]`."""
        return given if self._called is not None else linear(given, *self._given)

    def step(
        self, projected: Tensor, rest: list[Tensor], hidden: tuple[Tensor, ...]
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The top layer's state `[B, D]` after the step, and the states of all layers, `[L, B, D]` each."""
        if self._called is not None:  # it does more than its weights say: hooks, or another class
            states, hidden = run(self._called, torch.cat([projected, *rest], dim=-1)[:, None], hidden)
            return states[:, 0], hidden
        inputs = projected + self._rest(torch.cat(rest, dim=-1)) if rest else projected
        before = list(zip(*(part.unbind() for part in hidden), strict=True))
        after = [self._cells[0](inputs, before[0])]
        for cell, (weight, bias), state in zip(self._cells[1:], self._upper, before[1:], strict=True):
            after.append(cell(weight(self._between_layers(after[-1][0])) + bias, state))
        return after[-1][0], tuple(torch.stack(parts) for parts in zip(*after, strict=True))


def _memory_of(index: Tensor, state: RnnState) -> Memory:
    """The memory for the sequences `index`; while no source has gone, those that share it need no copy."""
    kept = index.view(-1, state.copies)[:, 0] // state.copies
    all_stay = kept.equal(torch.arange(len(state.memory.key), device=index.device))
    return state.memory if all_stay else state.memory.select(kept)
