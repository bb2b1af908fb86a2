"""`saccade ask`: Answer a question about a story, and show which sentence each hop looked at."""

import argparse
import json
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from saccade.cli.outputs import Blank, each, expect_outputs, show_nothing, tell_failures
from saccade.cli.parser import count, expect_text
from saccade.cli.streams import Incoming, Line
from saccade.data import Question, question_of, read_stories, split_sentences, story_words
from saccade.data.parsing import parse_json
from saccade.errors import InputError
from saccade.look import Panel, map_of_answer, save_figure, save_page
from saccade.models import Answer, Answerer, load_as
from saccade.packed import plain_path

_FAILED = 5.0  # per cent of error above which a task counts as failed, in the papers on bAbI


class Asked(NamedTuple):
    """A question with its sentences, as they are shown."""

    question: Question
    text: str
    sentences: list[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    parser.add_argument("story", nargs="?", metavar="STORY", help='"Mary went to the garden. John took the milk."')
    parser.add_argument("question", nargs="?", metavar="QUESTION", help='"Where is Mary?"')
    parser.add_argument(
        "--file",
        metavar="FILE",
        help="many of them: JSON lines with story and question (- for a pipe), or bAbI's format",
    )
    parser.add_argument("--top", type=count, default=1, metavar="N", help="the N likeliest answers of each (1)")
    parser.add_argument("--batch", type=count, default=64, metavar="N", help="questions at a time (64)")
    parser.add_argument("--hops", action="store_true", help="a table of which sentence each hop looked at")
    parser.add_argument("--json", action="store_true", help="JSON lines, with the likeliest answers and what was seen")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="of one question, its hops: PNG, SVG or PDF")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page: point at a hop, see what it looked at")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """One record for each question; of a file or pipe as they come, in their order, whatever is wrong with some."""
    expect_outputs(figures=[chosen.figure], others=[chosen.html])
    if chosen.file is not None and chosen.story is not None:
        raise InputError("--file: found a story beside it, wanted one of the two")
    first = _from_words(chosen) if chosen.file is None else None
    answerer = load_as(Answerer, chosen.model)
    panels: list[Panel] = []
    failed = total = 0
    for asked in [[first]] if first is not None else _from_file(chosen):
        total += len(asked)
        if chosen.figure is not None and total > 1:
            raise InputError(f"{chosen.figure}: a figure is of one question, and {chosen.file} has more")
        questions = [one.question if isinstance(one, Asked) else one for one in asked]
        answers = each(lambda some: answerer.answer_all(some, batch=chosen.batch), questions)
        answered = [one for one, answer in zip(questions, answers, strict=True) if isinstance(answer, Answer)]
        tell_what_is_lost([one for one in answered if isinstance(one, Question)], answerer)
        for one, answer in zip(asked, answers, strict=True):
            if isinstance(answer, InputError):
                failed += show_nothing(answer, {"question": "", "answer": ""}, as_json=chosen.json)
                continue
            assert isinstance(one, Asked)  # what cannot be read has no answer
            _show(one, answer, chosen)
            if chosen.figure is not None:
                _draw(chosen.figure, one, answer)
            if chosen.html is not None:
                panels.append(Panel(f"{one.text} {answer.text}", [map_of_answer(answer, one.sentences, name=one.text)]))
        sys.stdout.flush()
    if chosen.html is not None and panels:
        save_page(chosen.html, panels, title="stories")
        print(f"written: {chosen.html}", file=sys.stderr)
    elif chosen.html is not None:
        print(f"saccade: {chosen.html}: there is nothing to show, and it is not written", file=sys.stderr)
    return tell_failures(failed, total, "questions")


def _draw(figure: Path, one: Asked, answer: Answer) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        save_figure(figure, map_of_answer(answer, one.sentences, name=f"{one.text} {answer.text}"))
    for warning in caught:
        print(f"saccade: {figure}: {warning.message}", file=sys.stderr)
    print(f"written: {figure}", file=sys.stderr)


def _from_words(chosen: argparse.Namespace) -> Asked:
    if chosen.story is None or chosen.question is None:
        raise InputError('wanted a story and a question: saccade ask MODEL "STORY" "QUESTION", or --file FILE')
    expect_text(chosen.story, "STORY")
    expect_text(chosen.question, "QUESTION")
    sentences = split_sentences(chosen.story)
    if not sentences:
        raise InputError("STORY: found no word, wanted sentences, each ended by a full stop")
    if not story_words(chosen.question):
        raise InputError("QUESTION: found no word, wanted a question")
    question = question_of({"story": sentences, "question": chosen.question}, "QUESTION", answered=False)
    return Asked(question, chosen.question.strip(), sentences)


def _from_file(chosen: argparse.Namespace) -> Iterator[list[Asked | InputError]]:
    """JSON lines as they come; a file in bAbI's format, in which lines belong together, as a whole."""
    path = Path(chosen.file)
    if chosen.file != "-" and plain_path(path).suffix != ".jsonl":
        yield [_asked(one) for one in read_stories(path, answered=False)]
        return
    for lines in Incoming(chosen.file).chunks(chosen.batch):
        yield [_of_line(line) for line in lines]


