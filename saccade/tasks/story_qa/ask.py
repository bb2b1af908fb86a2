"""`saccade ask`: Answer a question about a story, and show which sentence each hop looked at."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from saccade.base.compressed import plain_path
from saccade.base.errors import InputError
from saccade.base.parse_json import parse_json
from saccade.console.drawing import (
    Maps,
    add_figure_options,
    add_page_option,
    expect_files,
    figures_of,
    write_figures,
    write_page,
)
from saccade.console.outputs import Blank, each, show_nothing, tell_failures
from saccade.console.parser import count, expect_text
from saccade.console.streams import Incoming, Line
from saccade.look import Panel
from saccade.tasks.load import load
from saccade.tasks.story_qa.model import MemoryNetwork
from saccade.tasks.story_qa.result import Answer
from saccade.tasks.story_qa.stories import Question, question_of, read_stories, split_sentences, story_words


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
    parser.add_argument("--batch-size", type=count, default=64, metavar="N", help="questions at a time (64)")
    parser.add_argument("--hops", action="store_true", help="a table of which sentence each hop looked at")
    parser.add_argument("--json", action="store_true", help="JSON lines, with the likeliest answers and what was seen")
    add_figure_options(parser, of="of one question, its hops: ")
    add_page_option(parser, help="write a page: point at a hop, see what it looked at")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """One record for each question; of a file or pipe as they come, in their order, whatever is wrong with some."""
    expect_files(chosen)
    figures = figures_of(chosen)
    if chosen.file is not None and chosen.story is not None:
        raise InputError("--file: found a story beside it, wanted one of the two")
    first = _from_words(chosen) if chosen.file is None else None
    network = load(chosen.model, MemoryNetwork)
    wanted = chosen.hops or chosen.html is not None or bool(figures)
    attention = wanted or (chosen.json and network.has_weights)
    if wanted:
        network.expect_weights()
    panels: list[Panel] = []
    failed = total = 0
    for asked in [[first]] if first is not None else _from_file(chosen):
        total += len(asked)
        if figures and total > 1:
            raise InputError(f"{figures[0]}: a figure is of one question, and {chosen.file} has more")
        questions = [one.question if isinstance(one, Asked) else one for one in asked]
        answers = each(
            lambda some: network.answer_all(some, attention=attention, batch_size=chosen.batch_size), questions
        )
        answered = [one for one, answer in zip(questions, answers, strict=True) if isinstance(answer, Answer)]
        tell_what_is_lost([one for one in answered if isinstance(one, Question)], network)
        for one, answer in zip(asked, answers, strict=True):
            if isinstance(answer, InputError):
                failed += show_nothing(answer, {"question": "", "answer": ""}, as_json=chosen.json)
                continue
            assert isinstance(one, Asked)  # what cannot be read has no answer
            shown = replace(answer, sentences=one.sentences)  # as they were written
            _show(one, shown, chosen)
            if chosen.html is not None or figures:
                title = f"{one.text} {answer.text}"
                panels.append(Panel(title, network.maps(shown, name=title)))
        sys.stdout.flush()
    write_page(chosen.html, panels, title="stories")
    if panels:
        write_figures(Maps(panels[:1], panels[0].title), chosen)
    return tell_failures(failed, total, "questions")


def _from_words(chosen: argparse.Namespace) -> Asked:
    if chosen.story is None or chosen.question is None:
        raise InputError('wanted a story and a question: saccade ask MODEL "STORY" "QUESTION", or --file FILE')
    return asked_in_words(chosen.story, chosen.question)


def asked_in_words(story: str, question: str) -> Asked:
    """A story and a question as they were typed."""
    expect_text(story, "STORY")
    expect_text(question, "QUESTION")
    sentences = split_sentences(story)
    if not sentences:
        raise InputError("STORY: found no word, wanted sentences, each ended by a full stop")
    if not story_words(question):
        raise InputError("QUESTION: found no word, wanted a question")
    asked = question_of({"story": sentences, "question": question}, "QUESTION", answered=False)
    return Asked(asked, question.strip(), sentences)


def _from_file(chosen: argparse.Namespace) -> Iterator[list[Asked | InputError]]:
    """JSON lines as they come; a file in bAbI's format, in which lines belong together, as a whole."""
    path = Path(chosen.file)
    if chosen.file != "-" and plain_path(path).suffix != ".jsonl":
        yield [_asked(one) for one in read_stories(path, answered=False)]
        return
    for lines in Incoming(chosen.file).chunks(chosen.batch_size):
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


def tell_what_is_lost(questions: Sequence[Question], network: MemoryNetwork) -> None:
    """Name the words that the model passes over, and say where it forgets the beginning of a story."""
    memory_size = network.settings.model.memory_size
    longest = max((len(one.story) for one in questions), default=0)
    if longest > memory_size:
        which = "the story" if len(questions) == 1 else "the longest story"
        lost = f"{which} has {longest}, the first are lost"
        print(f"saccade: the model remembers {memory_size} sentences; {lost}", file=sys.stderr)
    words = {word for one in questions for sentence in (*one.story, one.question) for word in sentence}
    unknown = sorted(word for word in words if not network.words.number(word))
    if unknown:
        more = f" and {len(unknown) - 10} more" if len(unknown) > 10 else ""
        print(f"saccade: the model does not know, and passes over: {', '.join(unknown[:10])}{more}", file=sys.stderr)


def _show(one: Asked, answer: Answer, chosen: argparse.Namespace) -> None:
    if chosen.json:
        print(json.dumps({"question": one.text} | answer.as_json(top=max(chosen.top, 5)), ensure_ascii=False))
        return
    found = "\t".join(f"{text} {share:.3f}" for text, share in answer.ranking[: chosen.top])
    print(f"{one.text}\t{found}" if chosen.file is not None else found)
    if chosen.hops:
        print(hop_table(answer))


def hop_table(answer: Answer) -> str:
    """A line for each sentence: how much each hop looked at it; nothing where it is less than a hundredth."""
    assert answer.attention is not None
    hops = answer.attention[0, 0]  # [hops, sentences]
    lines = ["  ".join(f"hop {hop + 1:<2}" for hop in range(len(hops)))]
    for weights, sentence in zip(hops.T.tolist(), answer.sentences, strict=True):
        cells = (f"{weight:5.2f} " if weight >= 0.01 else " " * 6 for weight in weights)
        lines.append(f"{'  '.join(cells)}  {sentence}")
    return "\n".join(lines)
