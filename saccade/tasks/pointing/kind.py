"""Pointing, as the table of tasks has it."""

from saccade.tasks.kind import TaskKind
from saccade.tasks.pointing.data import PointingSplits, load_problem_splits
from saccade.tasks.pointing.evaluate import EVALUATION
from saccade.tasks.pointing.look import LOOK
from saccade.tasks.pointing.model import PointerNetwork
from saccade.tasks.pointing.recipe import PointingRecipe
from saccade.tasks.pointing.training import PointingTask

KIND = TaskKind(
    name="pointing",
    does="points at inputs",
    use="saccade point {model} FILE",
    recipe=PointingRecipe,
    data=PointingSplits,
    load_data=lambda recipe, tell: load_problem_splits(recipe.data, recipe.model),
    task=PointingTask,
    model=PointerNetwork,
    evaluate=EVALUATION,
    look=LOOK,
)
