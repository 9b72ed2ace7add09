"""passk gate: rules for a pipeline, and an exit code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from passk_cli.commands.command import Command
from passk_cli.commands.gate.rules import (
    EveryAttempt,
    EveryTask,
    MaxDrop,
    MaxErrors,
    MaxIncrease,
    MaxMissing,
    MinEach,
    Minimum,
    MustPass,
    NoRegression,
)
from passk_cli.commands.trend import SKIP_RUN
from passk_cli.files.request import Request
from passk_cli.option import DATA, Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import Metrics
from passk_cli.study.rules import FAIL, PASS, Rules

TRUST_RULES = Annotated[bool, Option(
    "--trust-rules", help="The file of rules may name files anywhere.", rare=True,
    detail="Without it, rules name files in their own folder and below it: an address, an absolute"
    " path, and a path or a link out of that folder are refused. Use it for rules that you wrote.",
)]  # fmt: skip


# The rules there are, in the order of their lines; each brings its options.
@dataclass(frozen=True)
class GateOptions(
    EveryTask, EveryAttempt, MaxMissing, MaxErrors, Minimum, MustPass, MinEach, NoRegression,
    MaxIncrease, MaxDrop,
):  # fmt: skip
    """Passes or fails CI by its exit code: rules about a run.

    Exit code: 0 no rule fails, 1 one fails, 3 none fails but one cannot be checked.

    Example: passk gate sample_data/cruxeval.jsonl.gz --pool temperature --model 'gpt*' --baseline gpt-3.5-turbo-0613 --max-drop pass@1=0.02

    Example: passk gate --rules sample_data/passk.toml
    """  # noqa: E501

    rules: Annotated[str | None, Option(
        "--rules", "FILE", "Suites with rules, in a file.", file="read",
        detail="Without files and --rules: passk.toml, else [tool.passk] of pyproject.toml, in"
        " the current folder. Options beside it replace those of the file.")] = None  # fmt: skip
    trust_rules: TRUST_RULES = False
    tier: Annotated[str | None, Option(
        "--tier", "NAME", "Run the suites of this tier only.", detail="Of --rules.", rare=True,
    )] = None  # fmt: skip
    check: Annotated[bool, Option("--check", help="Check the file of rules without data.")] = False
    baseline: Annotated[DATA, Option(
        "--baseline", "FILE|NAME", "A file, label=path, or a model in the data.",
        file="read", of_models=True,
        detail="Several files are read together. history.parquet:last5 pools the last 5 runs of"
        " a history (passk record) and allows for the effect of a run.")] = None  # fmt: skip
    first_run: Annotated[bool, Option(
        "--first-run", help="The baseline does not exist yet.",
        detail="Use it once, on the first night: rules about changes are not judged. Without it a"
        " missing baseline is an error (exit code 3), and with it an existing one is.",
    )] = False  # fmt: skip
    skip_run: SKIP_RUN = ()
    on_undecided: Annotated[
        str, Option("--on-undecided", help="Undecided rules count as", choices=(PASS, FAIL))
    ] = PASS
    rehearse: Annotated[bool, Option(
        "--rehearse", help="How often this gate fails with nothing changed.",
        detail="Also the smallest drop that each rule detects, and which rules cannot pass"
        " or fail. Exits with 0, unless --max-false-alarms is exceeded; without --baseline the"
        " run is its own.")] = False  # fmt: skip
    max_false_alarms: Annotated[float | None, Option(
        "--max-false-alarms", "SHARE", "--rehearse fails when the gate fails more often.",
        low=0.0, high=1.0, rare=True,
        detail="The share of rehearsals with nothing changed in which the whole gate fails:"
        " above SHARE the exit code is 1.")] = None  # fmt: skip
    # The suites of a file of rules, and the rules that wait for a first baseline.
    book: Any = None
    later: Any = ()


_NO_CEILING = (
    "numbers of which less is better, as cost and cost-per-success, are held against a baseline:"
    " --baseline FILE --max-increase cost=10% fails when it rises significantly more"
)
COMMAND = Command(
    GateOptions, (Request, Metrics, Rules, Confidence), without=("test", "family", "margin"),
    lacking={
        **dict.fromkeys(("--max", "--maximum", "max", "maximum"), _NO_CEILING),
        **dict.fromkeys(("--first", "first"), "use --first-run on the first night, once"),
    },
    files="optional",
    judges=True, view="passk_cli.commands.gate.question:Gate")  # fmt: skip
