"""What a language model is made of, as a recipe or a model's folder says it."""

from typing import Literal

from saccade.base.settings import Settings
from saccade.nets.settings import LanguageNetSettings
from saccade.text.vocabularies.running import RunningVocabularySettings


class LanguageModelSettings(Settings):
    """A model's config.yaml."""

    task: Literal["language_modeling"] = "language_modeling"
    model: LanguageNetSettings
    vocabulary: RunningVocabularySettings
