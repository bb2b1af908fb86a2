"""Sentences that are longer than a model reads at a time: cut off, or split into parts that it can read."""

from saccade.text.vocabularies.vocabulary import END, SPECIAL, Tokens

# After such a sign a sentence ends, or a clause does.
SENTENCE_ENDS, _CLAUSE_ENDS = frozenset(".!?…。！？।؟"), frozenset(",;:—–，；：、،؛")
CLOSING = "\"'”’»)]}」』"  # what may stand behind the sign
_EARLIEST = 2  # a good end of a part is looked for in the last half of the room


def truncate_tokens(tokens: Tokens, most: int) -> Tokens:
    """The first of the tokens, so many that with `END` they are `most`."""
    return _part(tokens, 0, min(most, len(tokens.ids)) - 1)


def split_tokens(tokens: Tokens, most: int) -> list[Tokens]:
    """Parts of at most `most` tokens each, `END` included, which together are the sentence, with spaces between them.

    A part ends behind a sentence if it can, else behind a clause, else behind a word, and within a word only where that
    alone is longer than a part.
    """
    parts: list[Tokens] = []
    last, first = len(tokens.ids) - 1, 0  # END belongs to no part of the text
    while last - first > most - 1:
        end = _best_end(tokens, first, first + most - 1)
        # of characters, the space between two parts belongs to neither
        space = end - first > 1 and tokens.words[tokens.word_of[end - 1]].isspace()
        parts.append(_part(tokens, first, end - space))
        first = end
    return [*parts, _part(tokens, first, last)]


def _best_end(tokens: Tokens, first: int, limit: int) -> int:
    """The position to end a part at that begins at `first`: the last one of the best kind, up to `limit`."""
    earliest = first + max(1, (limit - first) // _EARLIEST)
    positions = range(limit, earliest - 1, -1)
    return max(
        positions, key=lambda position: _goodness(tokens, position)
    )  # of equals, the first: the last in the text


def _goodness(tokens: Tokens, position: int) -> int:
    """How well a part ends before the token at `position`."""
    word = tokens.word_of[position - 1]
    if tokens.word_of[position] == word:
        return 0
    written = tokens.words[word]
    if len(written) == 1 and len(tokens.words[word + 1]) == 1:  # of characters, each is a word
        if not written.isspace():
            return 3 if written in SENTENCE_ENDS and ord(written) > 0x7F else 0
        written = "".join(tokens.words[max(word - 3, 0) : word])
    sign = written.rstrip(CLOSING)[-1:]
    return 3 if sign in SENTENCE_ENDS else 2 if sign in _CLAUSE_ENDS else 1


def _part(tokens: Tokens, first: int, end: int) -> Tokens:
    """The tokens from `first` up to `end`, with an `END` of their own."""
    inside = tokens.word_of[first:end]
    begins, ends = (inside[0], inside[-1] + 1) if inside else (0, 0)
    return Tokens(
        [*tokens.ids[first:end], END],
        [*tokens.words[begins:ends], SPECIAL[END]],
        [*(word - begins for word in inside), ends - begins],
    )
