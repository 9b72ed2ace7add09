"""Runs `passk demo`, which shows three commands and their outputs on sample data."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

SAMPLE_FILE_PATH = Path(__file__).parent / "sample_data" / "cruxeval.csv"
DEMO_COMMAND_BY_QUESTION = {
    "How good is each model?": f"passk estimate {SAMPLE_FILE_PATH.name}",
    "Is one model better, or lucky?": f"passk compare {SAMPLE_FILE_PATH.name} -m pass@10,pass@1",
    "Is a model good enough to ship? The exit code of this command is the answer.": (
        f"passk gate {SAMPLE_FILE_PATH.name} --model gpt-3.5-turbo-0613 --min pass@1=0.4"
    ),
}
HELP_TEXT = """Usage: passk demo

Show what passk does, on sample data that it contains. The command runs estimate, compare and gate,
and prints the path of the data, so that you can go on with your own commands."""


def run_demo(run: Callable[[Sequence[str]], int]) -> int:
    """Print each command of the demo, and run it in the folder of the sample data.

    The result is the first exit code that is not 0, or 0 if all commands succeed.

    run : function that runs a command and returns the exit code.  The argument of this function is
        the list of words after `passk`.
    """
    print(
        "The sample data are the attempts of two models at 800 tasks, as counts:\n"
        f"  {SAMPLE_FILE_PATH}"
    )
    with contextlib.chdir(SAMPLE_FILE_PATH.parent):
        for goal, line in DEMO_COMMAND_BY_QUESTION.items():
            words = shlex.split(line)
            print(f"\n# {goal}\n$ {line}", flush=True)
            sys.argv[1:] = words[1:]
            if code := run(words[1:]):
                return code
    print(
        "\nNow try your own files, for example a folder with the logs of your harness:\n"
        "  passk describe FILE...  # how passk reads them\n"
        "  passk estimate FILE..."
    )
    return 0
