"""The end-to-end memory network (MemN2N, Sukhbaatar 2015): read a story several times, then answer.

    m_i = Σ_j l_j ∘ A x_ij + T_A(i)        what sentence i is found by
    c_i = Σ_j l_j ∘ C x_ij + T_C(i)        what it gives
    u   = Σ_j l_j ∘ B q_j                  the question
    p_i = softmax(u · m_i),   o = Σ_i p_i c_i,   u' = u + o        one hop
    answer = softmax(W u')                 after the last of K hops

Sentences are counted back from the question: the most recent has time 0.

Letters: `B` questions, `S` sentences of a story, `U` different sentences, `J` words, `D` dim, `V` words that there are,
`K` hops, `E` embeddings, `N` null memories.
"""

import math
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from saccade.attention import Dot, Soft, Weighting, WeightingOutput, attend
from saccade.nets.dropout import Dropout
from saccade.runtime.kernel_conditions import has_data, is_eager, is_transformed
from saccade.runtime.operators import refuse_second_order

Tying = Literal["adjacent", "layer-wise"]
Encoding = Literal["position", "bag"]
_STD = 0.1  # of the first weights


class LinearWeighting(Weighting):
    """The scores themselves: what is left of a soft weighting without its softmax (the paper's linear start)."""

    @property
    def sums_to_one(self) -> bool:
        return False

    def forward(
        self, scores: Tensor, *, mask: Tensor | None, query: Tensor, state: Tensor | None = None
    ) -> WeightingOutput:
        return WeightingOutput(scores if mask is None else scores.masked_fill(~mask, 0.0), state)


class ConditionalWeighting(Weighting):
    """One weighting where a tensor says so, and another where it does not, for those who cannot look at the tensor."""

    def __init__(self, where: Tensor, weighting: Weighting, otherwise: Weighting) -> None:
        super().__init__()
        self.where, self.weighting, self.otherwise = where, weighting, otherwise

    @property
    def sums_to_one(self) -> bool:
        return self.weighting.sums_to_one and self.otherwise.sums_to_one

    def forward(
        self, scores: Tensor, *, mask: Tensor | None, query: Tensor, state: Tensor | None = None
    ) -> WeightingOutput:
        one, other = (way(scores, mask=mask, query=query).weights for way in (self.weighting, self.otherwise))
        return WeightingOutput(torch.where(self.where.bool(), one, other), state)


class MemN2NOutput(NamedTuple):
    """What a memory network answers."""

    logits: Tensor  # [B, V], of each word; the first is none, and has no probability
    weights: Tensor | None  # [B, K, S], what each hop looked at, if it was asked for; the rest is empty


def position_weights(lengths: Tensor, longest: int, *, dtype: torch.dtype = torch.float32) -> tuple[Tensor, Tensor]:
    """The two parts of the position encoding, `[U, J]` each, zero behind the last of a sentence's J words.

        l_kj = (1 - j/J) - (k/D)(1 - 2j/J)        words j from 1 to J, dimensions k from 1 to D

    It is linear in k, so a sentence is Σ_j first_j E x_j - (k/D) Σ_j second_j E x_j: two weighted sums of words.
    """
    position = torch.arange(1, longest + 1, device=lengths.device)  # [J]
    part = position.to(dtype) / lengths.clamp(min=1)[:, None]  # [U, J], j/J
    there = position <= lengths[:, None]
    return (1 - part) * there, (1 - 2 * part) * there


