"""`saccade look` of a memory network: which sentence each hop looked at."""

import argparse
from dataclasses import replace

from saccade.base.errors import InputError
from saccade.console.drawing import Maps, add_map_options, check_map_options, maps_as_chosen
from saccade.console.inputs import model_name
from saccade.look import Panel
from saccade.tasks.kind import Look
from saccade.tasks.story_qa.ask import asked_in_words
from saccade.tasks.story_qa.model import MemoryNetwork


def look_at_answer(chosen: argparse.Namespace, network: MemoryNetwork) -> Maps:
    """Answer a question about a story."""
    if len(chosen.inputs) != 2:
        raise InputError('wanted a story and a question: saccade look MODEL "STORY" "QUESTION"')
    asked = asked_in_words(*chosen.inputs)
    answer = replace(network.answer_all([asked.question], attention=True)[0], sentences=asked.sentences)
    title = f"{asked.text} {answer.text}"
    panel = Panel(f"{model_name(chosen.model)}: {title}", network.maps(answer, name=title))
    return maps_as_chosen(panel, chosen, name=asked.text)


LOOK = Look("a story and a question", look_at_answer, add_map_options, check_map_options)
