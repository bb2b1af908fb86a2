"""Translation: sentence pairs in, a translator out; an RNN with any attention, or a Transformer."""

COMMANDS = {
    "translate": "translate a file, or what comes in on a pipe",
    "align": "link the words of sentence pairs, and score the links",
}
