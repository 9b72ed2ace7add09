"""The commands, with one folder per command.

In each folder, `__init__` declares the options, and `view` computes the answer. The options of a
command are the fields of a frozen dataclass, and the docstring of this class is the help of the
command. The help imports the module with the options, so this module must load fast. A string of
the form "module:class" names the class that computes the answer. The module of this class is
imported only when the command runs.
"""

from typing import NamedTuple


class CommandListEntry(NamedTuple):
    """A command in the list of all commands.

    section : title of the group in which the list shows the command.
    purpose : first line of the command's help.  This line is repeated here, so that passk can print
        the list without importing the commands.
    """

    section: str
    purpose: str


COMMANDS = {
    "estimate": CommandListEntry("Measure", "Estimate pass@k and pass^k, with intervals."),
    "compare": CommandListEntry("Measure", "Test which models differ, and which tie."),
    "gate": CommandListEntry("Measure", "Check a run against rules; the exit code is the verdict."),
    "watch": CommandListEntry("Measure", "Judge a run while it is in progress."),
    "bootstrap": CommandListEntry(
        "Measure", "Show the intervals of every method, bias and errors."
    ),
    "curve": CommandListEntry("Understand", "Show pass@k and pass^k over k."),
    "tasks": CommandListEntry("Understand", "Find flaky, changed and suspicious tasks."),
    "cost": CommandListEntry("Understand", "Measure what a solved task costs."),
    "trend": CommandListEntry("Understand", "Find changes of pass@1 or costs over runs."),
    "order": CommandListEntry("Understand", "Test whether attempts depend on their order."),
    "diversity": CommandListEntry(
        "Understand", "Count the different solutions among the attempts."
    ),
    "temperature": CommandListEntry("Understand", "Find the best temperature for each k."),
    "horizon": CommandListEntry(
        "Understand", "Find the length of task that half of the attempts solve."
    ),
    "extrapolate": CommandListEntry("Understand", "Predict pass@k beyond the attempts made."),
    "plan": CommandListEntry("Understand", "Plan the tasks and attempts of the next run."),
    "judge": CommandListEntry("Understand", "Estimate how often a judge errs."),
    "describe": CommandListEntry("Files", "Show how files are read, before anything is computed."),
    "convert": CommandListEntry("Files", "Write any harness's results as one table."),
    "record": CommandListEntry("Files", "Add a run to a history, for trend and gate."),
    "formats": CommandListEntry("Files", "List the formats that passk recognises."),
    "report": CommandListEntry("Files", "Write a full report, or a leaderboard to publish."),
}
