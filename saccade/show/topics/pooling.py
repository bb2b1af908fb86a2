"""max and average pooling, and where their gradients go

    max        y = max of the window                   its gradient goes to the largest alone
    average    y = mean of the window                  its gradient goes to all, in equal parts
    attention  y = Σ x softmax(β x) over the window    β = 0 is the average, and a large β the maximum

Letters: `W` a side of what comes in, `h` and `w` of what comes out.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from saccade.attention import Dot, attend
from saccade.nets import output_size
from saccade.show.lesson import Curves, Lesson, Matrix, Table, Text

SIDE, WINDOW = 6, 2
OVERLAP = 3  # a larger window, which is moved by one place at a time
BETAS = tuple(step / 10 for step in range(21))


def lesson(*, seed: int = 1) -> Lesson:
    x = shuffled(seed).requires_grad_()
    largest, average = F.max_pool2d(x[None], WINDOW)[0], F.avg_pool2d(x[None], WINDOW)[0]
    overlapping = F.max_pool2d(x[None], OVERLAP, 1)[0]
    to_largest, to_average, to_overlapping = (gradient(y, x) for y in (largest, average, overlapping))
    first = x.detach()[:WINDOW, :WINDOW]
    between = [float(attention_pool(x.detach(), beta)[0, 0]) for beta in BETAS]
    return Lesson(
        "Many numbers become one",
        (
            Text(f"""
                The numbers 1 to {SIDE**2}, shuffled, stand for what a filter found. Pooling makes one number of each
                window of {WINDOW} × {WINDOW}, so that {SIDE} × {SIDE} numbers become {len(largest)} × {len(largest)}:
                the largest of a window, or the average.
            """),
            _picture(x, "What comes in"),
            _picture(largest, "Max pooling"),
            _picture(average, "Average pooling", digits=2),
            Text(f"""
                On the way back, a gradient of 1 comes to each output. Max pooling hands all of it to the largest of the
                window: {_reached(to_largest)} of {SIDE**2} numbers hear of it, the others learn nothing. Average
                pooling gives each of them 1/{WINDOW**2}.
            """),
            _picture(to_largest, "Where the gradient of max pooling goes"),
            _picture(to_average, "Where the gradient of average pooling goes", digits=2),
            Table(
                ("pooling", "window", "stride", "result", "get a gradient", "largest gradient"),
                [
                    _row("max", WINDOW, WINDOW, to_largest),
                    _row("average", WINDOW, WINDOW, to_average),
                    _row("max", OVERLAP, 1, to_overlapping),
                ],
                caption="Where windows overlap, the largest number of several gets a gradient from each",
            ),
            Text(f"""
                Both are attention over a window, with the numbers themselves as scores: β = 0 weights all alike, a
                large β takes the largest alone, as hard attention does. The first window, {_list(first)}, goes from
                {between[0]:.2f} to {between[-1]:.2f}. Between the ends, each number has a say, and a gradient.
            """),
            Curves(
                BETAS,
                {
                    "attention over the window": between,
                    "max": [float(first.max())] * len(BETAS),
                    "average": [float(first.mean())] * len(BETAS),
                },
                "β",
                "the first window becomes",
            ),
        ),
        paper="LeCun 1998 (average pooling); Krizhevsky 2012 (max pooling with overlap)",
    )


def shuffled(seed: int) -> Tensor:
    """The numbers from 1 on, `[W, W]`: no two are alike, so each window has one largest."""
    return 1.0 + torch.randperm(SIDE**2, generator=torch.Generator().manual_seed(seed)).view(SIDE, SIDE)


def gradient(pooled: Tensor, x: Tensor) -> Tensor:
    """What comes back to `x` when each output gets a gradient of 1."""
    (found,) = torch.autograd.grad(pooled.sum(), x)
    return found


def attention_pool(x: Tensor, beta: float) -> Tensor:
    """Attention over each window, with scores `β x`: `[W, W]` -> `[W / 2, W / 2]`."""
    windows = x.unfold(0, WINDOW, WINDOW).unfold(1, WINDOW, WINDOW).flatten(-2)[..., None]  # [h, w, 4, 1]
    query = torch.full((*windows.shape[:2], 1, 1), beta)
    return attend(query, windows, score=Dot()).context[..., 0, 0]


def _picture(numbers: Tensor, caption: str, *, digits: int = 0) -> Matrix:
    high, wide = numbers.shape
    return Matrix(numbers.detach().numpy(), [""] * high, [""] * wide, caption=caption, digits=digits)


def _row(name: str, window: int, stride: int, back: Tensor) -> tuple[str, ...]:
    size = output_size(SIDE, kernel=window, stride=stride)
    reached = f"{_reached(back)} of {back.numel()}"
    return name, f"{window} × {window}", str(stride), f"{size} × {size}", reached, f"{float(back.max()):.2f}"


def _reached(back: Tensor) -> int:
    return int((back != 0).sum())


def _list(numbers: Tensor) -> str:
    *others, last = (f"{number:.0f}" for number in numbers.flatten().tolist())
    return f"{', '.join(others)} and {last}"
