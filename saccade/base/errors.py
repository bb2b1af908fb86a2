"""What a user is meant to see: one sentence in place of a traceback."""


def one_line(text: str) -> str:
    """The text with whatever would break its line, or not show, written as an escape: names of files may have it."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


class InputError(ValueError):
    """What the user asked for cannot be done. The message is one sentence: what is wrong, where, and what to do."""

    def __init__(self, message: str = "") -> None:
        super().__init__(one_line(message))


class Stopped(Exception):  # noqa: N818 - nothing went wrong
    """A training that was asked to stop has stopped; the message says what is saved."""

    def __init__(self, message: str, signal: int) -> None:
        super().__init__(message)
        self.signal = signal  # its number
        self.code = 128 + signal  # as shells have it


def expect(name: str, found: object, fits: bool, wanted: str) -> None:  # noqa: FBT001
    if not fits:
        shown = repr(found) if isinstance(found, str) else found
        raise InputError(f"{name}: found {shown}, wanted {wanted}")
