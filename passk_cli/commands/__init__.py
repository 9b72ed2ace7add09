"""Commands: a folder for each, whose `__init__` declares its options and whose `view` answers.

The declaration is a frozen dataclass: its fields are the options, its docstring is the help.  It is
imported for the help, which must cost nothing; the question, a subclass with what it computes, is
named by its place and imported when it is asked.  No files, no rendering, no drawing, no typer.
"""

from typing import NamedTuple


class Listed(NamedTuple):
    """A command in the list of all.

    section : of the help it stands in.
    purpose : the first line of its help, here once more: the list of commands imports none of them.
    """

    section: str
    purpose: str


# Name → its entry; its module here has the declaration.
COMMANDS = {
    "estimate": Listed("Measure", "pass@k and pass^k of every model, with intervals."),
    "compare": Listed("Measure", "Which models differ significantly, and which tie."),
    "gate": Listed("Measure", "Passes or fails CI by its exit code: rules about a run."),
    "watch": Listed("Measure", "Decides a run while it goes on, by the rules of gate."),
    "bootstrap": Listed("Measure", "Bias, standard errors, and intervals of every method."),
    "curve": Listed("Understand", "pass@k and pass^k over k."),
    "tasks": Listed("Understand", "Each task: flaky, changed, suspicious."),
    "cost": Listed("Understand", "The cost of a solved task, and what a budget solves."),
    "trend": Listed("Understand", "pass@1 or costs over runs: changes, and noise."),
    "order": Listed("Understand", "Whether attempts depend on their order."),
    "diversity": Listed("Understand", "How many different solutions the attempts hold."),
    "temperature": Listed("Understand", "The best temperature for each k."),
    "extrapolate": Listed("Understand", "pass@k beyond the attempts made; the k for a target."),
    "plan": Listed("Understand", "How many tasks and attempts the next run needs."),
    "judge": Listed("Understand", "How often a judge errs, and which attempts to label."),
    "describe": Listed("Files", "How the files are read, before anything is computed."),
    "convert": Listed("Files", "Any harness's results as one table."),
    "record": Listed("Files", "Adds a run to a history, for trend and gate."),
    "formats": Listed("Files", "The formats that are recognised; NAME: an example."),
    "report": Listed("Files", "A full report on one page, or a leaderboard to publish."),
}
