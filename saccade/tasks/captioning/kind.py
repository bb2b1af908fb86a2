"""Captioning, as the table of tasks has it."""

from pathlib import Path

from saccade.tasks.captioning.corpora import SHAPES
from saccade.tasks.captioning.data import CaptionSplits, load_caption_splits
from saccade.tasks.captioning.evaluate import EVALUATION
from saccade.tasks.captioning.look import LOOK
from saccade.tasks.captioning.model import Captioner
from saccade.tasks.captioning.public import PUBLIC
from saccade.tasks.captioning.recipe import CaptionRecipe
from saccade.tasks.captioning.training import CaptionTask
from saccade.tasks.kind import TaskKind
from saccade.text import vocabulary_path

KIND = TaskKind(
    name="captioning",
    does="captions images",
    use="saccade caption {model} IMAGE",
    recipe=CaptionRecipe,
    data=CaptionSplits,
    load_data=lambda recipe, tell: load_caption_splits(recipe.data, tell, side=recipe.image_encoder.image_size),
    task=CaptionTask,
    task_with=CaptionTask,
    model=Captioner,
    evaluate=EVALUATION,
    look=LOOK,
    made=(SHAPES,),
    public=PUBLIC,
    vocabulary_texts=lambda recipe, splits: {
        vocabulary_path(recipe.vocabulary, Path()).stem: [text for one in splits.train for text in one.captions]
    },
)
