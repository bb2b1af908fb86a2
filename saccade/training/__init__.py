"""Training: the loop, schedules, checkpoints. Nothing here knows what is learnt."""

from saccade.training.callback import Callback, expect_callbacks
from saccade.training.checkpoint import Progress, load_checkpoint, save_checkpoint
from saccade.training.journal import Journal, read_journal
from saccade.training.loop import CHECKPOINT, average, describe, make_optimizer, train
from saccade.training.recipe import Recipe
from saccade.training.reporter import Bar, Lines, Reporter, Silent, make_reporter
from saccade.training.schedule import learning_rate
from saccade.training.settings import BatchTrainSettings, Count, TokenTrainSettings, TrainSettings
from saccade.training.stopping import Stopping
from saccade.training.task import Task, count_parameters
from saccade.training.transfer import NamedRows, Parts, Transfer, short_names, tell_unknown, transfer

__all__ = [
    "CHECKPOINT",
    "Bar",
    "BatchTrainSettings",
    "Callback",
    "Count",
    "Journal",
    "Lines",
    "NamedRows",
    "Parts",
    "Progress",
    "Recipe",
    "Reporter",
    "Silent",
    "Stopping",
    "Task",
    "TokenTrainSettings",
    "TrainSettings",
    "Transfer",
    "average",
    "count_parameters",
    "describe",
    "expect_callbacks",
    "learning_rate",
    "load_checkpoint",
    "make_optimizer",
    "make_reporter",
    "read_journal",
    "save_checkpoint",
    "short_names",
    "tell_unknown",
    "train",
    "transfer",
]
