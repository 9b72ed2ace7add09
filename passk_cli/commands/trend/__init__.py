"""The command `passk trend`, which finds changes of a metric and differences between runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.files.request import Request
from passk_cli.option import Option
from passk_cli.study.confidence import Confidence

SKIP_RUN_OPTION = Annotated[tuple[str, ...], Option(
    "--skip-run", "REVISION", "Leave out a run of the history.",
    detail="REVISION is the revision or the name of the run. Repeatable.",
)]  # fmt: skip


@dataclass(frozen=True)
class TrendOptions:
    """Find changes of pass@1 or costs over runs.

    passk trend answers three questions about pass@1. When did pass@1 change? Do runs differ by more
    than chance within tasks explains? How large must the difference between two single runs be to
    be significant? If you recorded costs with --with, it also answers the first question for costs.

    # find the runs at which pass@1 changed
    passk trend sample_data/nights.parquet

    # exit with code 1 at a change, unless you acknowledged it
    passk trend sample_data/nights.parquet --fail --acknowledge 17bd287

    # draw the history
    passk trend sample_data/nights.parquet --chart trend.svg
    """

    metrics: Annotated[str, Option(
        "-m --metric", "NAME", "Metric to follow: pass@1, cost, tokens, duration or turns.",
        parse="passk_cli.commands.trend.view:parse_metric_of_histories",
        detail="You can also use tokens_in, tokens_out, and medians such as median-cost. To follow"
        " costs, record the runs with passk record --with cost. Default: pass@1.",
    )] = "pass@1"  # fmt: skip
    fail: Annotated[bool, Option(
        "--fail", help="Exit with code 1 if the newest runs are worse.",
        detail="After a change for the worse, passk trend fails until at least half of the change"
        " is gone. If you want to accept the change, acknowledge the first run with the change, or"
        " a later run. passk gate compares a run only with the last runs, so passk gate does not"
        " detect a lasting drop.",
    )] = False  # fmt: skip
    acknowledge: Annotated[str | None, Option(
        "--acknowledge", "REVISION", "Accept the changes up to this run.",
        detail="REVISION is the revision or the name of the run. Use --acknowledge together with"
        " --fail.",
    )] = None  # fmt: skip
    skip_run: SKIP_RUN_OPTION = ()


COMMAND = Command(
    TrendOptions, (Request, Confidence), has_charts=True, gives_verdict=True,
    excluded_options=("threshold", "missing", "price", "duplicates", "skip_bad", "outcome",
        "records",
             "path", "bounds"),
    absent_option_reasons={
        **dict.fromkeys(("--price", "price"), "set prices when you record runs with passk record"),
    },
    runner_path="passk_cli.commands.trend.view:TrendRunner",
)  # fmt: skip
