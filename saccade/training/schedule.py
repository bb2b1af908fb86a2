"""The learning rate as a function of the step."""

import math

from saccade.training.settings import TrainSettings


def learning_rate(settings: TrainSettings, step: int) -> float:
    """The rate of `step`, which counts from 1. It grows in a line to `lr` during the warm-up; after it

    constant      stays
    inverse-sqrt  falls as √(warmup_steps / step)  (Vaswani 2017)
    cosine        falls along half a cosine to zero at the last step
    """
    if step <= settings.warmup_steps:
        return settings.lr * step / settings.warmup_steps
    if settings.schedule == "inverse-sqrt":
        return settings.lr * math.sqrt(max(settings.warmup_steps, 1) / step)
    if settings.schedule == "cosine":
        done = (step - settings.warmup_steps) / max(settings.steps - settings.warmup_steps, 1)
        return settings.lr * 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))
    return settings.lr
