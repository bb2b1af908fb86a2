"""Line reading, as the table of tasks has it."""

from saccade.tasks.kind import TaskKind
from saccade.tasks.line_reading.data import LineSplits, load_line_splits
from saccade.tasks.line_reading.evaluate import EVALUATION
from saccade.tasks.line_reading.look import LOOK
from saccade.tasks.line_reading.model import LineReader
from saccade.tasks.line_reading.recipe import LineRecipe
from saccade.tasks.line_reading.training import LineTask

KIND = TaskKind(
    name="line_reading",
    does="reads lines",
    use="saccade read {model} IMAGE",
    recipe=LineRecipe,
    data=LineSplits,
    load_data=lambda recipe, tell: load_line_splits(recipe.data, tell, side=recipe.model.height),
    task=LineTask,
    model=LineReader,
    evaluate=EVALUATION,
    look=LOOK,
    named_rows=lambda model: dict.fromkeys(
        ("columns.", "decoder.embedding.", "decoder.output."), model.vocabulary.pieces()
    ),
)
