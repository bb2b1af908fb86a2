"""What a user is meant to see: one sentence in place of a traceback."""


class InputError(ValueError):
    """What the user asked for cannot be done. The message is one sentence: what is wrong, where, and what to do."""


class Stopped(Exception):  # noqa: N818 - nothing went wrong
    """A training that was asked to stop has stopped; the message says what is saved."""

    def __init__(self, message: str, signal: int) -> None:
        super().__init__(message)
        self.signal = signal  # its number
        self.code = 128 + signal  # as shells have it
