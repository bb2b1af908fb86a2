"""Algorithms, as the table of tasks has it."""

from saccade.tasks.algorithms.evaluate import EVALUATION
from saccade.tasks.algorithms.look import LOOK
from saccade.tasks.algorithms.model import NeuralTuringMachine
from saccade.tasks.algorithms.recipe import AlgorithmRecipe
from saccade.tasks.algorithms.training import AlgorithmSplits, AlgorithmTask
from saccade.tasks.kind import TaskKind

KIND = TaskKind(
    name="algorithms",
    does="runs an algorithm",
    use="saccade evaluate {model}",
    recipe=AlgorithmRecipe,
    data=AlgorithmSplits,
    load_data=lambda recipe, tell: AlgorithmSplits(recipe.data),
    task=AlgorithmTask,
    model=NeuralTuringMachine,
    evaluate=EVALUATION,
    look=LOOK,
)
