"""How many letters stand between two texts."""


def edit_distance(found: str, wanted: str) -> int:
    """The fewest letters to put in, take out or change, to make one of the other (Levenshtein 1965)."""
    before = list(range(len(wanted) + 1))
    for row, letter in enumerate(found, start=1):
        here = [row]
        for index, other in enumerate(wanted, start=1):
            here.append(min(before[index] + 1, here[index - 1] + 1, before[index - 1] + (letter != other)))
        before = here
    return before[-1]
