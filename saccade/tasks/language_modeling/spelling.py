"""The tokens of a text as the text that they are, so that one behind the other they are all of it."""

from saccade.text.vocabularies.running import RunningVocabulary

_BROKEN = "\ufffd"  # what bytes are read as that are no character yet


def spell(vocabulary: RunningVocabulary, text: str) -> list[str]:
    """What each token of a text stands for; of a character that takes several, the first has it, the others are ""."""
    found: list[str] = []
    for word, ids in vocabulary.split(text):
        if len(ids) == 1:
            found.append(word)  # as it was written, even if it is unknown
            continue
        waiting: list[int] = []
        for index, number in enumerate(ids):
            waiting.append(number)
            part = vocabulary.text(waiting)
            if _BROKEN not in part or index == len(ids) - 1:
                found += [part, *[""] * (len(waiting) - 1)]
                waiting = []
    return found
