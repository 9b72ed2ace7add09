"""The command `passk watch`, which judges a run in progress and keeps the confidence level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.commands.gate import TRUST_RULES_OPTION
from passk_cli.commands.gate.rules import MaxDrop, MaxIncrease, Minimum, NoRegression
from passk_cli.files.request import Request
from passk_cli.option import ANY_DATA_OPTION_TYPE, Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metric_selection import MetricOptions
from passk_cli.study.significance_options import FAIL, PASS, ComparisonOptions

# If --order is COMPLETION_ORDER, passk counts tasks in the order of their completion.
COMPLETION_ORDER = "completion"


@dataclass(frozen=True)
class WatchOptions(Minimum, NoRegression, MaxIncrease, MaxDrop):
    """Judge a run while it is in progress.

    You can look at the results as often as you want, because all interim looks together keep the
    confidence level. An interim look counts the first tasks of an order that you drew before the
    run.

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
        detail="Choose N before the run. By default, N is the number of tasks in --order, or in the"
        " dataset of the log.",
    )] = None
    attempts: Annotated[int, Option(
        "--attempts", "N", "Number of attempts that complete a task.", low=1,
    )] = 1
    every: Annotated[int | None, Option(
        "--every", "N", "Number of tasks between interim looks. The default is a twentieth of the"
        " planned tasks.",
        low=1,
        detail="passk makes an interim look after the first N, 2N, ... tasks of the order. Because"
        " the steps are fixed, the verdict does not depend on when you run the command.",
        only_in_full_help=True)] = None
    order: Annotated[tuple[str, ...], Option(
        "--order", f"FILE|{COMPLETION_ORDER}", "File with the random order of tasks, one per line.",
        file_use="read",
        parse="passk_cli.commands.watch.task_order:parse_order",
        detail="An interim look counts the first tasks of the order only if all of these tasks are"
        f" complete. The default is the order of the dataset in the log. {COMPLETION_ORDER} uses"
        f" the"
        " order of completion, which assumes that the time of completion does not depend on the"
        " outcome.")] = ()
    baseline: Annotated[ANY_DATA_OPTION_TYPE, Option(
        "--baseline", "FILE|NAME", "Compare the run with this file or model.",
        file_use="read", is_model_name=True,
        detail="The baseline must be complete and contain every task of the plan.")] = None
    rules: Annotated[str | None, Option(
        "--rules", "FILE", "Use the rules of a suite in this rules file.", file_use="read",
        detail="Files and options on the command line replace the runs and the options of the"
        " suite.",
    )] = None
    trust_rules: TRUST_RULES_OPTION = False
    suite: Annotated[str | None, Option(
        "--suite", "NAME", "Use this suite of the rules file.",
        only_in_full_help=True)] = None
    looks: Annotated[str | None, Option(
        "--looks", "FILE", "The file that records interim looks. Default: RUN.looks.",
        file_use="written", parse="passk_cli.commands.watch.interim_looks:parse_looks_path",
        detail="passk stops with an error if the plan, the rules or a counted outcome has changed"
        " since the last look. If the data comes from Python, you do not need a looks"
        " file.")] = None
    follow: Annotated[bool, Option(
        "--follow", help="Repeat the interim look when files grow, until there is a decision.",
        detail="A status line shows the number of complete tasks, the chance of a decision, and the"
        " estimate with its interval. If you press Ctrl-C, passk stops and keeps the looks"
        " file.")] = False
    on_undecided: Annotated[str, Option(
        "--on-undecided", help="How to count rules that are undecided at the end.",
        choices=(PASS, FAIL),
        only_in_full_help=True)] = PASS
    # fmt: on
    # These fields are not options. passk takes their values from the rules file.
    quarantine: tuple[str, ...] = ()
    skipped_rules: tuple[str, ...] = ()


# REFUSED_GATE_OPTIONS maps each option that would break the confidence level of interim looks to
# advice on what to do instead.
REFUSED_GATE_OPTIONS = {
    "by": "watch each group separately, and select the group with a condition (where)",
    "cluster": "passk watch counts single tasks and not clusters; passk gate allows for clusters"
    " when the run is complete",
    "population": "passk watch judges performance on new tasks, because the run is not complete;"
    " passk gate can judge performance on these tasks when the run is complete",
    "min-by": "passk watch always compares a minimum with the interval",
}
# _REMOVED_OPTION_ADVICE maps each option of earlier releases to advice on what to use instead.
_REMOVED_OPTION_ADVICE = {
    "best": "this option was removed; passk compare tests all models when the run is complete",
    "give-up": "this option was removed; the answer contains the chance of a decision",
    "prior": "this option was removed; the forecast always uses 0.1",
    "pause": "this option was removed; --follow checks the files twice a second",
}
COMMAND = Command(
    WatchOptions, (Request, MetricOptions, ComparisonOptions, Confidence),
    excluded_options=("test", "family", "margin", "unpaired", "by", "cluster", "population",
        "min_by"),
    absent_option_reasons={word: why for name, why in {**REFUSED_GATE_OPTIONS,
        **_REMOVED_OPTION_ADVICE}.items()
             for word in (f"--{name}", name.replace("-", "_"))},
    file_requirement="optional", gives_verdict=True,
    runner_path="passk_cli.commands.watch.view:WatchRunner")  # fmt: skip
