"""The options of a command that all tasks share: each task adds its own, and only those of the model's are taken."""

import argparse
from typing import Any, Protocol

from saccade.base.errors import InputError


class TakesOptions(Protocol):
    """What options are added to: a parser, or a task's share of one."""

    def add_argument(self, *names: str, **how: Any) -> Any: ...


class SharedOptions:
    """Options by task. Where two tasks take the same one, it is there once, as the first of them says it."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._parser = parser
        self._takers: dict[str, set[str]] = {}  # by the option's name: the tasks that take it
        self._usual: dict[str, Any] = {}

    def of(self, task: str, heading: str) -> TakesOptions:
        """Where a task adds its options; those that are new are listed under the heading."""
        return _Share(self._parser.add_argument_group(heading), task, self._takers, self._usual)

    def refuse_others(self, chosen: argparse.Namespace, task: str, why: str) -> None:
        """Raise if an option was chosen that only other tasks take."""
        for name, takers in self._takers.items():
            if task not in takers and getattr(chosen, name) != self._usual[name]:
                raise InputError(f"--{name.replace('_', '-')}: {why}")


class _Share:
    def __init__(
        self, group: argparse._ArgumentGroup, task: str, takers: dict[str, set[str]], usual: dict[str, Any]
    ) -> None:
        self._group, self._task, self._takers, self._usual = group, task, takers, usual

    def add_argument(self, *names: str, **how: Any) -> Any:
        name = how.get("dest") or names[-1].lstrip("-").replace("-", "_")
        if name in self._takers:
            self._takers[name].add(self._task)
            also = self._group.description
            self._group.description = f"{also}, {names[-1]}" if also else f"besides, from above: {names[-1]}"
            return
        action = self._group.add_argument(*names, **how)
        self._takers[name] = {self._task}
        self._usual[name] = action.default
