"""Language modelling, as the table of tasks has it."""

from saccade.tasks.kind import TaskKind
from saccade.tasks.language_modeling.data import LanguageSplits, load_language_splits
from saccade.tasks.language_modeling.evaluate import EVALUATION
from saccade.tasks.language_modeling.look import LOOK
from saccade.tasks.language_modeling.model import LanguageModel
from saccade.tasks.language_modeling.public import PUBLIC
from saccade.tasks.language_modeling.recipe import LanguageRecipe
from saccade.tasks.language_modeling.training import LanguageTask

KIND = TaskKind(
    name="language_modeling",
    does="writes text",
    use='saccade generate {model} "PROMPT"',
    recipe=LanguageRecipe,
    data=LanguageSplits,
    load_data=lambda recipe, tell: load_language_splits(recipe.data, tell),
    task=LanguageTask,
    model=LanguageModel,
    evaluate=EVALUATION,
    look=LOOK,
    public=PUBLIC,
    vocabulary_texts=lambda recipe, splits: {"text": splits.train},
)
