"""The version, apart, so that nothing imports the public names for it."""

__version__ = "0.1.0"
