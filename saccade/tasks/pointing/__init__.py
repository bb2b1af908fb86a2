"""Pointing: problems whose answers are orders of their inputs in, a pointer network out."""

COMMANDS = {
    "point": "sort numbers, or find hulls, by pointing at them in order",
}
