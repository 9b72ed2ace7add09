"""passk trend: a metric over runs, its changes, and the differences between runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.files.request import Request
from passk_cli.option import Option
from passk_cli.study.confidence import Confidence

# All commands that read a history have this option.
SKIP_RUN = Annotated[tuple[str, ...], Option(
    "--skip-run", "REVISION", "Leave out a run of the history.",
    detail="Name the run or its revision. Repeatable.",
)]  # fmt: skip


@dataclass(frozen=True)
class TrendOptions:
    """Find changes of pass@1 or costs over runs.

    passk trend answers three questions about pass@1. When did it change, with one false-alarm rate
    for the whole history? Do runs differ by more than chance within tasks explains? How large must
    the difference of two single runs be to count? For costs it answers the first one, if you
    recorded the runs with --with.

    # find the runs at which pass@1 changed
    passk trend sample_data/nights.parquet

    # exit with code 1 at a change, unless you acknowledged it
    passk trend sample_data/nights.parquet --fail --acknowledge 17bd287

    # draw the history
    passk trend sample_data/nights.parquet --chart trend.svg
    """

    metrics: Annotated[str, Option(
        "-m --metric", "NAME", "pass@1, or cost, tokens, duration, turns.",
        parse="passk_cli.commands.trend.view:history_metric_name",
        detail="Also tokens_in, tokens_out, and medians such as median-cost. For costs, record the"
        " runs with passk record --with cost. Default: pass@1.",
    )] = "pass@1"  # fmt: skip
    fail: Annotated[bool, Option(
        "--fail", help="Exit with 1 if the newest runs are worse.",
        detail="A change for the worse counts until --acknowledge names its first run or a later"
        " one, or until at least half of it is gone. A gate compares only with the last runs, so a"
        " lasting drop becomes its baseline.",
    )] = False  # fmt: skip
    acknowledge: Annotated[str | None, Option(
        "--acknowledge", "REVISION", "Accept the changes up to this run.",
        detail="Name the run or its revision. Use it with --fail.",
    )] = None  # fmt: skip
    skip_run: SKIP_RUN = ()


COMMAND = Command(
    TrendOptions, (Request, Confidence), charts=True, judges=True,
    without=("threshold", "missing", "price", "duplicates", "skip_bad", "outcome", "records",
             "path", "bounds"),
    lacking={
        **dict.fromkeys(("--price", "price"), "set prices when you record a run with passk record"),
    },
    view="passk_cli.commands.trend.view:TrendQuestion",
)  # fmt: skip
