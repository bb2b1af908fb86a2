"""`saccade evaluate` of a memory network: wrong answers, task by task."""

import argparse
import json
from pathlib import Path

from saccade.base.errors import InputError
from saccade.console.options import TakesOptions
from saccade.tasks.kind import Evaluation
from saccade.tasks.story_qa.ask import tell_what_is_lost
from saccade.tasks.story_qa.model import MemoryNetwork
from saccade.tasks.story_qa.stories import read_stories

_FAILED = 5.0  # per cent of error above which a task counts as failed, in the papers on bAbI


def add_options(parser: TakesOptions) -> None:
    parser.add_argument("--data", type=Path, metavar="PATH", help="a folder of bAbI's qa*_test.txt, or a file")


def evaluate_stories(chosen: argparse.Namespace, network: MemoryNetwork) -> None:
    """How often the answer is wrong, in each task and in the mean of all."""
    if chosen.data is None:
        raise InputError(f"{chosen.model} answers questions; wanted --data PATH, bAbI's folder or a file of stories")
    questions = read_stories(chosen.data, split="test")
    tell_what_is_lost(questions, network)
    wrong: dict[str, int] = {}
    total: dict[str, int] = {}
    for one, answer in zip(questions, network.answer_all(questions, batch_size=chosen.batch_size), strict=True):
        total[one.task] = total.get(one.task, 0) + 1
        wrong[one.task] = wrong.get(one.task, 0) + (answer.text.lower() != one.answer.lower())
    errors = {task: 100 * wrong[task] / count for task, count in total.items()}
    mean = sum(errors.values()) / len(errors)
    failed = sum(error > _FAILED for error in errors.values())
    if chosen.json:
        print(json.dumps({"questions": len(questions), "mean_error": mean, "failed": failed, "tasks": errors}))
        return
    width = max(map(len, errors))
    for task, error in errors.items():
        print(f"{task:<{width}}  {error:6.2f}  of {total[task]}{'  failed' if error > _FAILED else ''}")
    print(f"{'mean error':<{width}}  {mean:6.2f}  %; {failed} of {len(errors)} tasks above {_FAILED:g} %")


EVALUATION = Evaluation("--data PATH, a folder of bAbI's qa*_test.txt, or a file", evaluate_stories, add_options)
