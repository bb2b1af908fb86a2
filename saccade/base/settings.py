"""Settings: typed, read from YAML, and refused with every mistake named at once."""

import re
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from saccade.base.errors import InputError
from saccade.base.files import read_own
from saccade.base.settings_errors import did_you_mean, explain, groups_in, kinds_of, short

# Far more than any recipe has, and little enough to be read in no time.
MOST_BYTES = 1 << 20
_MOST_DEPTH, _MOST_VALUES = 20, 50_000


class Settings(BaseModel):
    """A group of settings. Unknown names are refused, and so are values of another type than the one declared."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, protected_namespaces=())


Kind = TypeVar("Kind", bound=Settings)

_IS_PATH = object()
DataPath = Annotated[str, _IS_PATH]  # where something lies that is learnt from; `located` finds it elsewhere, too


def one_of(names: Sequence[str]) -> AfterValidator:
    """A check for `Annotated[str, ...]`, where the names are known at run time only."""

    def check(found: str) -> str:
        if found not in names:
            raise ValueError(f"found {found!r}, wanted one of {', '.join(names)}{did_you_mean(found, names)}")
        return found

    return AfterValidator(check)


def check_settings(kind: type[Kind], values: object, *, where: str) -> Kind:
    """The settings `values` of `where` as a `kind`, or an `InputError` that names every mistake in them."""
    if not isinstance(values, dict):
        raise InputError(f"{where}: found {short(values)}, wanted settings, one `name: value` a line")
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        mistakes = [explain(kind, details) for details in error.errors()]  # pyright: ignore[reportArgumentType]
        raise InputError(f"{where}: {'; '.join(dict.fromkeys(mistakes))}") from None


class _Loader(yaml.SafeLoader):
    """YAML 1.2's plain values: `no` is a word (and Norwegian), 1e-3 a number, 12:30 a text. No key twice."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's way

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "wanted a name before the colon", key.start_mark)
            if key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key.value} is set twice", node.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


for _tag, _pattern, _first in (
    ("null", r"null|~|", ["n", "~", ""]),
    ("bool", r"true|false", ["t", "f"]),
    ("int", r"[-+]?[0-9]+", list("-+0123456789")),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.inf", list("-+.0123456789")),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_pattern})$"), _first)


