"""What models learn from: pairs of sentences, vocabularies, batches, and corpora that the package makes itself."""

from saccade.data.algorithms import AlgorithmSettings, Episodes, best_guesses, make_episodes
from saccade.data.batches import Batch, Batches, Cursor, Example, make_batch, pad
from saccade.data.boxes import Box, Noun
from saccade.data.captions import Captioned, read_captions, read_names
from saccade.data.dates import DATE_LOCALES, Dates, date_links
from saccade.data.digits import make_digits
from saccade.data.images import Pixels, as_png, picture_for_pages, read_image, read_strip
from saccade.data.labelled import IMAGE_ENDINGS, Labelled, ShuffledPlaces, read_labelled
from saccade.data.lines import Lines, make_lines
from saccade.data.made import Corpus, expect_free, split_corpus, write_splits
from saccade.data.made_stories import make_stories
from saccade.data.numbers import NUMBER_LANGUAGES, Numbers
from saccade.data.overlong import split_tokens, truncate_tokens
from saccade.data.pairs import Pair, expect_full, read_aligned, read_table, write_pairs
from saccade.data.pointing import Problem, ProblemKind, convex_hull, make_problems, sorted_order
from saccade.data.problem_files import check_inputs, parse_inputs, read_problems
from saccade.data.public import SETS, get_public_set
from saccade.data.shapes import Scene, make_scenes, write_scenes
from saccade.data.stories import Question, question_of, read_stories, split_sentences, story_words, write_stories
from saccade.data.story_arrays import StoryArrays, StoryWords, encode_stories
from saccade.data.vocabularies import (
    END,
    PAD,
    START,
    UNKNOWN,
    Tokens,
    Vocabularies,
    Vocabulary,
    VocabularySettings,
    have_vocabularies,
    learn_vocabularies,
    learn_vocabulary,
    load_vocabularies,
    load_vocabulary,
    remove_vocabularies,
    save_vocabularies,
    vocabulary_files,
    vocabulary_path,
)
from saccade.data.words import merge_to_words

__all__ = [
    "DATE_LOCALES",
    "END",
    "IMAGE_ENDINGS",
    "NUMBER_LANGUAGES",
    "PAD",
    "SETS",
    "START",
    "UNKNOWN",
    "AlgorithmSettings",
    "Batch",
    "Batches",
    "Box",
    "Captioned",
    "Corpus",
    "Cursor",
    "Dates",
    "Episodes",
    "Example",
    "Labelled",
    "Lines",
    "Noun",
    "Numbers",
    "Pair",
    "Pixels",
    "Problem",
    "ProblemKind",
    "Question",
    "Scene",
    "ShuffledPlaces",
    "StoryArrays",
    "StoryWords",
    "Tokens",
    "Vocabularies",
    "Vocabulary",
    "VocabularySettings",
    "as_png",
    "best_guesses",
    "check_inputs",
    "convex_hull",
    "date_links",
    "encode_stories",
    "expect_free",
    "expect_full",
    "get_public_set",
    "have_vocabularies",
    "learn_vocabularies",
    "learn_vocabulary",
    "load_vocabularies",
    "load_vocabulary",
    "make_batch",
    "make_digits",
    "make_episodes",
    "make_lines",
    "make_problems",
    "make_scenes",
    "make_stories",
    "merge_to_words",
    "pad",
    "parse_inputs",
    "picture_for_pages",
    "question_of",
    "read_aligned",
    "read_captions",
    "read_image",
    "read_labelled",
    "read_names",
    "read_problems",
    "read_stories",
    "read_strip",
    "read_table",
    "remove_vocabularies",
    "save_vocabularies",
    "sorted_order",
    "split_corpus",
    "split_sentences",
    "split_tokens",
    "story_words",
    "truncate_tokens",
    "vocabulary_files",
    "vocabulary_path",
    "write_pairs",
    "write_scenes",
    "write_splits",
    "write_stories",
]
