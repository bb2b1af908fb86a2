"""The attention maps of orders."""

from saccade.base.errors import InputError
from saccade.look import AttentionMap
from saccade.look.maps import END_LABEL
from saccade.tasks.pointing.result import PointerOutput


def map_of_order(found: PointerOutput, *, name: str = "") -> AttentionMap:
    """What each step of an answer looked at, of the inputs of the problem."""
    if found.attention is None:
        raise InputError("the answer has no attention; point with attention=True")
    inputs = [", ".join(map(plain_number, one)) for one in found.inputs]
    rows = [*(inputs[index] for index in found.order), END_LABEL]
    return AttentionMap(rows, [*inputs, END_LABEL], found.attention, "cross", name)


def plain_number(number: float) -> str:
    """As people write it: 3 and not 3.0."""
    return repr(number).removesuffix(".0")
