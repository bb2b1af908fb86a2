"""Training: the loop, schedules, checkpoints. Nothing here knows what is learnt."""

from saccade.train.checkpoint import Progress, load_checkpoint, save_checkpoint
from saccade.train.journal import Journal, read_journal
from saccade.train.loop import CHECKPOINT, average, describe, make_optimizer, train
from saccade.train.progress import Bar, Lines, Reporter, Silent, make_reporter
from saccade.train.schedule import learning_rate
from saccade.train.settings import ImageTrainSettings, TokenTrainSettings, TrainSettings
from saccade.train.stopping import Stopping
from saccade.train.task import Task

__all__ = [
    "CHECKPOINT",
    "Bar",
    "ImageTrainSettings",
    "Journal",
    "Lines",
    "Progress",
    "Reporter",
    "Silent",
    "Stopping",
    "Task",
    "TokenTrainSettings",
    "TrainSettings",
    "average",
    "describe",
    "learning_rate",
    "load_checkpoint",
    "make_optimizer",
    "make_reporter",
    "read_journal",
    "save_checkpoint",
    "train",
]
