"""The command line: declarations → typer, one runner for all commands, output and exit codes.

Only this folder uses typer.  Nothing here depends on a single command, computes or rounds.
"""
