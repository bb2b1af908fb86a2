"""The tasks that there are, and what belongs to each."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from saccade.errors import InputError
from saccade.tasks.algorithms import AlgorithmRecipe, AlgorithmSplits, AlgorithmTask
from saccade.tasks.caption_data import load_caption_splits
from saccade.tasks.captions import CaptionRecipe, CaptionTask
from saccade.tasks.classification import ClassificationRecipe, ClassificationTask, load_labelled_splits
from saccade.tasks.corpus import load_splits
from saccade.tasks.lines import LineRecipe, LineTask, load_line_splits
from saccade.tasks.pointing import PointingRecipe, PointingTask, load_problem_splits
from saccade.tasks.stories import StoryRecipe, StoryTask, load_story_splits
from saccade.tasks.translation import TranslationRecipe, TranslationTask
from saccade.train import Reporter, Task

Recipe = (
    TranslationRecipe
    | CaptionRecipe
    | ClassificationRecipe
    | LineRecipe
    | PointingRecipe
    | StoryRecipe
    | AlgorithmRecipe
)

_RECIPES: dict[str, type[Recipe]] = {
    "translation": TranslationRecipe,
    "captions": CaptionRecipe,
    "classification": ClassificationRecipe,
    "lines": LineRecipe,
    "pointing": PointingRecipe,
    "stories": StoryRecipe,
    "algorithm": AlgorithmRecipe,
}
_TASKS: dict[type[Recipe], Any] = {
    TranslationRecipe: TranslationTask,
    CaptionRecipe: CaptionTask,
    ClassificationRecipe: ClassificationTask,
    LineRecipe: LineTask,
    PointingRecipe: PointingTask,
    StoryRecipe: StoryTask,
    AlgorithmRecipe: AlgorithmTask,
}


def recipe_class(task: Any, *, where: str) -> type[Recipe]:
    """What the recipes of a task look like; one that names none is of translation."""
    if task is None:
        return TranslationRecipe
    if not isinstance(task, str) or task not in _RECIPES:
        raise InputError(f"{where}: task: found {task!r}, wanted one of {', '.join(_RECIPES)}")
    return _RECIPES[task]


class Data(NamedTuple):
    """What a recipe learns from, read but not yet made into a task."""

    recipe: Recipe
    splits: Any
    fingerprint: str

    def task(self, run: Path, reporter: Reporter) -> Task[Any]:
        """The task, in the folder of its run."""
        return _TASKS[type(self.recipe)](self.recipe, self.splits, run, reporter)


def load_data(recipe: Recipe, tell: Callable[[str], None] = lambda text: None) -> Data:
    """Read what a recipe learns from; `tell` is told what is left out of it."""
    if isinstance(recipe, TranslationRecipe):
        splits = load_splits(recipe.data, tell)
    elif isinstance(recipe, ClassificationRecipe):
        splits = load_labelled_splits(recipe.data, side=recipe.model.image_side)
    elif isinstance(recipe, LineRecipe):
        splits = load_line_splits(recipe.data, tell, side=recipe.model.height)
    elif isinstance(recipe, StoryRecipe):
        splits = load_story_splits(recipe.data)
    elif isinstance(recipe, AlgorithmRecipe):
        splits = AlgorithmSplits(recipe.data)
    elif isinstance(recipe, PointingRecipe):
        splits = load_problem_splits(recipe.data, recipe.model)
    else:
        splits = load_caption_splits(recipe.data, tell, side=recipe.eye.image_side)
    return Data(recipe, splits, splits.fingerprint())
