"""How a model is trained, as a recipe says it."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from saccade.base.settings import DataPath, Settings
from saccade.runtime.bfloat16 import TrainingPrecision

Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, lt=1)]


class LoraSettings(Settings):
    """Low-rank adaptation (Hu 2021): what is learnt is added to large matrices as a product of two small ones."""

    rank: Annotated[int, Field(ge=1, le=1024)] = 8
    alpha: Annotated[float, Field(gt=0, le=10_000)] = 16.0  # the product counts alpha / rank
    targets: Annotated[list[str], Field(min_length=1)] = Field(default=["*query_projection", "*value_projection"])


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
    weight_decay: Annotated[float, Field(ge=0)] = 0.0  # adamw: of matrices alone, not of biases and norms
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
    start_from: DataPath | None = None  # a model's folder or a run's: its weights and vocabulary are taken over
    grow_vocabulary: bool = False  # what the data has and that vocabulary lacks is added to it
    new_lr: Annotated[float, Field(gt=0, le=10)] | None = None  # the highest learning rate of what is new; null: lr
    freeze: list[str] = Field(default=[])  # patterns of names, such as encoder.*: these parameters stay as they are
    unfreeze_at: Count | None = None  # after so many steps they learn as well; null: never
    lora: LoraSettings | None = None  # only small matrices beside the large ones are trained; null: all of the model

    @model_validator(mode="after")
    def _has_a_start(self) -> Self:
        for name in ("grow_vocabulary", "new_lr", "lora"):
            if getattr(self, name) and self.start_from is None:
                raise ValueError(f"{name}: it is for a model that is started from; wanted train.start_from=MODEL, too")
        if self.unfreeze_at is not None and not self.freeze:
            raise ValueError(
                "unfreeze_at: nothing is frozen; wanted train.freeze, too, such as train.freeze=[encoder.*]"
            )
        if self.lora is not None and self.freeze:
            raise ValueError("freeze: with lora, all is frozen but what it adds; wanted one of both")
        return self


class TokenTrainSettings(TrainSettings):
    """The same, for batches of sentences."""

    batch_tokens: Count = 4096  # of source or target in a batch, padding included


class BatchTrainSettings(TrainSettings):
    """The same, for batches of so many items, whatever they are."""

    batch_size: Count = 128  # items in a batch
