"""What a language model's recipe says."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from saccade.base.settings import DataPath, Settings
from saccade.nets.settings import LanguageNetSettings
from saccade.text.corpus_files import NAMES
from saccade.text.packed_rows import RowOrder
from saccade.text.vocabularies.running import RunningVocabularySettings
from saccade.training import BatchTrainSettings, Count, Recipe

METRICS = ("loss", "perplexity", "bits_per_character")  # the same in other units; better when lower, all of them


class TextDataSettings(Settings):
    """What is learnt from."""

    text: DataPath | None = None  # a file of text, a folder of them, or JSON lines (*.jsonl)
    valid: DataPath | None = None  # the same; without it, the last tenth of text is kept aside
    column: str = "text"  # of JSON lines: where the text is
    names: Annotated[list[str], Field(min_length=1)] = Field(default=list(NAMES))  # which files of a folder
    bad_documents: Literal["stop", "skip"] = "stop"  # what to do about unreadable and empty ones
    make: Literal["numbers"] | None = None  # in place of text: numbers and their names, one a line
    lines: Annotated[int, Field(ge=10, le=10_000_000)] = 5000  # of made text
    seed: int = 0  # of made text
    rows: RowOrder = "packed"  # all of the text once an epoch; or random: rows that begin anywhere, as nanoGPT has them

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if (self.text is None) == (self.make is None):
            raise ValueError("wanted either text, such as data.text=book.txt, or make: data.make=numbers")
        if self.make is not None and self.valid is not None:
            raise ValueError("valid: found some beside made text, wanted it beside text of your own")
        return self


class LanguageTrainSettings(BatchTrainSettings):
    """Optimisation, validation, and what is kept."""

    batch_size: Count = 12  # rows of model.max_length tokens in a batch
    label_smoothing: Annotated[float, Field(ge=0, lt=1)] = 0.0


class LanguageRecipe(Recipe[Literal["language_modeling"], LanguageTrainSettings]):
    """Everything that `saccade train` wants to know."""

    data: TextDataSettings
    vocabulary: RunningVocabularySettings = RunningVocabularySettings()
    model: LanguageNetSettings
    train: LanguageTrainSettings = LanguageTrainSettings()

    def metrics(self) -> Sequence[str]:
        return METRICS
