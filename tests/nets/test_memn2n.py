"""The memory network against the equations of its paper, in numpy."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from numpy.typing import NDArray

from saccade.nets import MemN2N, position_weights
from saccade.nets.memn2n import Encoding, LinearWeighting, Tying

WORDS, DIM, HOPS, MEMORY = 13, 7, 3, 5
# four different sentences after the empty one, of different lengths; the last is a question
SENTENCES = torch.tensor([[0, 0, 0], [1, 2, 3], [4, 5, 0], [6, 0, 0], [7, 8, 12]])
STORIES = torch.tensor([[1, 2, 3, 1, 2], [3, 1, 0, 0, 0], [2, 0, 0, 0, 0]])  # the most recent first
QUESTIONS = torch.tensor([4, 4, 2])
Array = NDArray[np.float64]


def made(
    tying: Tying = "adjacent",
    encoding: Encoding = "position",
    *,
    linear: bool = False,
    random_noise: float = 0.1,
    null_memories: int = 2,
) -> MemN2N:
    torch.manual_seed(1)
    net = MemN2N(
        words=WORDS,
        dim=DIM,
        hops=HOPS,
        tying=tying,
        encoding=encoding,
        memory_size=MEMORY,
        random_noise=random_noise,
        null_memories=null_memories,
    ).double()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(8)  # far from even
    net.linear.fill_(int(linear))
    return net.eval()


def as_published(net: MemN2N, story: list[int], question: int) -> tuple[Array, Array]:
    """Section 2 and 4.1 of Sukhbaatar 2015, word by word; answers' probabilities, and the weights of each hop."""
    table = net.embedding.detach().numpy()
    times = net.times.detach().numpy()
    adjacent = net.tying == "adjacent"

    def matrix(values: Array, number: int) -> Array:
        return values[:, number * DIM : (number + 1) * DIM]

    def encode(number: int, sentence: int) -> Array:
        words = [word for word in SENTENCES[sentence].tolist() if word]
        total = np.zeros(DIM)
        for j, word in enumerate(words, start=1):
            for k in range(1, DIM + 1):
                part = (1 - j / len(words)) - (k / DIM) * (1 - 2 * j / len(words))
                total[k - 1] += matrix(table, number)[word, k - 1] * (part if net.encoding == "position" else 1)
        return total

    u = encode(0 if adjacent else 2, question)
    looked: list[Array] = []
    for hop in range(HOPS):
        a, c = (hop, hop + 1) if adjacent else (0, 1)
        m = np.stack([encode(a, sentence) + matrix(times, a)[i] for i, sentence in enumerate(story)])
        out = np.stack([encode(c, sentence) + matrix(times, c)[i] for i, sentence in enumerate(story)])
        m, out = (np.concatenate([values, np.zeros((net.null_memories, DIM))]) for values in (m, out))
        p = m @ u
        if not int(net.linear):
            p = np.exp(p - p.max())
            p /= p.sum()
        if net.hop_map is not None:
            u = net.hop_map.detach().numpy() @ u
        u = u + p @ out
        looked.append(p[: len(story)])
    w = matrix(table, HOPS) if net.output is None else net.output.detach().numpy()
    logits = w[1:] @ u
    shares = np.exp(logits - logits.max())
    return np.concatenate([[0.0], shares / shares.sum()]), np.stack(looked)


@pytest.mark.parametrize("linear", [False, True], ids=["softmax", "linear"])
@pytest.mark.parametrize("encoding", ["position", "bag"])
@pytest.mark.parametrize("tying", ["adjacent", "layer-wise"])
def test_a_whole_pass_is_as_published(tying: Tying, encoding: Encoding, *, linear: bool) -> None:
    net = made(tying, encoding, linear=linear)
    with torch.no_grad():
        found = net(SENTENCES, STORIES, QUESTIONS, need_weights=True)
        fused = net(SENTENCES, STORIES, QUESTIONS)
    assert found.weights is not None
    assert fused.weights is None
    torch.testing.assert_close(fused.logits, found.logits)
    for row, (recent, question) in enumerate(zip(STORIES.tolist(), QUESTIONS.tolist(), strict=True)):
        story = [sentence for sentence in recent if sentence]
        shares, looked = as_published(net, story, question)
        np.testing.assert_allclose(found.logits[row].softmax(-1).numpy(), shares, atol=1e-9)
        np.testing.assert_allclose(found.weights[row, :, : len(story)].numpy(), looked, atol=1e-9)
        assert not found.weights[row, :, len(story) :].any()  # where a story is over, nobody looks


def test_the_position_encoding_by_hand() -> None:
    """Two words and D = 2: l_11 = 1/2 - 0 = 1/2, l_21 = 1/2, l_12 = 0 + 1/2, l_22 = 0 + 1; one word: k/D."""
    first, second = position_weights(torch.tensor([2, 1]), 2)
    fraction = torch.tensor([0.5, 1.0])  # k/D
    weights = first[..., None] - fraction * second[..., None]  # [U, J, D]
    torch.testing.assert_close(weights[0], torch.tensor([[0.5, 0.5], [0.5, 1.0]]))
    torch.testing.assert_close(weights[1], torch.tensor([[0.5, 1.0], [0.0, 0.0]]))


