"""passk watch: rules about a run that goes on, looked at without raising the chance of an error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.commands.gate import TRUST_RULES
from passk_cli.commands.gate.rules import MaxDrop, MaxIncrease, Minimum, NoRegression
from passk_cli.files.request import Request
from passk_cli.option import DATA, Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import Metrics
from passk_cli.study.rules import FAIL, PASS, Rules

# In place of a list of tasks: as they were completed.
COMPLETION = "completion"


@dataclass(frozen=True)
class WatchOptions(Minimum, NoRegression, MaxIncrease, MaxDrop):
    """Decides a run while it goes on, by the rules of gate.

    All looks together keep the level. Tasks count in an order drawn beforehand.

    Exit code: 0 pass, 1 fail, 5 not yet, 3 it cannot be checked.

    # decide as early as possible whether pass@1 reaches 20 %
    passk watch sample_data/tau_airline.csv --planned 50 --attempts 4 --min pass@1=0.2 \
    --order completion --looks tau.looks

    # look at a run in which 40 of 90 tasks are still missing (exit code 5)
    passk watch sample_data/tau_airline.csv --planned 90 --attempts 4 --min pass@1=0.5 \
    --order completion --looks more.looks

    # stop if pass@1 is significantly lower than in an earlier run
    passk watch sample_data/tau_airline.csv --planned 50 --attempts 4 --no-regression \
    --baseline sample_data/tau_airline.csv -k 1 --order completion --looks again.looks
    """

    # fmt: off
    planned: Annotated[int | None, Option(
        "--planned", "N", "Tasks at the end of the plan.", low=2,
        detail="Named before the run. Default: the tasks of --order, or of the log's dataset.",
    )] = None
    attempts: Annotated[int, Option(
        "--attempts", "N", "Attempts that complete a task.", low=1,
    )] = 1
    every: Annotated[int | None, Option(
        "--every", "N", "A look every N tasks; default: a twentieth of the plan.", low=1,
        detail="Looks are made at multiples of N whenever the command is run, each of the first"
        " tasks of the order alone: the verdict does not depend on when somebody looked.",
        rare=True)] = None
    order: Annotated[tuple[str, ...], Option(
        "--order", f"FILE|{COMPLETION}", "Tasks in the order drawn, one a line.", file="read",
        parse="passk_cli.commands.watch.order:parse_order",
        detail="A look counts the first tasks of it, all complete. Default: the order of the"
        f" dataset, as the log has it. {COMPLETION}: as tasks were completed, which assumes that"
        " this does not depend on their outcomes.")] = ()
    baseline: Annotated[DATA, Option(
        "--baseline", "FILE|NAME", "A file, label=path, or a model in the data.",
        file="read", of_models=True,
        detail="As of passk gate. It has every task of the plan, and is complete.")] = None
    rules: Annotated[str | None, Option(
        "--rules", "FILE", "A file of rules of passk gate; its suite is watched.", file="read",
        detail="FILE... stands in place of its runs, and options in place of its own.",
    )] = None
    trust_rules: TRUST_RULES = False
    suite: Annotated[str | None, Option(
        "--suite", "NAME", "The suite of --rules, where it has several.", rare=True)] = None
    looks: Annotated[str | None, Option(
        "--looks", "FILE", "Where looks are kept; default: RUN.looks.",
        file="written", parse="passk_cli.commands.watch.interim_looks:parse_looks",
        detail="Fewer tasks than at the last look, another plan, other rules and other outcomes of"
        " tasks that were counted are refused. Data of Python's own is watched without.")] = None
    follow: Annotated[bool, Option(
        "--follow", help="Look whenever files have grown, until it is decided.",
        detail="A line shows tasks done, the chance of a decision, the estimate and its interval at"
        " this look. Ctrl-C leaves the looks.")] = False
    on_undecided: Annotated[str, Option(
        "--on-undecided", help="Rules undecided at the end count as", choices=(PASS, FAIL),
        rare=True)] = PASS
    # fmt: on
    # Of a file of rules: tasks in quarantine, and rules that are not watched.
    quarantine: tuple[str, ...] = ()
    skipped_rules: tuple[str, ...] = ()


# Options of gate that would break the level of a look, also in a file of rules, and why.
REFUSED = {
    "by": "watch each part by itself: a condition (where) keeps it",
    "cluster": "a look counts tasks one by one, and not whole clusters; passk gate allows for them"
    " once the run is complete",
    "population": "a look asks about new tasks, as the run has more to come; passk gate judges"
    " these tasks once it is complete",
    "min-by": "a look is judged by its interval",
}
# Options of earlier releases, and what to use instead.
_REMOVED = {
    "best": "it was removed; passk compare tests all models once the run is complete",
    "give-up": "it was removed; the answer shows the chance that the rest decides",
    "prior": "it was removed; the forecast always uses 0.1",
    "pause": "it was removed; --follow looks twice a second",
}
COMMAND = Command(
    WatchOptions, (Request, Metrics, Rules, Confidence),
    without=("test", "family", "margin", "unpaired", "by", "cluster", "population", "min_by"),
    lacking={word: why for name, why in {**REFUSED, **_REMOVED}.items()
             for word in (f"--{name}", name.replace("-", "_"))},
    files="optional", judges=True, view="passk_cli.commands.watch.view:Watch")  # fmt: skip
