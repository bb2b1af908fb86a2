"""`saccade look` of a captioner: where on the image it looked for each word."""

import argparse

from saccade.console.drawing import Maps, add_map_options, check_map_options, maps_as_chosen
from saccade.console.inputs import model_name, one_image
from saccade.console.options import TakesOptions
from saccade.console.parser import count
from saccade.look import Panel
from saccade.tasks.captioning.caption import BEAM
from saccade.tasks.captioning.model import Captioner
from saccade.tasks.kind import Look


def add_options(parser: TakesOptions) -> None:
    parser.add_argument("--beam", type=count, metavar="N", help=f"hypotheses kept; 1 is greedy search ({BEAM})")
    add_map_options(parser)


def look_at_caption(chosen: argparse.Namespace, captioner: Captioner) -> Maps:
    """Caption an image."""
    image = one_image(chosen.inputs)
    caption = captioner.caption([image], beam=chosen.beam or BEAM, attention=True)[0]
    maps = [] if caption.attention is None else captioner.maps(caption, image=image, name=caption.text)
    return maps_as_chosen(Panel(f"{model_name(chosen.model)}: {caption.text}", maps), chosen, name=image.name)


LOOK = Look("an image", look_at_caption, add_options, check_map_options)
