"""What a translator's recipe says."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from saccade.base.settings import DataPath, Settings
from saccade.tasks.translation.settings import Purpose, RnnSettings, TransformerSettings, expect_vocabulary
from saccade.text import NoiseSettings, VocabularySettings
from saccade.text.corpus_files import NAMES
from saccade.training import Recipe, TokenTrainSettings


class Files(Settings):
    """Two line-aligned files, or one table (TSV or JSON lines)."""

    source: DataPath | None = None
    target: DataPath | None = None
    table: DataPath | None = None

    @model_validator(mode="after")
    def _one_way(self) -> "Files":
        if (self.table is None) == (self.source is None and self.target is None):
            raise ValueError("wanted either a table, or a source and a target")
        if self.table is None and (self.source is None or self.target is None):
            raise ValueError(f"{'target' if self.target is None else 'source'} is missing; two files belong together")
        return self

    @property
    def name(self) -> str:
        return self.table or f"{self.source} and {self.target}"


def _from_text(value: Any) -> Any:
    return {"table": value} if isinstance(value, str) else value


FilesOrTable = Annotated[Files, BeforeValidator(_from_text)]


def _one_as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


TextFiles = Annotated[list[DataPath], Field(min_length=1), BeforeValidator(_one_as_list)]


class DataSettings(Settings):
    """What is learnt from."""

    train: FilesOrTable | None = None  # pairs.tsv, or {source: train.en, target: train.de}
    valid: FilesOrTable | None = None  # the same; without it, validation_size pairs of train are kept aside
    source_column: str = "source"  # of a TSV or JSON lines file
    target_column: str = "target"
    bad_pairs: Literal["stop", "skip"] = "stop"  # what to do about unreadable, empty and overlong ones
    truncate: bool = False  # sources that are too long for the model are cut off, and counted
    text: TextFiles | None = None  # in place of train: plain text to restore, one or several files, a text a line
    valid_text: TextFiles | None = None  # the same for validation; without it, texts are held out
    names: Annotated[list[str], Field(min_length=1)] = Field(default=list(NAMES))  # which files of a folder of text
    noise: NoiseSettings = NoiseSettings()  # how text is damaged
    # in place of train: a corpus with exact answers
    make: Literal["dates", "numbers", "summaries", "answers"] | None = None
    pairs: Annotated[int, Field(ge=1, le=10_000_000)] = 20_000  # of a made corpus
    seed: int = 0  # of a made corpus, and of what is held out
    from_language: str = "en"  # of made numbers
    to_language: str = "fr"
    max_number: int = 999_999
    validation_size: Annotated[int, Field(ge=1)] = 1000  # pairs or texts for validation, where none are given

    @model_validator(mode="after")
    def _one_origin(self) -> "DataSettings":
        given = [name for name in ("train", "text", "make") if getattr(self, name) is not None]
        if len(given) != 1:
            found = f"found {' and '.join(given)}, " if given else ""
            raise ValueError(
                f"{found}wanted either train, such as data.train=pairs.tsv"
                " or data.train.source=train.en data.train.target=train.de, or make, such as data.make=dates,"
                " or plain text to restore, as in saccade train denoise data.text=FILE"
            )
        if self.text is not None and self.valid is not None:
            raise ValueError("valid: found pairs beside text, wanted text as well: data.valid_text=FILE")
        if self.text is None and self.valid_text is not None:
            raise ValueError("valid_text: found text to validate with, but none to learn from; add data.text=FILE")
        return self


# What validation gives.
METRICS: dict[Purpose, Sequence[str]] = {
    "translate": ("bleu", "chrf", "exact_match", "loss"),
    "summarize": ("rouge1", "rouge2", "rouge_l", "exact_match", "loss"),
    "answer": ("exact_match", "f1", "loss"),
}


class TranslationTrainSettings(TokenTrainSettings):
    """Optimisation, validation, and what is kept."""

    monitor: str = "bleu"
    coverage_loss: Annotated[float, Field(ge=0)] = 0.0  # with model.copying: what it costs to look twice (See 2017)


class ValidationSettings(Settings):
    """How a model is looked at while it is trained."""

    sentences: Annotated[int, Field(ge=1)] = 500  # how many are translated, at most; the loss takes all
    beam: Annotated[int, Field(ge=1, le=100)] = 1


class TranslationRecipe(Recipe[Literal["translation"], TranslationTrainSettings]):
    """Everything that `saccade train` wants to know."""

    purpose: Purpose = "translate"
    data: DataSettings
    vocabulary: VocabularySettings = VocabularySettings()
    model: Annotated[RnnSettings | TransformerSettings, Field(discriminator="kind")]
    train: TranslationTrainSettings = TranslationTrainSettings()
    validation: ValidationSettings = ValidationSettings()

    @model_validator(mode="after")
    def _fits_together(self) -> "TranslationRecipe":
        expect_vocabulary(self.model, self.vocabulary)
        if self.data.text is not None and not self.vocabulary.joint:
            raise ValueError("vocabulary.joint: wanted true beside data.text: the text that is read is the one written")
        if self.data.text is not None and self.vocabulary.bpe_dropout:
            raise ValueError("vocabulary.bpe_dropout: wanted 0 beside data.text, whose noise is new each epoch already")
        if self.data.text is not None and (self.model.copying or self.purpose != "translate"):
            raise ValueError("data.text: wanted none beside model.copying, and with no other purpose than to translate")
        if self.model.copying and self.train.label_smoothing:
            raise ValueError("train.label_smoothing: wanted 0 with model.copying: what is copied has one right answer")
        if self.train.coverage_loss and not self.model.copying:
            raise ValueError("train.coverage_loss: wanted 0, or model.copying=true")
        return self

    def metrics(self) -> Sequence[str]:
        return METRICS[self.purpose]
