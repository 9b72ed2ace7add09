"""passk watch: judge a run while it is in progress, without raising the chance of an error."""

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

# The value of --order that counts tasks in the order in which they were completed.
COMPLETION = "completion"


@dataclass(frozen=True)
class WatchOptions(Minimum, NoRegression, MaxIncrease, MaxDrop):
    """Judge a run while it is in progress.

    All looks together keep the confidence level. Tasks count in an order drawn before the run.

    Exit code: 0 pass, 1 fail, 5 not yet decided, 3 cannot be checked.

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
        "--planned", "N", "Number of tasks in the plan.", low=2,
        detail="Choose it before the run. Default: the tasks of --order, or of the log's dataset.",
    )] = None
    attempts: Annotated[int, Option(
        "--attempts", "N", "Attempts that complete a task.", low=1,
    )] = 1
    every: Annotated[int | None, Option(
        "--every", "N", "Look every N tasks. Default: a twentieth of the plan.", low=1,
        detail="A look counts only the first N, 2N, ... tasks of the order, whenever you run the"
        " command. So the verdict does not depend on when you looked.",
        rare=True)] = None
    order: Annotated[tuple[str, ...], Option(
        "--order", f"FILE|{COMPLETION}", "Tasks in the order drawn, one per line.", file="read",
        parse="passk_cli.commands.watch.order:parse_order",
        detail="A look counts the first tasks of this order once they are all complete. Default:"
        f" the order of the dataset in the log. {COMPLETION} counts tasks as they were completed."
        " It assumes that the time of completion does not depend on the outcome.")] = ()
    baseline: Annotated[DATA, Option(
        "--baseline", "FILE|NAME", "A file, label=path, or a model in the data.",
        file="read", of_models=True,
        detail="As in passk gate. It must be complete and contain every task of the plan.")] = None
    rules: Annotated[str | None, Option(
        "--rules", "FILE", "Judge by a suite of a rules file of passk gate.", file="read",
        detail="FILE... replaces the runs of the suite, and options replace its options.",
    )] = None
    trust_rules: TRUST_RULES = False
    suite: Annotated[str | None, Option(
        "--suite", "NAME", "The suite of --rules, if the file has several.", rare=True)] = None
    looks: Annotated[str | None, Option(
        "--looks", "FILE", "The file that records the looks. Default: RUN.looks.",
        file="written", parse="passk_cli.commands.watch.interim_looks:parse_looks",
        detail="passk stops with an error if the plan, the rules or a counted outcome has changed"
        " since the last look. Data from Python needs no such file.")] = None
    follow: Annotated[bool, Option(
        "--follow", help="Look again whenever files have grown, until the run is decided.",
        detail="A line shows the complete tasks, the chance of a decision, and the estimate with"
        " its interval. Ctrl-C stops and keeps the looks.")] = False
    on_undecided: Annotated[str, Option(
        "--on-undecided", help="How to count rules that are undecided at the end.",
        choices=(PASS, FAIL),
        rare=True)] = PASS
    # fmt: on
    # A file of rules sets these: its tasks in quarantine, and its rules that are not watched.
    quarantine: tuple[str, ...] = ()
    skipped_rules: tuple[str, ...] = ()


# Options of gate that would break the confidence level of a look, also in a file of rules, and why.
REFUSED = {
    "by": "watch each group separately: select it with a condition (where)",
    "cluster": "a look counts single tasks and not clusters; passk gate allows for clusters once"
    " the run is complete",
    "population": "a look is about new tasks, because the run is not complete; passk gate can judge"
    " these tasks once it is",
    "min-by": "a look is judged by its interval",
}
# Options of earlier releases, and what to use instead.
_REMOVED = {
    "best": "it was removed; passk compare tests all models once the run is complete",
    "give-up": "it was removed; the answer contains the chance of a decision",
    "prior": "it was removed; the forecast always uses 0.1",
    "pause": "it was removed; --follow checks the files twice a second",
}
COMMAND = Command(
    WatchOptions, (Request, Metrics, Rules, Confidence),
    without=("test", "family", "margin", "unpaired", "by", "cluster", "population", "min_by"),
    lacking={word: why for name, why in {**REFUSED, **_REMOVED}.items()
             for word in (f"--{name}", name.replace("-", "_"))},
    files="optional", judges=True, view="passk_cli.commands.watch.view:WatchQuestion")  # fmt: skip
