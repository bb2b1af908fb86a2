"""What a task says of itself: all that the shared commands, `saccade.load` and `saccade.train` know of it."""

import argparse
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from saccade.base.errors import InputError
from saccade.base.settings import did_you_mean
from saccade.console.drawing import Drawing
from saccade.console.options import TakesOptions
from saccade.tasks import TASKS
from saccade.tasks.model import Model, Modules
from saccade.tasks.public_set import PublicSet
from saccade.text.vocabularies.growing import LearntFrom
from saccade.training import Parts, Recipe, Reporter, Task


class Data(Protocol):
    """What is learnt from, read but not yet made into a task."""

    def fingerprint(self) -> str:
        """A short text that other data does not have."""
        ...


RecipeT = TypeVar("RecipeT", bound=Recipe[Any, Any])
DataT = TypeVar("DataT", bound=Data)
ModelT = TypeVar("ModelT", bound=Model[Any, Any])

Tell = Callable[[str], None]  # is told what is left out of the data


@dataclass(frozen=True)
class Evaluation(Generic[ModelT]):
    """`saccade evaluate` of one task."""

    wanted: str  # which options it takes, in words
    run: Callable[[argparse.Namespace, ModelT], int | None]
    add_options: Callable[[TakesOptions], None] = lambda parser: None


@dataclass(frozen=True)
class Look(Generic[ModelT]):
    """`saccade look` of one task: from the words behind the model, `chosen.inputs`, to what is drawn."""

    wanted: str  # which words these are
    draw: Callable[[argparse.Namespace, ModelT], Drawing]
    add_options: Callable[[TakesOptions], None] = lambda parser: None
    check: Callable[[argparse.Namespace], None] = lambda chosen: None  # what can be refused before the model is read


@dataclass(frozen=True)
class MadeCorpus:
    """`saccade data make` of one corpus that a task can learn from."""

    name: str
    help: str
    description: str
    add_options: Callable[[TakesOptions], None]
    write: Callable[[argparse.Namespace], None]  # what comes of `chosen.seed`, into `chosen.out`, and say where it is


@dataclass(frozen=True, kw_only=True)
class TaskKind(Generic[RecipeT, DataT, ModelT]):
    """One task, with all that belongs to it.

    With `train.start_from=MODEL`, a training begins with the weights and the vocabulary of another model. One of the
    same task always will do; of which others, and what of them is taken, stands in `starts_from`:

        starts_from={"language_modeling": [("", "decoder.")]}

    takes all of a language model's net (every name begins with "") as the part `decoder.` of ours; what ours has
    besides is new. The files of the other model's vocabulary are put into the run's folder `vocabulary` before the task
    is made, which has to take what it finds there in place of learning its own, as it does when a training goes on.
    """

    name: str  # of its folder, and what recipes and models say as their `task`
    does: str  # "translates", for messages
    use: str  # the command for a finished model, with {model} for its folder and {settings} for what it was trained by
    recipe: type[RecipeT]
    data: type[DataT]
    load_data: Callable[[RecipeT, Tell], DataT]
    task: Callable[[RecipeT, DataT, Path, Reporter], Task[Any, Any]]
    task_with: Callable[[RecipeT, DataT, Path, Reporter, Modules], Task[Any, Any]] | None = None
    model: type[ModelT]
    evaluate: Evaluation[ModelT]
    look: Look[ModelT] | None = None
    made: Sequence[MadeCorpus] = ()
    public: Sequence[PublicSet] = ()  # what `saccade data get` brings
    # for each other task that a model may come from: a prefix of names in its net, and what it is in ours
    starts_from: Mapping[str, Parts] = field(default_factory=dict)
    # what each vocabulary is learnt from, by the name of its file without the ending: so that one can grow
    vocabulary_texts: Callable[[RecipeT, DataT], Mapping[str, LearntFrom]] | None = None
    # for prefixes of names in our net, what the rows stand for, such as classes: they are taken over by name
    named_rows: Callable[[ModelT], Mapping[str, Sequence[str]]] = lambda model: {}

    def parts_from(self, task: str) -> Parts | None:
        """What our net takes of one of that task; None if it can take nothing."""
        return {**self.starts_from, self.name: [("", "")]}.get(task)

    def expect(self, data: object, modules: Modules) -> None:
        """Raise unless this task can learn from such data, with such parts of the user's own."""
        if data is not None and not isinstance(data, self.data):
            wanted = f"{self.data.__module__}.{self.data.__name__}"
            raise InputError(f"data: found {type(data).__name__}, wanted {wanted}, which {self.name} learns from")
        if modules and self.task_with is None:
            raise InputError(f"modules: found {', '.join(modules)}; a model that {self.does} has no part of one's own")

    def make_task(
        self, recipe: RecipeT, data: DataT, run: Path, reporter: Reporter, *, modules: Modules
    ) -> Task[Any, Any]:
        """What the training loop wants, for a run in the folder `run`."""
        if modules and self.task_with is not None:
            return self.task_with(recipe, data, run, reporter, modules)
        return self.task(recipe, data, run, reporter)


AnyKind = TaskKind[Any, Any, Any]


def kind_of(task: object, *, where: str) -> AnyKind:
    """The task of that name, which `where` gives."""
    if not isinstance(task, str) or task not in TASKS:
        hint = did_you_mean(str(task), TASKS)
        raise InputError(f"{where}: task: found {task!r}, wanted one of {', '.join(TASKS)}{hint}")
    return importlib.import_module(f"saccade.tasks.{task}.kind").KIND


def all_kinds() -> list[AnyKind]:
    """Every task, in the order of the table."""
    return [kind_of(task, where="TASKS") for task in TASKS]
