"""What models learn from: pairs of sentences, vocabularies, batches, and corpora that the package makes itself."""

from saccade.data.batches import Batch, Batches, Cursor, Example, make_batch, pad
from saccade.data.captions import Captioned, read_captions, read_names
from saccade.data.dates import DATE_LOCALES, Dates, date_links
from saccade.data.digits import make_digits
from saccade.data.images import Pixels, as_png, picture_for_pages, read_image, read_strip
from saccade.data.labelled import IMAGE_ENDINGS, Labelled, ShuffledPlaces, read_labelled
from saccade.data.lines import Lines, make_lines
from saccade.data.made import Corpus, expect_free, split_corpus, write_splits
from saccade.data.numbers import NUMBER_LANGUAGES, Numbers
from saccade.data.pairs import Pair, expect_full, read_aligned, read_table, write_pairs
from saccade.data.public import SETS, get_public_set
from saccade.data.shapes import Box, Noun, Scene, make_scenes, write_scenes
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
    save_vocabularies,
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
    "Batch",
    "Batches",
    "Box",
    "Captioned",
    "Corpus",
    "Cursor",
    "Dates",
    "Example",
    "Labelled",
    "Lines",
    "Noun",
    "Numbers",
    "Pair",
    "Pixels",
    "Scene",
    "ShuffledPlaces",
    "Tokens",
    "Vocabularies",
    "Vocabulary",
    "VocabularySettings",
    "as_png",
    "date_links",
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
    "make_lines",
    "make_scenes",
    "merge_to_words",
    "pad",
    "picture_for_pages",
    "read_aligned",
    "read_captions",
    "read_image",
    "read_labelled",
    "read_names",
    "read_strip",
    "read_table",
    "save_vocabularies",
    "split_corpus",
    "vocabulary_path",
    "write_pairs",
    "write_scenes",
    "write_splits",
]
