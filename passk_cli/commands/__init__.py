"""Commands: a folder for each, whose `__init__` declares its options and whose `view` answers.

The declaration is a frozen dataclass: its fields are the options, its docstring is the help.  It is
imported for the help, which must cost nothing; the question, a subclass with what it computes, is
named by its place and imported when it is asked.  No files, no rendering, no drawing, no typer.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    """A command in the list of all.

    section : of the help it stands in.
    purpose : the first line of its help, here once more: the list of commands imports none of them.
    """

    section: str
    purpose: str


# Name → its entry; its module here has the declaration.
COMMANDS = {
    "estimate": Entry("Measure", "pass@k and pass^k of every model, with intervals."),
    "compare": Entry("Measure", "Which models differ significantly, and which tie."),
    "gate": Entry("Measure", "Passes or fails CI by its exit code: rules about a run."),
    "watch": Entry("Measure", "Decides a run while it goes on, by the rules of gate."),
    "bootstrap": Entry("Measure", "Bias, standard errors, and intervals of every method."),
    "curve": Entry("Understand", "pass@k and pass^k over k."),
    "tasks": Entry("Understand", "Each task: flaky, changed, suspicious."),
    "cost": Entry("Understand", "The cost of a solved task, and what a budget solves."),
    "trend": Entry("Understand", "pass@1 or costs over runs: changes, and noise."),
    "order": Entry("Understand", "Whether attempts depend on their order."),
    "diversity": Entry("Understand", "How many different solutions the attempts hold."),
    "temperature": Entry("Understand", "The best temperature for each k."),
    "extrapolate": Entry("Understand", "pass@k beyond the attempts made; the k for a target."),
    "plan": Entry("Understand", "How many tasks and attempts the next run needs."),
    "judge": Entry("Understand", "How often a judge errs, and which attempts to label."),
    "describe": Entry("Files", "How the files are read, before anything is computed."),
    "convert": Entry("Files", "Any harness's results as one table."),
    "record": Entry("Files", "Adds a run to a history, for trend and gate."),
    "formats": Entry("Files", "The formats that are recognised; NAME: an example."),
    "report": Entry("Files", "A full report on one page, or a leaderboard to publish."),
}
