"""`saccade show`: Show an idea behind attention, computed as you look: a picture and a few lines."""

import argparse
from pathlib import Path

from rich.console import Console

from saccade.base.errors import InputError
from saccade.console.drawing import (
    add_figure_options,
    add_page_option,
    expect_files,
    figures_of,
    say_written,
    warnings_as_lines,
)
from saccade.console.parser import count
from saccade.show import TOPICS, make_lesson, summary
from saccade.show.page import save_page
from saccade.show.picture import save_picture
from saccade.show.terminal import draw_lesson


def add_arguments(parser: argparse.ArgumentParser) -> None:
    topics = ", ".join(TOPICS)
    parser.add_argument(
        "topic", nargs="?", choices=TOPICS, metavar="TOPIC", help=f"{topics}; without one, a line about each"
    )
    parser.add_argument("--seed", type=count, default=1, metavar="N", help="of what is drawn at random (1)")
    add_page_option(parser, help="write a page that needs nothing else")
    add_figure_options(parser)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> None:
    """Compute what a topic shows and draw it: to the files that were named, or to the terminal."""
    expect_files(chosen)
    html: Path | None = chosen.html
    figures = figures_of(chosen)
    if chosen.topic is None:
        if html is not None or figures:
            raise InputError("TOPIC: found none, and a file to draw into; `saccade show` lists the topics")
        list_topics()
        return
    lesson = make_lesson(chosen.topic, seed=chosen.seed)
    if html is not None:
        save_page(html, lesson)
        say_written(html)
    for path in figures:
        with warnings_as_lines(path):
            save_picture(path, lesson)
        say_written(path)
    if html is None and not figures:
        console = Console(highlight=False)
        console.print(draw_lesson(lesson, width=console.width))


def list_topics() -> None:
    for topic in TOPICS:
        print(f"{topic:<{max(map(len, TOPICS))}}  {summary(topic)}")
