"""The command `passk gate`, which checks a run against rules and sets the exit code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from passk_cli.commands.command import Command
from passk_cli.commands.gate.rules import (
    BaselineTasksPresentRule,
    ExpectedAttemptCountRule,
    MaxDrop,
    MaxErrors,
    MaxIncrease,
    MaxMissing,
    Minimum,
    MinPassRateOfEachTaskRule,
    MustPass,
    NoRegression,
)
from passk_cli.commands.trend import SKIP_RUN_OPTION
from passk_cli.files.request import Request
from passk_cli.option import ANY_DATA_OPTION_TYPE, Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metric_selection import MetricOptions
from passk_cli.study.significance_options import FAIL, PASS, ComparisonOptions

TRUST_RULES_OPTION = Annotated[bool, Option(
    "--trust-rules", help="Allow files outside the folder of the rules file.",
    only_in_full_help=True,
    detail="Without --trust-rules, a rules file may name only files in its folder and in"
    " subfolders. passk refuses URLs, absolute paths, and links that lead out of the folder. Use"
    " --trust-rules only for rules that you wrote.",
)]  # fmt: skip


# The base classes of the options are the rules of the gate, in the order in which the report lists
# the rules.
@dataclass(frozen=True)
class GateOptions(
    BaselineTasksPresentRule, ExpectedAttemptCountRule, MaxMissing, MaxErrors, Minimum, MustPass,
    MinPassRateOfEachTaskRule, NoRegression,
    MaxIncrease, MaxDrop,
):  # fmt: skip
    """Check a run against rules; the exit code is the verdict.

    A rule passes, fails, or stays undecided because its interval includes the limit. Undecided
    rules count as passes unless --on-undecided is fail.

    Exit codes: 0 no rule failed · 1 a rule failed · 2 wrong usage · 3 no rule failed, but the data
    are invalid or a rule could not be checked · 4 internal error

    # fail if pass@1 is significantly more than 2 points below the baseline
    passk gate sample_data/cruxeval.jsonl.gz --pool temperature --model 'gpt*' \
    --baseline gpt-3.5-turbo-0613 --max-drop pass@1=0.02

    # fail if pass@1 is significantly below 30 %
    passk gate sample_data/tau_airline.csv --min pass@1=0.3

    # check every suite of a rules file
    passk gate --rules sample_data/passk.toml
    """

    rules: Annotated[str | None, Option(
        "--rules", "FILE", "Read suites and rules from a TOML file.", file_use="read",
        detail="If you give neither files nor --rules, passk reads passk.toml in the current"
        " folder, or [tool.passk] in pyproject.toml. Options on the command line replace options of"
        " the file.",
    )] = None  # fmt: skip
    trust_rules: TRUST_RULES_OPTION = False
    tier: Annotated[str | None, Option(
        "--tier", "NAME", "Run only the suites of this tier in the rules file.",
        only_in_full_help=True,
    )] = None  # fmt: skip
    check: Annotated[bool, Option("--check", help="Only validate the rules file.")] = False
    baseline: Annotated[ANY_DATA_OPTION_TYPE, Option(
        "--baseline", "FILE|NAME", "Compare the run with this file or model.",
        file_use="read", is_model_name=True,
        detail="Several files are read as one baseline. history.parquet:last5 pools the last 5 runs"
        " of a history (see passk record). If the baseline has several runs, the intervals also"
        " include the variation between runs.")] = None  # fmt: skip
    first_run: Annotated[bool, Option(
        "--first-run", help="Accept that the baseline does not exist yet.",
        detail="Use --first-run only for the first run. With --first-run, passk does not check"
        " rules about changes, and an existing baseline is an error. Without --first-run, a missing"
        " baseline is an error (exit code 3).",
    )] = False  # fmt: skip
    skip_run: SKIP_RUN_OPTION = ()
    on_undecided: Annotated[
        str, Option("--on-undecided", help="How to count an undecided rule", choices=(PASS, FAIL))
    ] = PASS
    rehearse: Annotated[bool, Option(
        "--rehearse", help="Simulate how often the gate fails although nothing changed.",
        detail="passk also prints the smallest drop that each rule detects, and the rules that"
        " cannot pass or cannot fail. The exit code is 0 unless the share of false alarms is above"
        " --max-false-alarms. Without --baseline, the run is compared with"
        " itself.")] = False  # fmt: skip
    max_false_alarms: Annotated[float | None, Option(
        "--max-false-alarms", "SHARE", "Fail if more than SHARE of the rehearsals are false"
        " alarms.",
        low=0.0, high=1.0, only_in_full_help=True,
        detail="The exit code is 1 if the whole gate fails in more than SHARE of the rehearsals"
        " without a change.")] = None  # fmt: skip
    # `rulebook` contains the rules file, and `rules_awaiting_baseline` contains the rules that
    # cannot be checked until there is a first baseline.
    rulebook: Any = None
    rules_awaiting_baseline: Any = ()


_UNKNOWN_MAX_OPTION_ADVICE = (
    "passk gate limits costs only relative to a baseline: --baseline FILE --max-increase cost=10%"
    " fails if the cost rises by significantly more than 10 %"
)
COMMAND = Command(
    GateOptions, (Request, MetricOptions, ComparisonOptions, Confidence),
    excluded_options=("test", "family", "margin"),
    absent_option_reasons={
        **dict.fromkeys(("--max", "--maximum", "max", "maximum"), _UNKNOWN_MAX_OPTION_ADVICE),
        **dict.fromkeys(("--first", "first"), "use --first-run once, for the first run"),
    },
    file_requirement="optional",
    gives_verdict=True, runner_path="passk_cli.commands.gate.runner:GateRunner")  # fmt: skip
