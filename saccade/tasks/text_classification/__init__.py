"""Text classification: texts with labels in, a classifier out; a CNN, or the nets of language models and a pooling."""

COMMANDS = {
    "label": "say which label texts have (for images: classify)",
}
