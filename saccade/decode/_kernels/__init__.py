"""Loops for searching on a CPU, each beside the plain operations that it is held to."""
