"""How a model is trained, as a recipe says it."""

from typing import Annotated, Literal

from pydantic import Field

from saccade.base.settings import Settings
from saccade.runtime.bfloat16 import TrainingPrecision

Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, lt=1)]


class TrainSettings(Settings):
    """Optimisation, validation, and what is kept."""

    steps: Count = 10_000  # at most; early stopping may end sooner
    seed: Annotated[int, Field(ge=0)] = 1  # of first weights, order of the data, dropout
    accumulate: Count = 1  # batches for one step
    precision: TrainingPrecision = "float32"  # bfloat16: coarser products, in half the time where a processor has them
    threads: Annotated[int, Field(ge=1, le=1024)] | None = None  # torch's own choice, one for each core
    optimizer: Literal["adam", "adamw", "sgd"] = "adam"  # sgd: without momentum
    lr: Annotated[float, Field(gt=0, le=10)] = 1e-3  # the highest learning rate
    betas: Annotated[list[Share], Field(min_length=2, max_length=2)] = Field(default=[0.9, 0.98])
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    schedule: Literal["constant", "inverse-sqrt", "cosine"] = "inverse-sqrt"
    warmup_steps: Annotated[int, Field(ge=0)] = 1000  # steps of linear growth before the schedule begins
    clip_norm: Annotated[float, Field(gt=0)] | None = 1.0  # the highest norm of the gradient
    label_smoothing: Share = 0.1
    log_every: Count = 50
    save_every: Count = 250  # what a kill can cost, in steps
    save_minutes: Annotated[float, Field(gt=0)] | None = 5.0  # and in time: a checkpoint is never older
    validate_every: Count = 500
    monitor: str = "loss"  # what the best model is best at: one of the metrics of its task
    patience: Count | None = None  # validations without a better one, after which training stops
    select_checkpoint: Literal["best", "average", "last"] = "best"  # which weights the finished model has
    average_checkpoints: Count = 5  # how many of the last validated weights `select_checkpoint: average` takes
    tensorboard: bool = True  # if it is installed


class TokenTrainSettings(TrainSettings):
    """The same, for batches of sentences."""

    batch_tokens: Count = 4096  # of source or target in a batch, padding included


class BatchTrainSettings(TrainSettings):
    """The same, for batches of so many items, whatever they are."""

    batch_size: Count = 128  # items in a batch
