"""The one kind of error that a user is meant to see."""


class InputError(ValueError):
    """What the user asked for cannot be done. The message is one sentence: what is wrong, where, and what to do."""
