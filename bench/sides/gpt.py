"""A small GPT as torch's users write it by hand, after the published description of nanoGPT; on torch and numpy alone.

Embeddings of tokens and of positions, layers whose norms stand before their parts, one product for queries, keys and
values, torch's fused causal attention, a GELU between two linear maps, the output tied to the embedding, no biases in
linear maps and norms. AdamW in its fused form, decay on matrices alone, the learning rate after a warm-up on a cosine,
and rows from anywhere in a memory-mapped text.
"""

import json
import math
import sys
import time
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.sides.turns import take_turns

LAYERS, HEADS, DIM, CONTEXT, BATCH = 4, 4, 128, 64, 12
LR, MIN_LR, WARMUP, STEPS, DECAY, CLIP = 1e-3, 1e-4, 100, 2000, 0.1, 1.0


class Job(NamedTuple):
    """What this side has to do."""

    tokens: str  # a file of 16-bit numbers
    vocabulary: int
    seconds: float  # of a turn
    threads: int
    compiled: bool = False


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.project, self.output = nn.Linear(DIM, 3 * DIM, bias=False), nn.Linear(DIM, DIM, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (part.unflatten(2, (HEADS, -1)).transpose(1, 2) for part in self.project(x).split(DIM, dim=2))
        return self.output(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention_norm, self.attention = nn.LayerNorm(DIM, bias=False), Attention()
        self.feed_forward_norm = nn.LayerNorm(DIM, bias=False)
        self.feed_forward = nn.Sequential(
            nn.Linear(DIM, 4 * DIM, bias=False), nn.GELU(), nn.Linear(4 * DIM, DIM, bias=False)
        )

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x))
        return x + self.feed_forward(self.feed_forward_norm(x))


class Gpt(nn.Module):
    """Tokens `[B, T]` -> logits `[B, T, V]`."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, DIM), nn.Embedding(CONTEXT, DIM)
        self.layers = nn.Sequential(*(Layer() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(DIM, bias=False)
        self.output = nn.Linear(DIM, vocabulary, bias=False)
        self.output.weight = self.tokens.weight
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                before_sum = name.endswith(("attention.output.weight", "feed_forward.2.weight"))
                nn.init.normal_(weight, std=0.02 / math.sqrt(2 * LAYERS) if before_sum else 0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        return self.output(self.norm(self.layers(x)))


class Training:
    """One step after the other."""

    def __init__(self, job: Job) -> None:
        self.text = np.memmap(job.tokens, dtype=np.uint16, mode="r")
        net = Gpt(job.vocabulary)
        self.parameters = list(net.parameters())
        matrices = [one for one in self.parameters if one.dim() == 2]
        vectors = [one for one in self.parameters if one.dim() < 2]
        self.optimizer = torch.optim.AdamW(
            [{"params": matrices, "weight_decay": DECAY}, {"params": vectors, "weight_decay": 0.0}],
            lr=LR,
            betas=(0.9, 0.99),
            fused=True,
        )
        self.net = torch.compile(net) if job.compiled else net
        self.steps = 0

    def batch(self) -> tuple[Tensor, Tensor]:
        """Rows `[B, T]`, and the same one token on."""
        starts = torch.randint(len(self.text) - CONTEXT, (BATCH,)).tolist()
        rows = torch.stack([torch.from_numpy(self.text[i : i + CONTEXT + 1].astype(np.int64)) for i in starts])
        return rows[:, :-1], rows[:, 1:]

    def step(self) -> None:
        self.steps += 1
        for group in self.optimizer.param_groups:
            group["lr"] = rate(self.steps)
        tokens, target = self.batch()
        loss = F.cross_entropy(self.net(tokens).flatten(0, 1), target.flatten())
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, CLIP)
        self.optimizer.step()


def rate(step: int) -> float:
    """The learning rate of a step."""
    if step <= WARMUP:
        return LR * step / WARMUP
    done = min((step - WARMUP) / (STEPS - WARMUP), 1.0)
    return MIN_LR + 0.5 * (LR - MIN_LR) * (1 + math.cos(math.pi * done))


def main() -> None:
    job = Job(**json.loads(sys.argv[1]))
    torch.set_num_threads(job.threads)
    torch.manual_seed(0)
    training = Training(job)

    def turn() -> int:
        end, steps = time.perf_counter() + job.seconds, 0
        while time.perf_counter() < end:
            training.step()
            steps += 1
        return steps * BATCH * CONTEXT

    take_turns(turn)


if __name__ == "__main__":
    main()
