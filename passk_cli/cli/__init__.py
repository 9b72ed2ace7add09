"""The command line: read → compute → build → render, one file per command."""
