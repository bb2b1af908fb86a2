"""Story qa, as the table of tasks has it."""

from saccade.tasks.kind import TaskKind
from saccade.tasks.story_qa.corpora import STORIES
from saccade.tasks.story_qa.data import StorySplits, load_story_splits
from saccade.tasks.story_qa.evaluate import EVALUATION
from saccade.tasks.story_qa.look import LOOK
from saccade.tasks.story_qa.model import MemoryNetwork
from saccade.tasks.story_qa.public import PUBLIC
from saccade.tasks.story_qa.recipe import StoryRecipe
from saccade.tasks.story_qa.training import StoryTask

KIND = TaskKind(
    name="story_qa",
    does="answers questions",
    use='saccade ask {model} "STORY" "QUESTION"',
    recipe=StoryRecipe,
    data=StorySplits,
    load_data=lambda recipe, tell: load_story_splits(recipe.data),
    task=StoryTask,
    model=MemoryNetwork,
    evaluate=EVALUATION,
    look=LOOK,
    made=(STORIES,),
    public=PUBLIC,
    named_rows=lambda model: {"embedding": model.words.words, "output": model.words.words},
)
