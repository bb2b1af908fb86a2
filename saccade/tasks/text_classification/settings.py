"""What a text classifier is made of, as a recipe or a model's folder says it."""

from typing import Annotated, Literal

from pydantic import Field

from saccade.attention import QUERY_SCORES
from saccade.base.settings import Settings, one_of
from saccade.nets.settings import Context, RnnReaderSettings, Share, Size, TransformerReaderSettings
from saccade.text.vocabularies.running import RunningVocabularySettings


class ClassifierSettings(Settings):
    """What all nets have, whatever they read with."""

    word_dropout: Share = 0.0  # in training: how many tokens are unknown
    classifier_dropout: Share = 0.0  # of what the labels are told from


class PoolingSettings(ClassifierSettings):
    """How the states of all tokens become one vector."""

    pooling: Literal["attention", "max", "mean", "last"] = "attention"
    pooling_score: Annotated[str, one_of(QUERY_SCORES)] = "additive"  # of attention, by one query that is learnt


class TextRnnSettings(RnnReaderSettings, PoolingSettings):
    """A recurrent net, which may look back at its own earlier states."""


class TextTransformerSettings(TransformerReaderSettings, PoolingSettings):
    """A Transformer whose tokens look at those before them, or at all others."""

    causal: bool = True  # false: each token looks at all of the text


class TextCnnSettings(ClassifierSettings):
    """Convolutions over the words' vectors, and the maximum over time (Kim 2014)."""

    kind: Literal["cnn"]
    embedding: Size = 128  # size of a token's vector
    widths: Annotated[list[Annotated[int, Field(ge=1, le=64)]], Field(min_length=1, max_length=8)] = Field(
        default=[3, 4, 5]
    )  # how many tokens a filter sees
    filters: Size = 100  # of each width
    classifier_dropout: Share = 0.5
    max_length: Context = 128  # tokens of a text, at most, with its start


TextNetSettings = Annotated[TextRnnSettings | TextTransformerSettings | TextCnnSettings, Field(discriminator="kind")]


class TextClassifierSettings(Settings):
    """A model's config.yaml."""

    task: Literal["text_classification"] = "text_classification"
    model: TextNetSettings
    vocabulary: RunningVocabularySettings
    labels: Annotated[list[str], Field(min_length=2)]
