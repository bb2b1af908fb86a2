"""saccade: attention models that a person can train on their own data, look into, and ship."""

__version__ = "0.1.0"
