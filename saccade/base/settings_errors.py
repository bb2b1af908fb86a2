"""What is wrong with settings, in the words of their file: the path of the key, what was found, what was wanted."""

import difflib
from collections.abc import Iterator, Sequence
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

Group = type[BaseModel]

# By pydantic's name for a mistake: what was wanted, with the numbers of its context.
_WANTED = {
    "bool_type": "true or false",
    "dict_type": "settings, one `name: value` a line",
    "finite_number": "a finite number",
    "float_type": "a number",
    "greater_than": "more than {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "int_from_float": "a whole number",
    "int_type": "a whole number",
    "less_than": "less than {lt:g}",
    "less_than_equal": "at most {le:g}",
    "list_type": "a list",
    "model_attributes_type": "settings, one `name: value` a line",
    "model_type": "settings, one `name: value` a line",
    "string_too_short": "at least {min_length} letters",
    "string_type": "text",
    "too_long": "a list of at most {max_length} items",
    "too_short": "a list of at least {min_length} items",
}


def did_you_mean(found: str, names: Sequence[str]) -> str:
    """The end of a message about an unknown name: the known one that is most like it, if any is."""
    near = difflib.get_close_matches(found, names, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def short(value: object) -> str:
    """What was found, as messages show it."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def explain(kind: Group, details: dict[str, Any]) -> str:
    """One of pydantic's mistakes (`ValidationError.errors()`) in settings that should have been of that kind."""
    path, groups, annotations = _follow(kind, details["loc"])
    where, mistake, context = ".".join(path), details["type"], details.get("ctx", {})
    if mistake == "extra_forbidden":
        known = sorted({name for group in groups for name in group.model_fields})
        hint = did_you_mean(path[-1], known) or f"; there are {', '.join(known)}"
        return f"{where}: no such setting{hint}"
    if mistake in {"value_error", "assertion_error"}:  # a sentence of our own
        return ": ".join(filter(None, [where, str(context["error"])]))
    choices = [str(one) for annotation in annotations for one in _literals(annotation)]
    if mistake in {"missing", "union_tag_not_found", "union_tag_invalid"}:
        inner = [group for annotation in annotations for group in groups_in(annotation)]
        if mistake != "missing":  # one group of several, chosen by its `kind`
            where, choices = f"{where}.kind", [str(one) for group in inner for one in kinds_of(group)]
        if mistake != "union_tag_invalid":
            return f"{where}: missing; it has to be given"
        return _not_among(where, context["tag"], choices)
    if mistake == "literal_error" and choices:
        return _not_among(where, details["input"], choices)
    wanted = _WANTED[mistake].format(**context) if mistake in _WANTED else details["msg"]
    return f"{where}: found {short(details['input'])}, wanted {wanted}"


def _not_among(where: str, found: object, choices: Sequence[str]) -> str:
    wanted = choices[0] if len(choices) == 1 else f"one of {', '.join(choices)}"
    return f"{where}: found {short(found)}, wanted {wanted}{did_you_mean(str(found), choices)}"


def _follow(kind: Group, location: Sequence[int | str]) -> tuple[list[str], list[Group], list[object]]:
    """The path of a setting as the user wrote it, the groups that its last name was looked up in, and its types there.

    Where a setting is one of several groups, pydantic adds the `kind` that chose between them; users do not.
    """
    path: list[str] = []
    groups, previous = [kind], [kind]
    types: list[object] = []
    for part in location:
        chosen = [group for group in groups if len(groups) > 1 and part in kinds_of(group)]
        if chosen:
            groups = chosen
            continue
        path.append(str(part))
        previous = groups
        if not isinstance(part, int):  # the items of a list are of the types of the list
            types = [*(group.model_fields[part].annotation for group in groups if part in group.model_fields)]
        groups = [inner for annotation in types for inner in groups_in(annotation)]
    return path, previous, types


def kinds_of(group: Group) -> Sequence[object]:
    """What the `kind` of a group may be, if it has one."""
    return tuple(_literals(group.model_fields["kind"].annotation)) if "kind" in group.model_fields else ()


def _literals(annotation: object) -> Iterator[object]:
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    else:
        for part in get_args(annotation):
            yield from _literals(part)


def groups_in(annotation: object) -> list[Group]:
    """The groups of settings that a type has room for."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [group for part in get_args(annotation) for group in groups_in(part)]
