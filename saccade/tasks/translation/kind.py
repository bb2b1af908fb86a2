"""Translation, as the table of tasks has it."""

from saccade.tasks.kind import TaskKind
from saccade.tasks.translation.corpora import MADE
from saccade.tasks.translation.data import Splits, load_splits
from saccade.tasks.translation.evaluate import EVALUATION
from saccade.tasks.translation.look import LOOK
from saccade.tasks.translation.model import Translator
from saccade.tasks.translation.public import PUBLIC
from saccade.tasks.translation.recipe import TranslationRecipe
from saccade.tasks.translation.training import TranslationTask
from saccade.text import texts_of

KIND = TaskKind(
    name="translation",
    does="translates",
    use="saccade {settings.purpose} {model} FILE",
    recipe=TranslationRecipe,
    data=Splits,
    load_data=lambda recipe, tell: load_splits(recipe.data, tell, purpose=recipe.purpose),
    task=TranslationTask,
    model=Translator,
    evaluate=EVALUATION,
    look=LOOK,
    made=MADE,
    public=PUBLIC,
    # the decoder of a language model; what looks at the source is new, and so is what reads what was seen there
    starts_from={
        "language_modeling": [
            (f"{part}.", f"decoder.{part}.") for part in ("tokens", "layers", "norm", "output", "embedding", "rnn")
        ]
    },
    vocabulary_texts=lambda recipe, splits: texts_of(splits.train, joint=recipe.vocabulary.joint),
)