def parse_yaml(text: str, *, where: str) -> Any:
    """What a YAML text says; a mistake in it is an `InputError` with its line. What strangers wrote may be parsed."""
    if len(text) > MOST_BYTES:
        raise InputError(f"{where}: {len(text):,} characters, wanted at most {MOST_BYTES:,}; these are no settings")
    try:
        _expect_plain(text)
        return yaml.load(text, _Loader)  # noqa: S506 - it is a SafeLoader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = f", line {mark.line + 1}" if mark else ""
        raise InputError(f"{where}{line}: {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(f"{where}: cannot be read as YAML: {' '.join(str(error).split())}") from None


def _expect_plain(text: str) -> None:
    """Raise unless it is values, lists and names of a bounded number and depth, without tags.

    The parser's events are counted before anything is made of them; an alias counts as all that it stands for.
    """
    total, began = 0, []  # values so far, and how many there were, with which anchor, as each open list began
    sizes: dict[str, int] = {}  # of what an anchor names
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, before = began.pop()
            sizes |= {} if anchor is None else {anchor: total - before}
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                raise yaml.MarkedYAMLError(problem=f"nothing is called *{event.anchor}", problem_mark=event.start_mark)
            total += sizes[event.anchor]
        elif isinstance(event, yaml.NodeEvent):
            if event.tag is not None:  # pyright: ignore[reportAttributeAccessIssue] - scalars and lists have one
                raise yaml.MarkedYAMLError(problem="tags (!) mean nothing here", problem_mark=event.start_mark)
            total += 1
            if isinstance(event, yaml.CollectionStartEvent):
                began.append((event.anchor, total - 1))
            elif isinstance(event, yaml.ScalarEvent):
                event.value.encode()  # half a character, as "\uD800" is, is no text
                sizes |= {} if event.anchor is None else {event.anchor: 1}
        if len(began) > _MOST_DEPTH or total > _MOST_VALUES:
            wanted = f"at most {_MOST_VALUES:,} values, {_MOST_DEPTH} deep"
            raise yaml.MarkedYAMLError(problem=f"too much: wanted {wanted}", problem_mark=event.start_mark)


def read_yaml(path: Path) -> Any:
    """What a YAML file of a model or a run says."""
    return parse_yaml(decode_text(read_own(path, most=MOST_BYTES), str(path)), where=str(path))


def decode_text(content: bytes, name: str) -> str:
    """The text of a file called `name`."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{name}: not UTF-8; convert the file, for example with iconv") from None


def write_yaml(settings: Settings) -> str:
    """Settings as YAML, in their declared order."""
    return yaml.safe_dump(settings.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


def override(values: dict[str, Any], assignments: Sequence[str]) -> dict[str, Any]:
    """`values` with each `path.to.key=value` set, the value read as YAML."""
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        if not equals or not all(path.split(".")):
            raise InputError(f"found {assignment!r}, wanted key=value such as train.steps=2000")
        values = _set(values, path.split("."), parse_yaml(text, where=path))
    return values


def _set(values: dict[str, Any], path: list[str], value: object) -> dict[str, Any]:
    first, *rest = path
    if not rest:
        return {**values, first: value}
    inner = values.get(first)
    if inner is not None and not isinstance(inner, dict):
        inner = {}  # `data.train.source=a` after `data.train: pairs.tsv` means the new form
    return {**values, first: _set(inner or {}, rest, value)}


def without_leftovers(kind: type[Settings], values: dict[str, Any], assignments: Sequence[str]) -> dict[str, Any]:
    """`values` without what was said for another `kind` of a group than the one that an assignment chose.

    After `image_encoder.kind=small`, the settings of the encoder that was there before mean nothing; those that are
    assigned stay.
    """
    assigned = {assignment.partition("=")[0] for assignment in assignments}
    for name in (path.removesuffix(".kind") for path in assigned if path.endswith(".kind")):
        field, inner = kind.model_fields.get(name), values.get(name)
        if field is None or not isinstance(inner, dict):
            continue
        groups = groups_in(field.annotation)
        chosen = [group for group in groups if inner["kind"] in kinds_of(group)]
        if len(groups) > 1 and chosen:
            known = {key for group in chosen for key in group.model_fields}
            values = {**values, name: {key: inner[key] for key in inner if key in known or f"{name}.{key}" in assigned}}
    return values


def differences(old: Settings, new: Settings) -> list[str]:
    """Every setting that differs, as `path: old -> new`."""
    before, after = _flat(old.model_dump(mode="json")), _flat(new.model_dump(mode="json"))
    paths = dict.fromkeys([*before, *after])
    return [
        f"{path}: {before.get(path, 'unset')} -> {after.get(path, 'unset')}"
        for path in paths
        if before.get(path) != after.get(path)
    ]


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return flat


def path_settings(settings: Settings, prefix: str = "") -> dict[str, str]:
    """Every setting that says where something lies, by its `path.to.key`."""
    found: dict[str, str] = {}
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        if isinstance(value, Settings):
            found |= path_settings(value, f"{prefix}{name}.")
        elif value is not None and _is_path(field):
            found[prefix + name] = value if isinstance(value, str) else f"[{','.join(value)}]"
    return found


def _is_path(field: FieldInfo) -> bool:
    """Whether it is a `DataPath`, or a list of them; either may be None."""
    return _IS_PATH in field.metadata or _has_path(field.annotation)


def _has_path(annotation: object) -> bool:
    return _IS_PATH in getattr(annotation, "__metadata__", ()) or any(map(_has_path, get_args(annotation)))


def located(settings: Kind, folders: Sequence[Path]) -> Kind:
    """The same settings with each path as it leads from the first of the folders where something lies at its end."""
    changes: dict[str, Any] = {}
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        if isinstance(value, Settings):
            changes[name] = located(value, folders)
        elif value is not None and _is_path(field):
            changes[name] = (
                _found(value, folders) if isinstance(value, str) else [_found(path, folders) for path in value]
            )
    return settings.model_copy(update=changes)


def _found(path: str, folders: Sequence[Path]) -> str:
    return next((str(folder / path) for folder in folders if (folder / path).exists()), path)
