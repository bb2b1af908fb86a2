"""Text to text: pairs in, what translates, summarizes or answers out; an RNN with any attention, or a Transformer."""

COMMANDS = {
    "translate": "translate a file, or what comes in on a pipe",
    "summarize": "summarize texts, a text a line",
    "answer": "answer questions about passages in a few words",
    "align": "link the words of sentence pairs, and score the links",
}
