"""Translation, as the table of tasks has it."""

from saccade.tasks.kind import TaskKind
from saccade.tasks.translation.corpora import MADE, PUBLIC
from saccade.tasks.translation.data import Splits, load_splits
from saccade.tasks.translation.evaluate import EVALUATION
from saccade.tasks.translation.look import LOOK
from saccade.tasks.translation.model import Translator
from saccade.tasks.translation.recipe import TranslationRecipe
from saccade.tasks.translation.training import TranslationTask

KIND = TaskKind(
    name="translation",
    does="translates",
    use="saccade translate {model} FILE",
    recipe=TranslationRecipe,
    data=Splits,
    load_data=lambda recipe, tell: load_splits(recipe.data, tell),
    task=TranslationTask,
    model=Translator,
    evaluate=EVALUATION,
    look=LOOK,
    made=MADE,
    public=PUBLIC,
)