def _of_line(line: Line) -> Asked | InputError:
    if line.is_blank:
        return Blank()
    try:
        wanted = '{"story": ["SENTENCE", ...], "question": "TEXT"}'
        record = None if line.error else parse_json(line.text, line.where, wanted=wanted)
        return line.error or _asked(question_of(record, line.where, answered=False))
    except InputError as error:
        return error


def _asked(one: Question) -> Asked:
    return Asked(one, " ".join(one.question) + "?", [" ".join(words) for words in one.story])


def tell_what_is_lost(questions: Sequence[Question], answerer: Answerer) -> None:
    """Name the words that the model passes over, and say where it forgets the beginning of a story."""
    memory = answerer.settings.model.memory
    longest = max((len(one.story) for one in questions), default=0)
    if longest > memory:
        which = "the story" if len(questions) == 1 else "the longest story"
        lost = f"{which} has {longest}, the first are lost"
        print(f"saccade: the model remembers {memory} sentences; {lost}", file=sys.stderr)
    words = {word for one in questions for sentence in (*one.story, one.question) for word in sentence}
    unknown = sorted(word for word in words if not answerer.words.number(word))
    if unknown:
        more = f" and {len(unknown) - 10} more" if len(unknown) > 10 else ""
        print(f"saccade: the model does not know, and passes over: {', '.join(unknown[:10])}{more}", file=sys.stderr)


def _show(one: Asked, answer: Answer, chosen: argparse.Namespace) -> None:
    if chosen.json:
        record = {
            "question": one.text,
            "answer": answer.text,
            "probability": round(answer.probability, 6),
            "ranking": {text: round(share, 6) for text, share in answer.ranking[: max(chosen.top, 5)]},
            "sentences": one.sentences,
            "attention": answer.attention.astype(float).round(4).tolist(),
        }
        print(json.dumps(record, ensure_ascii=False))
        return
    found = "\t".join(f"{text} {share:.3f}" for text, share in answer.ranking[: chosen.top])
    print(f"{one.text}\t{found}" if chosen.file is not None else found)
    if chosen.hops:
        print(hop_table(answer, one.sentences))


def hop_table(answer: Answer, sentences: Sequence[str]) -> str:
    """A line for each sentence: how much each hop looked at it; nothing where it is less than a hundredth."""
    lines = ["  ".join(f"hop {hop + 1:<2}" for hop in range(len(answer.attention)))]
    for weights, sentence in zip(answer.attention.T.tolist(), sentences, strict=True):
        cells = (f"{weight:5.2f} " if abs(weight) >= 0.01 else " " * 6 for weight in weights)
        lines.append(f"{'  '.join(cells)}  {sentence}")
    return "\n".join(lines)


def add_story_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --stories to `saccade evaluate`."""
    parser.add_argument(
        "--stories", type=Path, metavar="PATH", help="of an answerer: a folder of bAbI's qa*_test.txt, or a file"
    )


def evaluate_stories(chosen: argparse.Namespace, answerer: Answerer) -> None:
    """How often the answer is wrong, in each task and in the mean of all."""
    if chosen.stories is None:
        raise InputError(f"{chosen.model} answers questions; wanted --stories PATH, bAbI's folder or a file of stories")
    questions = read_stories(chosen.stories, split="test")
    tell_what_is_lost(questions, answerer)
    wrong: dict[str, int] = {}
    total: dict[str, int] = {}
    for one, answer in zip(questions, answerer.answer_all(questions, batch=chosen.batch), strict=True):
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
