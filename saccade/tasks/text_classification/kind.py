"""Text classification, as the table of tasks has it."""

from saccade.tasks.kind import TaskKind
from saccade.tasks.text_classification.corpora import REVIEWS
from saccade.tasks.text_classification.data import LabelledTexts, load_labelled_texts
from saccade.tasks.text_classification.evaluate import EVALUATION
from saccade.tasks.text_classification.look import LOOK
from saccade.tasks.text_classification.model import TextClassifier
from saccade.tasks.text_classification.recipe import TextClassificationRecipe
from saccade.tasks.text_classification.training import TextClassificationTask

KIND = TaskKind(
    name="text_classification",
    does="classifies texts",
    use="saccade label {model} FILE",
    recipe=TextClassificationRecipe,
    data=LabelledTexts,
    load_data=lambda recipe, tell: load_labelled_texts(recipe.data, tell),
    task=TextClassificationTask,
    model=TextClassifier,
    evaluate=EVALUATION,
    look=LOOK,
    made=[REVIEWS],
    starts_from={"language_modeling": [("", "decoder.")]},
    vocabulary_texts=lambda recipe, splits: {"text": splits.corpus()},
    named_rows=lambda model: {"labels.": model.settings.labels},
)
