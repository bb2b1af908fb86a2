"""`saccade evaluate` of a captioner: what it says of images that have captions, scored."""

import argparse
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from saccade.base.errors import InputError
from saccade.base.files import write_file
from saccade.console.options import TakesOptions
from saccade.console.outputs import print_scores, tell_failures
from saccade.console.search import add_search_arguments, search_of
from saccade.decode import Search
from saccade.metrics import caption_words, score_captions
from saccade.tasks.captioning.caption import caption_files
from saccade.tasks.captioning.metrics import score_pointing_game
from saccade.tasks.captioning.model import Caption, Captioner
from saccade.tasks.kind import Evaluation
from saccade.vision import CaptionedImage, read_captions, read_names


def add_options(parser: TakesOptions) -> None:
    parser.add_argument(
        "--images",
        type=Path,
        metavar="DIR",
        help="the folder of the images; of a classifier: a folder for each class, or MNIST's images",
    )
    parser.add_argument(
        "--captions", type=Path, metavar="FILE", help="and their captions, in any form that is trained on"
    )
    parser.add_argument(
        "--split", metavar="SPLIT", help="of these, a split that the captions name, or the images named in a file"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the outputs there, too, one a line")
    add_search_arguments(parser, what="caption")


def evaluate_captions(chosen: argparse.Namespace, captioner: Captioner) -> int:
    """Caption each image freely, score those that can be read, and print the figures."""
    if chosen.images is None or chosen.captions is None:
        raise InputError(f"{chosen.model} captions images; wanted --images DIR and --captions FILE")
    if not chosen.images.is_dir():
        raise InputError(f"{chosen.images}: no such folder; wanted the images that {chosen.captions} is about")
    known = _chosen(read_captions(chosen.captions), chosen.split)
    how = Search(**search_of(chosen))
    boxes = any(one.nouns for one in known)
    images: list[CaptionedImage] = []
    found: list[Caption] = []
    texts: list[str] = []  # of all, empty where there is none
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("looking", total=len(known))
        for first in range(0, len(known), chosen.batch_size):
            part = known[first : first + chosen.batch_size]
            captions = caption_files(captioner, [chosen.images / one.image for one in part], how, attention=boxes)
            for one, caption in zip(part, captions, strict=True):
                texts.append("" if isinstance(caption, InputError) else caption.text)
                if isinstance(caption, InputError):
                    print(f"saccade: {caption}", file=sys.stderr)
                else:
                    images.append(one)
                    found.append(caption)
            progress.advance(bar, len(part))
    if not found:
        raise InputError(f"{chosen.images}: none of the images could be read")
    if chosen.output is not None:
        write_file(chosen.output, "".join(f"{text}\n" for text in texts).encode())
    scores = score_captions(
        [caption_words(caption.text) for caption in found],
        [[caption_words(text) for text in one.captions] for one in images],
    )
    if boxes:
        scores["pointing_game"] = score_pointing_game(images, found, side=captioner.settings.image_encoder.grid.side)
    print_scores(len(found), "images", scores, as_json=chosen.json)
    return tell_failures(len(known) - len(found), len(known), "images")


def _chosen(known: list[CaptionedImage], only: str | None) -> list[CaptionedImage]:
    if only is None:
        return known
    in_split = [one for one in known if one.split == only]
    if in_split:
        return in_split
    names = set(read_names(Path(only)))
    found = [one for one in known if one.image in names]
    if not found:
        raise InputError(f"{only}: none of its images has a caption")
    lost = sorted(names - {one.image for one in found})
    if lost:
        print(f"saccade: {only}: {len(lost):,} of its images have no caption, such as {lost[0]}", file=sys.stderr)
    return found


EVALUATION = Evaluation("--images DIR and --captions FILE", evaluate_captions, add_options)
