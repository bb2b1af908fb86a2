"""Whole models, and the folders that they are kept in."""

from pathlib import Path

from saccade.models.reading import Reading
from saccade.models.search import Search, TreeNode
from saccade.models.settings import RnnSettings, TransformerSettings, TranslatorSettings, expect_joint_if_tied
from saccade.models.translation_net import TranslationNet, make_net, translation_loss
from saccade.models.translator import Translation, Translator


def load(folder: str | Path) -> Translator:
    """The model of a folder."""
    return Translator.load(Path(folder))


__all__ = [
    "Reading",
    "RnnSettings",
    "Search",
    "TransformerSettings",
    "Translation",
    "TranslationNet",
    "Translator",
    "TranslatorSettings",
    "TreeNode",
    "expect_joint_if_tied",
    "load",
    "make_net",
    "translation_loss",
]
