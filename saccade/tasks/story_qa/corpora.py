"""The corpus of `saccade data` that memory networks learn from: stories that are made."""

import argparse

from saccade.base.counts import counted
from saccade.base.errors import InputError
from saccade.base.files import make_folder
from saccade.console.making import add_size
from saccade.console.options import TakesOptions
from saccade.tasks.kind import MadeCorpus
from saccade.tasks.story_qa.made import make_stories
from saccade.tasks.story_qa.stories import write_stories


def _add_options(parser: TakesOptions) -> None:
    add_size(parser, "--stories", 1_000, "to train on")
    add_size(parser, "--test", 200, "for the test")


def _write(chosen: argparse.Namespace) -> None:
    paths = {split: chosen.out / f"qa1_made_{split}.txt" for split in ("train", "test")}
    standing = [str(path) for path in paths.values() if path.exists()]
    if standing and not chosen.overwrite:
        raise InputError(f"{standing[0]} stands there already; choose another folder, or pass --overwrite")
    make_folder(chosen.out)
    for split, count in (("train", chosen.stories), ("test", chosen.test)):
        questions = make_stories(count, seed=f"{split} {chosen.seed}")
        write_stories(paths[split], questions)
        example = f"{' '.join(questions[0].question)}? {questions[0].answer}"
        made = f"{counted(count, 'story', 'stories')}, {counted(len(questions), 'question')}"
        print(f"{paths[split]}: {made}, such as {example!r}")


STORIES = MadeCorpus(
    "stories",
    "stories of people, rooms and things, with questions",
    'Stories of people who walk from room to room and carry things, with questions ("Where is the'
    ' milk?") and the sentences that each answer rests on, in the format of bAbI.',
    _add_options,
    _write,
)
