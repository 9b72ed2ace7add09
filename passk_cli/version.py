"""The version of passk."""

__version__ = "0.1.0"
