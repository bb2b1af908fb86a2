"""Classification, as the table of tasks has it."""

from saccade.tasks.classification.data import LabelledSplits, load_labelled_splits
from saccade.tasks.classification.evaluate import EVALUATION
from saccade.tasks.classification.look import LOOK
from saccade.tasks.classification.model import Classifier
from saccade.tasks.classification.public import PUBLIC
from saccade.tasks.classification.recipe import ClassificationRecipe
from saccade.tasks.classification.training import ClassificationTask
from saccade.tasks.kind import TaskKind

KIND = TaskKind(
    name="classification",
    does="classifies images",
    use="saccade classify {model} IMAGE",
    recipe=ClassificationRecipe,
    data=LabelledSplits,
    load_data=lambda recipe, tell: load_labelled_splits(recipe.data, side=recipe.model.image_size),
    task=ClassificationTask,
    model=Classifier,
    evaluate=EVALUATION,
    look=LOOK,
    public=PUBLIC,
    named_rows=lambda model: {"classes.": model.settings.classes, "looker.classes.": model.settings.classes},
)
