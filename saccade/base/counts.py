"""How many there are, in words."""


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 pair`, `2,000 pairs`; `many` for what does not just take an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
