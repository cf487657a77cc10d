"""Live saccade detection and viewer identification for eye-tracking labs."""

__version__ = "0.1.0"
