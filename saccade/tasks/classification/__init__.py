"""Classification: images with classes in, a classifier out; a CNN with self-attention, or glimpses."""

COMMANDS = {
    "classify": "say which class images are of (for texts: label)",
}
