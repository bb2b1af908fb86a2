"""Text as it is written, token by token: no character is shown before all of its bytes are there."""

from saccade.text import END
from saccade.text.vocabularies.running import RunningVocabulary

_BROKEN = "\ufffd"
_LONGEST = 4  # bytes of a character


class TextStream:
    """Takes tokens and gives text."""

    def __init__(self, vocabulary: RunningVocabulary) -> None:
        self._vocabulary = vocabulary
        self._held: list[int] = []  # the last tokens, which may be the beginning of a character

    def add(self, token: int) -> str:
        """What can be shown now."""
        if token == END:
            return ""
        self._held.append(token)
        text = self._vocabulary.text(self._held)
        if text.endswith(_BROKEN) and len(self._held) < _LONGEST:
            return ""
        self._held = []
        return text

    def rest(self) -> str:
        """What was held back, at the end."""
        held, self._held = self._held, []
        return self._vocabulary.text(held)
