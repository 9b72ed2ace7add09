"""The command line: it turns declared options into typer commands, runs them and writes results.

Only this folder uses typer.  No module here computes or rounds a number, or depends on one command.
"""
