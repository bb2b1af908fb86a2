"""Algorithms: problems on bits in, a Neural Turing Machine out, or the LSTM to compare it with."""

COMMANDS: dict[str, str] = {}
