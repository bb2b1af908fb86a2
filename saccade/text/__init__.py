"""Text: vocabularies, sentence files, batches by length."""

from saccade.text.batches import Batch, Batches, Example, make_batch, pad
from saccade.text.lines import read_texts
from saccade.text.noise import NoiseSettings, damage
from saccade.text.overlong import split_tokens, truncate_tokens
from saccade.text.pairs import Pair, expect_full, read_aligned, read_table, write_pairs
from saccade.text.questions import SEPARATOR, Question, join_question, read_questions, text_of_question
from saccade.text.vocabularies import (
    VOCABULARY,
    Vocabularies,
    VocabularySettings,
    complete_vocabularies,
    have_vocabularies,
    learn_vocabularies,
    learn_vocabulary,
    load_vocabularies,
    load_vocabulary,
    remove_vocabularies,
    save_vocabularies,
    texts_of,
    vocabulary_files,
    vocabulary_path,
)
from saccade.text.vocabularies.extended import Extended
from saccade.text.vocabularies.vocabulary import END, MASK, PAD, SPECIAL, START, UNKNOWN, Tokens, Vocabulary
from saccade.text.words import merge_to_words

__all__ = [
    "END",
    "MASK",
    "PAD",
    "SEPARATOR",
    "SPECIAL",
    "START",
    "UNKNOWN",
    "VOCABULARY",
    "Batch",
    "Batches",
    "Example",
    "Extended",
    "NoiseSettings",
    "Pair",
    "Question",
    "Tokens",
    "Vocabularies",
    "Vocabulary",
    "VocabularySettings",
    "complete_vocabularies",
    "damage",
    "expect_full",
    "have_vocabularies",
    "join_question",
    "learn_vocabularies",
    "learn_vocabulary",
    "load_vocabularies",
    "load_vocabulary",
    "make_batch",
    "merge_to_words",
    "pad",
    "read_aligned",
    "read_questions",
    "read_table",
    "read_texts",
    "remove_vocabularies",
    "save_vocabularies",
    "split_tokens",
    "text_of_question",
    "texts_of",
    "truncate_tokens",
    "vocabulary_files",
    "vocabulary_path",
    "write_pairs",
]
