"""Language models: running text in, more of it out; every token is foreseen from those before it."""

COMMANDS = {
    "generate": "write on from a prompt, with a language model",
    "score": "say how well a language model foresees a text, token by token",
}
