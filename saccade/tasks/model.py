"""What every model is, whatever its task."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from torch import nn

from saccade.base.errors import InputError
from saccade.base.files import make_folder
from saccade.base.model_folder import expect_own, load_model, model_folder, read_settings, write_model
from saccade.base.settings import Settings
from saccade.look import AttentionMap
from saccade.nets import evaluating
from saccade.runtime.prepared import Precision, PreparedCache

Modules = Mapping[str, nn.Module]  # parts of a model that are the user's own, by the name that the task gives them
SettingsT = TypeVar("SettingsT", bound=Settings)
NetT = TypeVar("NetT", bound=nn.Module)


class Model(ABC, Generic[SettingsT, NetT]):
    """A net with all that it needs to be used. `saccade.load(folder)` gives one."""

    config: ClassVar[type[Any]]  # what `settings` is: the folder's config.yaml
    net: NetT
    settings: SettingsT

    @classmethod
    @abstractmethod
    def maker(cls, settings: SettingsT, folder: Path) -> Callable[[], Self]:
        """Read what belongs to the model besides settings and weights; gives what makes the model, as yet untrained."""

    @classmethod
    def maker_with(cls, settings: SettingsT, folder: Path, modules: Modules) -> Callable[[], Self]:
        """The same with parts of the user's own, for models that have some."""
        raise InputError(f"modules: found {', '.join(modules)}; a {cls.__name__} has no part of one's own")

    def save_files(self, folder: Path) -> list[Path]:
        """Write what belongs to the model besides settings and weights, and say what was written."""
        return []

    @abstractmethod
    def maps(self, result: Any) -> list[AttentionMap]:
        """The attention maps of one of its results, which was asked for with `attention=True`."""

    def __repr__(self) -> str:
        """What it is and how large, in a line."""
        return f"{type(self).__name__}({sum(parameter.numel() for parameter in self.net.parameters()):,} parameters)"

    @cached_property
    def _prepared(self) -> PreparedCache:
        return PreparedCache()

    @contextmanager
    def running(self, precision: Precision = "float32") -> Iterator[None]:
        """Use the net, without dropout and gradients, by what is prepared of its weights; for any number of threads."""
        with evaluating(self.net), self._prepared.of(self.net, precision).use():
            yield

    def __getstate__(self) -> dict[str, Any]:
        """What is prepared stays here: a copy has weights of its own."""
        return {name: value for name, value in self.__dict__.items() if name != "_prepared"}

    @classmethod
    def load(cls, folder: str | Path, *, modules: Modules | None = None) -> Self:
        """The model of a folder that `save` wrote; of a run's folder, the best that it has so far.

        modules  parts of it that are your own, as they were handed to `train`; copies of them get their weights
        """
        where = model_folder(Path(folder))
        settings = read_settings(cls.config, where)
        return load_model(cls.maker_with(settings, where, modules) if modules else cls.maker(settings, where), where)

    def save(self, folder: str | Path) -> None:
        """Write the model's folder; the weights last, so that a folder that has them is whole.

        A folder with other things in it is refused.
        """
        where = Path(folder)
        expect_own(where)
        make_folder(where)
        write_model(where, self.settings, self.net, files=self.save_files(where))