class MemN2N(nn.Module):
    """Stories and questions to logits of all words.

    words          how many there are; number 0 is no word, and its vectors stay zero
    tying          adjacent: A^(k+1) = C^k, B = A^1, W = C^K; layer-wise: one A and one C for all hops, u' = H u + o
    encoding       position: a sentence's words are weighted by their position; bag: their sum
    memory_size    sentences of a story, at most
    null_memories  memories with nothing in them, m = c = 0, that a hop can look at where it finds nothing that fits;
                   the authors' own code has as many as there is room for
    random_noise   in training, up to so many empty memories for each sentence are put in at random, which moves the
                   times of what lies before them, as in the paper
    dropout        of the sentences' vectors, which the paper has not; each different sentence of a batch has a mask

    `linear` is part of the net's state: while it is 1, no hop has a softmax. Who trains it says when that ends.
    """

    linear: Tensor

    def __init__(
        self,
        *,
        words: int,
        dim: int = 50,
        hops: int = 3,
        tying: Tying = "adjacent",
        encoding: Encoding = "position",
        memory_size: int = 50,
        null_memories: int = 1,
        random_noise: float = 0.1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.dim, self.hops, self.tying, self.encoding = dim, hops, tying, encoding
        self.null_memories, self.random_noise = null_memories, random_noise
        count = hops + 1 if tying == "adjacent" else 3
        # adjacent: A^1 = B, C^1, ..., C^K; layer-wise: A, C, B. One beside the other, so that one sum serves all.
        self.embedding = _table(words, count * dim)
        tables = count if tying == "adjacent" else 2
        times = memory_size + self.max_noise_memories(memory_size)
        self.times = _table(times, tables * dim)
        self.hop_map = _table(dim, dim) if tying == "layer-wise" else None
        self.output = _table(words, dim) if tying == "layer-wise" else None
        with torch.no_grad():
            for table in (self.embedding, self.output):
                if table is not None:
                    table[0] = 0.0
        self.register_buffer("linear", torch.tensor(0))
        self.score, self.soft, self.plain = Dot(), Soft(), LinearWeighting()
        self.dropout = Dropout(dropout)

    def max_noise_memories(self, sentences: int) -> int:
        """How many empty memories a story of so many sentences may get."""
        return math.ceil(sentences * self.random_noise)

    def forward(
        self, sentences: Tensor, stories: Tensor, questions: Tensor, *, need_weights: bool = False
    ) -> MemN2NOutput:
        """`sentences` `[U, J]` as numbers of words, of which the first is empty; `stories` `[B, S]` and `questions`
        `[B]` as indices into them, the most recent sentence first, 0 where a story is over.
        """
        encoded = self.dropout(self.encode(sentences))  # [U, E D]
        there = stories != 0  # [B, S]
        times = F.embedding(self.times_of(there), self.times)  # [B, S, E D]
        embedded = F.embedding(stories, encoded)[..., : times.shape[-1]] + times
        embedded = F.pad(embedded, (0, 0, 0, self.null_memories))
        memories = embedded.unflatten(-1, (-1, self.dim)).unbind(-2)  # of each embedding, [B, S + N, D]
        weighting = self._weighting()
        mask = F.pad(there, (0, self.null_memories), value=True)[:, None]  # [B, 1, S + N]
        first = 0 if self.tying == "adjacent" else 2 * self.dim
        query = F.embedding(questions, encoded)[:, None, first : first + self.dim]  # [B, 1, D]
        hop_weights: list[Tensor] = []
        for hop in range(self.hops):
            table = hop if self.tying == "adjacent" else 0
            found = attend(
                query,
                memories[table],
                memories[table + 1],
                score=self.score,
                weighting=weighting,
                mask=mask,
                need_weights=need_weights,
            )
            query = (query if self.hop_map is None else query @ self.hop_map.T) + found.context
            if found.weights is not None:
                hop_weights.append(found.weights[..., : stories.shape[1]])
        table = self.embedding[:, -self.dim :] if self.output is None else self.output
        logits = query[:, 0] @ table.T  # [B, V]
        logits = logits.index_fill(1, torch.zeros(1, dtype=torch.long, device=logits.device), -torch.inf)
        return MemN2NOutput(logits, torch.cat(hop_weights, dim=1) if need_weights else None)

    def _weighting(self) -> Weighting:
        if not (is_eager() and has_data(self.linear)):
            return ConditionalWeighting(self.linear, self.plain, self.soft)
        return self.plain if bool(self.linear) else self.soft

    def encode(self, sentences: Tensor) -> Tensor:
        """`[U, J]` numbers of words -> `[U, E D]`, the vectors of each sentence, one embedding after the other."""
        there = sentences != 0
        if self.encoding == "bag":
            return self._sums(sentences, there.to(self.embedding.dtype))
        first, second = position_weights(there.sum(1), sentences.shape[1], dtype=self.embedding.dtype)
        fraction = torch.arange(1, self.dim + 1, device=sentences.device).to(first) / self.dim  # [D], k/D
        fraction = fraction.repeat(self.embedding.shape[1] // self.dim)  # [E D]
        return self._sums(sentences, first) - fraction * self._sums(sentences, second)

    def _sums(self, sentences: Tensor, weights: Tensor) -> Tensor:
        if is_transformed():  # which torch's sum of a bag cannot be
            return (F.embedding(sentences, self.embedding) * weights[..., None]).sum(-2)
        table = refuse_second_order("a memory network", self.embedding)
        return F.embedding_bag(sentences, table, mode="sum", per_sample_weights=weights, padding_idx=0)

    def times_of(self, there: Tensor) -> Tensor:
        """The time of each sentence, `[B, S]`: how many come after it, and in training empty memories among them."""
        sentences = there.shape[1]
        times = torch.arange(sentences, device=there.device).expand_as(there)
        most = self.max_noise_memories(sentences)
        if not self.training or not most:
            return times
        lengths = there.sum(1, keepdim=True)  # [B, 1]
        wanted = (
            torch.rand_like(lengths, dtype=torch.float) * ((lengths * self.random_noise).ceil() + 1)
        ).floor()  # [B, 1]
        before = (torch.rand(len(there), most, device=there.device) * (lengths + 1)).floor()  # [B, most]
        # the ones that are not wanted stand behind the whole story, where they move nothing
        before = before.masked_fill(torch.arange(most, device=there.device) >= wanted, sentences)
        return times + (before[:, None] <= times[..., None]).sum(-1)


def _table(rows: int, columns: int) -> nn.Parameter:
    """First weights, as published: normal numbers of spread 0.1."""
    return nn.Parameter(nn.init.normal_(torch.empty(rows, columns), std=_STD))
