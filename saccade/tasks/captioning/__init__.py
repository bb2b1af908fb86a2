"""Captioning: images with captions in, a captioner out (Show, Attend and Tell; or a Transformer)."""

COMMANDS = {
    "caption": "say what is on images",
}
