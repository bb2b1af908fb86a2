"""What is learnt: for each task its recipe, its data, its loss and its figures."""

from saccade.tasks.algorithms import AlgorithmRecipe, AlgorithmSplits, AlgorithmTask
from saccade.tasks.caption_data import CaptionDataSettings, CaptionSplits, load_caption_splits
from saccade.tasks.captions import CaptionRecipe, CaptionTask, score_pointing
from saccade.tasks.classification import ClassificationRecipe, ClassificationTask, load_labelled_splits
from saccade.tasks.corpus import DataSettings, Splits, load_splits
from saccade.tasks.kinds import Data, Recipe, load_data
from saccade.tasks.lines import LineRecipe, LineSplits, LineTask, load_line_splits
from saccade.tasks.pointing import PointingRecipe, PointingSplits, PointingTask, load_problem_splits, score_orders
from saccade.tasks.recipes import load_recipe, recipe_names, recipe_summary, recipe_text
from saccade.tasks.start import recipe_of_run, start_training
from saccade.tasks.stories import StoryRecipe, StorySplits, StoryTask, load_story_splits
from saccade.tasks.translation import TranslationRecipe, TranslationTask

__all__ = [
    "AlgorithmRecipe",
    "AlgorithmSplits",
    "AlgorithmTask",
    "CaptionDataSettings",
    "CaptionRecipe",
    "CaptionSplits",
    "CaptionTask",
    "ClassificationRecipe",
    "ClassificationTask",
    "Data",
    "DataSettings",
    "LineRecipe",
    "LineSplits",
    "LineTask",
    "PointingRecipe",
    "PointingSplits",
    "PointingTask",
    "Recipe",
    "Splits",
    "StoryRecipe",
    "StorySplits",
    "StoryTask",
    "TranslationRecipe",
    "TranslationTask",
    "load_caption_splits",
    "load_data",
    "load_labelled_splits",
    "load_line_splits",
    "load_problem_splits",
    "load_recipe",
    "load_splits",
    "load_story_splits",
    "recipe_names",
    "recipe_of_run",
    "recipe_summary",
    "recipe_text",
    "score_orders",
    "score_pointing",
    "start_training",
]
