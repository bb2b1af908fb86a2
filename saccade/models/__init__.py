"""Whole models, and the folders that they are kept in."""

from pathlib import Path

from saccade.models.settings import RnnSettings, TransformerSettings, TranslatorSettings, expect_joint_if_tied
from saccade.models.translation_net import TranslationNet, make_net, translation_loss
from saccade.models.translator import Search, Translation, Translator


def load(folder: str | Path) -> Translator:
    """The model of a folder."""
    return Translator.load(Path(folder))


__all__ = [
    "RnnSettings",
    "Search",
    "TransformerSettings",
    "Translation",
    "TranslationNet",
    "Translator",
    "TranslatorSettings",
    "expect_joint_if_tied",
    "load",
    "make_net",
    "translation_loss",
]