def test_the_order_of_words_counts_by_position_and_not_in_a_bag() -> None:
    turned = torch.tensor([[0, 0, 0], [3, 2, 1]])
    for net, same in ((made(), False), (made(encoding="bag"), True)):
        with torch.no_grad():
            one, other = net.encode(SENTENCES)[1], net.encode(turned)[1]
        assert torch.allclose(one, other) == same


def test_an_empty_memory_lets_a_hop_find_nothing() -> None:
    """Two empty memories have a score of 0: weights as of a softmax with 2 in its denominator."""
    scores = made(linear=True)(SENTENCES, STORIES, QUESTIONS, need_weights=True).weights
    found = made()(SENTENCES, STORIES, QUESTIONS, need_weights=True).weights
    without = made(null_memories=0)(SENTENCES, STORIES, QUESTIONS, need_weights=True).weights
    assert scores is not None
    assert found is not None
    assert without is not None
    first = scores[0, 0].exp()
    torch.testing.assert_close(found[0, 0], first / (first.sum() + 2))
    torch.testing.assert_close(without[0, 0], first / first.sum())


@pytest.mark.parametrize(("tying", "wanted"), [("adjacent", HOPS + 1), ("layer-wise", 4)])
def test_tied_embeddings_stand_there_once(tying: Tying, wanted: int) -> None:
    net = made(tying)
    rows = MEMORY + math.ceil(MEMORY * 0.1)
    tables = 2 if tying == "layer-wise" else HOPS + 1
    maps = DIM * DIM if tying == "layer-wise" else 0
    assert sum(one.numel() for one in net.parameters()) == WORDS * wanted * DIM + rows * tables * DIM + maps


@pytest.mark.parametrize("tying", ["adjacent", "layer-wise"])
def test_a_batch_gives_the_same_as_single_stories(tying: Tying) -> None:
    net = made(tying)
    with torch.no_grad():
        together = net(SENTENCES, STORIES, QUESTIONS).logits
        for row in range(3):
            length = int((STORIES[row] != 0).sum())
            alone = net(SENTENCES, STORIES[row : row + 1, :length], QUESTIONS[row : row + 1]).logits
            torch.testing.assert_close(alone[0], together[row])


def test_no_word_stays_nothing() -> None:
    net = made("layer-wise").train()
    assert net.output is not None
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    logits = torch.empty(0)
    for _ in range(3):
        logits = net(SENTENCES, STORIES, QUESTIONS).logits
        F.cross_entropy(logits[:, 1:], torch.tensor([1, 2, 3])).backward()
        optimizer.step()
    assert not net.embedding[0].any()
    assert not net.output[0].any()
    assert logits.softmax(-1)[:, 0].tolist() == [0, 0, 0]
    assert all(bool(torch.isfinite(one).all()) for one in net.parameters())


def test_an_empty_story_is_answered_from_the_question() -> None:
    net = made()
    with torch.no_grad():
        logits = net(SENTENCES, torch.zeros(1, 2, dtype=torch.long), QUESTIONS[:1]).logits
        question = net.encode(SENTENCES)[4, :DIM]
    torch.testing.assert_close(logits[0, 1:], net.embedding.detach()[1:, -DIM:] @ question)


def test_random_noise_moves_times_and_keeps_their_order() -> None:
    net = made(random_noise=0.5)
    there = torch.arange(MEMORY) < torch.tensor([5, 2, 1])[:, None]
    assert net.times_of(there).tolist() == [list(range(MEMORY))] * 3
    net.train()
    torch.manual_seed(0)
    seen = torch.stack([net.times_of(there) for _ in range(2000)])  # [2000, 3, S]
    assert (seen.diff(dim=-1) >= 1).all()
    assert (seen[..., 0] >= 0).all()
    for row, length in enumerate((5, 2, 1)):
        last = seen[:, row, length - 1] - (length - 1)  # empty memories before the last sentence
        most = math.ceil(length / 2)
        assert set(last.tolist()) == set(range(most + 1))
    # of a story of one sentence: a half gets an empty memory, and every other one of these after the sentence
    assert (seen[:, 2, 0] == 1).double().mean().item() == pytest.approx(0.25, abs=0.04)
    assert seen.max() < len(net.times)
    without = made(random_noise=0.0).train()
    assert without.times_of(there).tolist() == [list(range(MEMORY))] * 3


def test_the_linear_start_is_part_of_the_state() -> None:
    net = made(linear=True)
    other = made()
    other.load_state_dict(net.state_dict())
    assert int(other.linear) == 1
    scores = torch.tensor([[[1.0, -2.0, 3.0]]])
    output = LinearWeighting()(scores, mask=torch.tensor([True, True, False]), query=scores)
    assert output.weights.tolist() == [[[1.0, -2.0, 0.0]]]
    assert not LinearWeighting().sums_to_one


def test_dropout_is_for_training_alone() -> None:
    torch.manual_seed(1)
    net = MemN2N(words=WORDS, dim=DIM, memory_size=MEMORY, random_noise=0.0, dropout=0.5)
    with torch.no_grad():
        first, second = (net.train()(SENTENCES, STORIES, QUESTIONS).logits for _ in range(2))
        assert not torch.allclose(first[:, 1:], second[:, 1:])
        first, second = (net.eval()(SENTENCES, STORIES, QUESTIONS).logits for _ in range(2))
        assert torch.equal(first, second)
