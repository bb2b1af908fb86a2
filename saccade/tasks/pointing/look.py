"""`saccade look` of a pointer network: what each step looked at, or the points with their hull."""

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

from saccade.console.drawing import Maps, add_map_options, check_map_options, maps_as_chosen
from saccade.console.inputs import model_name, one_text
from saccade.look import Panel, save_order
from saccade.tasks.kind import Look
from saccade.tasks.pointing.files import parse_inputs
from saccade.tasks.pointing.model import PointerNetwork
from saccade.tasks.pointing.result import PointerOutput


@dataclass(frozen=True, kw_only=True)
class Order(Maps):
    """Maps, but where the inputs are points, a figure is of these."""

    found: PointerOutput
    closed: bool  # a hull, whose last point leads back to its first

    def figure(self, path: Path) -> None:
        if len(self.found.inputs[0]) == 2:
            save_order(path, self.found.inputs, self.found.order, closed=self.closed, title=self.title or "")
        else:
            super().figure(path)


def order_of(found: PointerOutput, pointer: PointerNetwork, *, name: str = "") -> Order:
    """What there is to draw of an answer."""
    order = " ".join(map(str, found.order))
    panel = Panel(f"{name}: {order}" if name else order, pointer.maps(found))
    return Order([panel], order, found=found, closed=pointer.settings.problem == "hull")


def look_at_order(chosen: argparse.Namespace, pointer: PointerNetwork) -> Order:
    """Answer a problem."""
    text = one_text(chosen.inputs, "PROBLEM", "inputs, such as '3 1 2' or '[[0.1, 0.7], [0.4, 0.2]]'")
    found = pointer.point([parse_inputs(text, "PROBLEM")], attention=True)[0]
    order = order_of(found, pointer, name=model_name(chosen.model))
    maps = maps_as_chosen(order.panels[0], chosen, name=text)
    return replace(order, **vars(maps))


LOOK = Look("a problem", look_at_order, add_map_options, check_map_options)
