"""Files of problems whose answer is an order of their inputs.

problems.jsonl   {"inputs": [[0.1, 0.7], [0.4, 0.2], ...], "answer": [1, 0, ...]}   a problem a line
                 {"inputs": [0.3, 0.1], "answer": [1, 0]}                           numbers need no brackets each
to be solved     the same without an answer, or the inputs alone: [[0.1, 0.7], ...], [3, 1, 2], or plainly 3 1 2
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from saccade.base.errors import InputError
from saccade.base.files import read_lines
from saccade.base.parse_json import parse_json
from saccade.tasks.pointing.problems import Problem

_ANSWERED = '{"inputs": [...], "answer": [...]}'


def read_problems(path: Path, *, distinct: bool = True) -> list[Problem]:
    """The problems of a file, each with its answer; with `distinct`, no answer may name an input twice."""
    found: list[Problem] = []
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        record = parse_json(line, where, wanted=_ANSWERED)
        if not isinstance(record, dict) or "inputs" not in record or "answer" not in record:
            raise InputError(f"{where}: wanted {_ANSWERED}")
        inputs = check_inputs(record["inputs"], where)
        found.append(Problem(inputs, _checked_answer(record["answer"], len(inputs), where, distinct=distinct)))
    if not found:
        raise InputError(f"{path} is empty; it needs a problem a line: {_ANSWERED}")
    sizes = [len(problem.inputs[0]) for problem in found]
    if len(set(sizes)) > 1:
        strange = next(number for number, size in enumerate(sizes, start=1) if size != sizes[0])
        raise InputError(
            f"{path}: the inputs of problem {strange} have {sizes[strange - 1]} numbers each, those of the first"
            f" {sizes[0]}; wanted the same in all"
        )
    return found


def parse_inputs(line: str, where: str) -> list[list[float]]:
    """The inputs of one line: JSON, or numbers with spaces or commas between them."""
    if line.lstrip().startswith(("[", "{")):
        record = parse_json(line, where, wanted='{"inputs": [...]}, or a list of numbers')
        if isinstance(record, dict) and "inputs" not in record:
            raise InputError(f'{where}: found no "inputs", wanted {{"inputs": [...]}}')
        return check_inputs(record["inputs"] if isinstance(record, dict) else record, where)
    words = line.replace(",", " ").split()
    try:
        return check_inputs([float(word) for word in words], where)
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{where}: found {line[:60]!r}, wanted numbers such as 3 1 2, or JSON") from None


def check_inputs(inputs: Any, where: str) -> list[list[float]]:
    """Inputs as lists of finite numbers, all of one length; numbers by themselves are lists of one."""
    if not isinstance(inputs, Sequence) or isinstance(inputs, str) or not inputs:
        raise InputError(f"{where}: found no list of inputs, wanted numbers, or points as lists of numbers")
    rows = [list(one) if isinstance(one, Sequence) and not isinstance(one, str) else [one] for one in inputs]
    for index, row in enumerate(rows):
        if len(row) != len(rows[0]) or not row:
            raise InputError(
                f"{where}: input {index} has {len(row)} numbers, wanted {max(len(rows[0]), 1)}, as the first has"
            )
        strange = [number for number in row if not _is_number(number)]
        if strange:
            raise InputError(f"{where}: found {strange[0]!r} in input {index}, wanted a finite number")
    return [[float(number) for number in row] for row in rows]


def _is_number(value: Any) -> bool:
    try:
        return not isinstance(value, bool | str) and math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def _checked_answer(answer: Any, count: int, where: str, *, distinct: bool) -> list[int]:
    if not isinstance(answer, list) or not answer:
        raise InputError(f"{where}: found no answer, wanted a list of indices in the inputs, counted from 0")
    for index in answer:
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < count:
            raise InputError(f"{where}: found {index!r} in the answer, wanted indices from 0 to {count - 1}")
    if distinct and len(set(answer)) < len(answer):
        twice = next(index for index in answer if answer.count(index) > 1)
        raise InputError(
            f"{where}: the answer names input {twice} twice; wanted each at most once, or train with"
            " model.mask_visited=false"
        )
    return answer
