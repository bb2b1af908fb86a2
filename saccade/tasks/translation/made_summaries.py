"""Reports that the package makes, each with its one right summary.

What a summary says is there in one of two ways, between sentences about other places, people and numbers. Names and
numbers are new each time, so that they have to be copied.
"""

import random

from saccade.tasks.translation.made import Corpus
from saccade.tasks.translation.made_names import make_name
from saccade.text import Pair

EVENTS = ("fire", "flood", "storm", "quake", "landslide")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_WHERE = ("A {event} struck {place} on {day} .", "On {day} {place} was hit by a {event} .")
_HURT = ("{hurt} people were hurt .", "Doctors treated {hurt} people .")
_LOST = ("{lost} houses were lost .", "The {event} destroyed {lost} houses .")
_WHO = ("Mayor {who} asked for help .", "{who} , the mayor , asked for help .")
_OTHERS = (
    "Roads to {name} stayed open .",
    "A {other} had struck {name} in {number} .",
    "{name} {second} , who runs a shop there , slept through it .",
    "{number} people live in the valley .",
    "Schools in {name} opened as usual .",
    "A team from {name} brought {number} blankets .",
)
_SUMMARY = "{event} in {place} on {day} : {hurt} hurt , {lost} houses lost , mayor {who} asks for help"


class Summaries(Corpus):
    """A report of eight sentences, four of which are of the summary."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def pair(self, index: int) -> Pair:
        rng = random.Random(f"summaries {self.seed} {index}")
        event, other = rng.sample(EVENTS, 2)
        facts = {
            "event": event,
            "place": make_name(rng),
            "day": rng.choice(DAYS),
            "hurt": rng.randint(2, 9999),
            "lost": rng.randint(2, 9999),
            "who": f"{make_name(rng)} {make_name(rng)}",
        }
        first, *sentences = (rng.choice(ways).format(**facts) for ways in (_WHERE, _HURT, _LOST, _WHO))
        for way in rng.sample(_OTHERS, 4):
            names = {"name": make_name(rng), "second": make_name(rng), "number": rng.randint(2, 9999)}
            sentences.append(way.format(other=other, **names))
        rng.shuffle(sentences)
        return Pair(" ".join([first, *sentences]), _SUMMARY.format(**facts))
