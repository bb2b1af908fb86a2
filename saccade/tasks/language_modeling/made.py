"""A made text for a first try: numbers and their names, one a line."""

import random

from num2words import num2words


def make_numbers(lines: int, *, seed: int) -> str:
    """Lines such as `42 forty-two`: as many short numbers as long ones, up to 9999."""
    chance = random.Random(f"numbers to read {seed}")
    numbers = (chance.randrange(10 ** chance.randint(1, 4)) for _ in range(lines))
    return "".join(f"{number} {num2words(number)}\n" for number in numbers)
