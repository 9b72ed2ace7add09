"""The command line, which makes typer commands from declared options and runs the commands.

Only this folder uses typer.  No module in this folder computes or rounds a number, or depends on a
specific command.
"""
