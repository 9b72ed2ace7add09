"""Commands: a folder for each, whose `__init__` declares its options and whose `view` answers.

The declaration is a frozen dataclass: its fields are the options, its docstring is the help.  It is
imported for the help, which must cost nothing; the question, a subclass with what it computes, is
named by its place and imported when it is asked.  No files, no rendering, no drawing, no typer.
"""

from typing import NamedTuple


class CommandListing(NamedTuple):
    """A command in the list of all commands.

    section : its section of the list.
    purpose : the first line of its help, repeated here because the list imports no command.
    """

    section: str
    purpose: str


# Name → its entry; its module here has the declaration.
COMMANDS = {
    "estimate": CommandListing("Measure", "pass@k and pass^k of every model, with intervals."),
    "compare": CommandListing("Measure", "Which models differ significantly, and which tie."),
    "gate": CommandListing("Measure", "Check a run against rules; the exit code is the verdict."),
    "watch": CommandListing("Measure", "Decides a run while it goes on, by the rules of gate."),
    "bootstrap": CommandListing("Measure", "Bias, standard errors, and intervals of every method."),
    "curve": CommandListing("Understand", "pass@k and pass^k over k."),
    "tasks": CommandListing("Understand", "Each task: flaky, changed, suspicious."),
    "cost": CommandListing("Understand", "The cost of a solved task, and what a budget solves."),
    "trend": CommandListing("Understand", "pass@1 or costs over runs: changes, and noise."),
    "order": CommandListing("Understand", "Whether attempts depend on their order."),
    "diversity": CommandListing("Understand", "How many different solutions the attempts hold."),
    "temperature": CommandListing("Understand", "The best temperature for each k."),
    "horizon": CommandListing(
        "Understand", "The length of task at which half of the attempts succeed."
    ),
    "extrapolate": CommandListing(
        "Understand", "pass@k beyond the attempts made; the k for a target."
    ),
    "plan": CommandListing("Understand", "How many tasks and attempts the next run needs."),
    "judge": CommandListing("Understand", "How often a judge errs, and which attempts to label."),
    "describe": CommandListing("Files", "How the files are read, before anything is computed."),
    "convert": CommandListing("Files", "Any harness's results as one table."),
    "record": CommandListing("Files", "Adds a run to a history, for trend and gate."),
    "formats": CommandListing("Files", "The formats that are recognised; NAME: an example."),
    "report": CommandListing("Files", "A full report on one page, or a leaderboard to publish."),
}
