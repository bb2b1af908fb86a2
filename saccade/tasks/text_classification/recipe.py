"""What a text classifier's recipe says."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from saccade.base.settings import DataPath, Settings
from saccade.tasks.text_classification.settings import TextNetSettings
from saccade.text.vocabularies.running import RunningVocabularySettings
from saccade.training import BatchTrainSettings, Count, Recipe

METRICS = ("accuracy", "macro_f1", "loss")  # what validation gives


class LabelledTextSettings(Settings):
    """What is learnt from."""

    train: DataPath | None = None  # texts.tsv: a TSV or CSV whose first line names its columns, or JSON lines (*.jsonl)
    valid: DataPath | None = None  # the same; without it, validation_size texts are kept aside
    text_column: str = "text"
    label_column: str = "label"
    bad_lines: Literal["stop", "skip"] = "stop"  # what to do about lines that cannot be read, or have no text
    limit: Annotated[int, Field(ge=2)] | None = None  # learn from so many only, with as large a share of each label
    make: Literal["reviews"] | None = None  # in place of train: made sentences with exact labels
    texts: Annotated[int, Field(ge=10, le=1_000_000)] = 2000  # of made ones
    seed: int = 0  # of made texts, of what is held out, and of what a limit leaves
    validation_size: Count = 500  # texts for validation, where valid is not given

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if (self.train is None) == (self.make is None):
            raise ValueError("wanted either train, such as data.train=texts.tsv, or make: data.make=reviews")
        if self.make is not None and self.valid is not None:
            raise ValueError("valid: found some beside made texts, wanted it beside texts of your own")
        return self


class TextClassificationTrainSettings(BatchTrainSettings):
    """Optimisation, validation, and what is kept."""

    batch_size: Count = 32  # texts in a batch
    monitor: str = "accuracy"


class TextClassificationRecipe(Recipe[Literal["text_classification"], TextClassificationTrainSettings]):
    """Everything that `saccade train` wants to know."""

    data: LabelledTextSettings
    vocabulary: RunningVocabularySettings = RunningVocabularySettings(kind="words")
    model: TextNetSettings
    train: TextClassificationTrainSettings = TextClassificationTrainSettings()

    def metrics(self) -> Sequence[str]:
        return METRICS
