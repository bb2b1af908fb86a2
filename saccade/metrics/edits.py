"""How many letters stand between two texts."""


def edits(found: str, wanted: str) -> int:
    """The fewest letters to put in, take out or change, to make one of the other (Levenshtein 1965)."""
    before = list(range(len(wanted) + 1))
    for row, letter in enumerate(found, start=1):
        here = [row]
        for place, other in enumerate(wanted, start=1):
            here.append(min(before[place] + 1, here[place - 1] + 1, before[place - 1] + (letter != other)))
        before = here
    return before[-1]
