"""passk trend: a metric over runs, the effect of the run, and changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.files.request import Request
from passk_cli.option import Option
from passk_cli.study.confidence import Confidence

# Of commands that read a history.
SKIP_RUN = Annotated[tuple[str, ...], Option(
    "--skip-run", "REVISION", "Leave a run of the history out.",
    detail="Its revision or its name. Repeatable.",
)]  # fmt: skip


@dataclass(frozen=True)
class TrendOptions:
    """pass@1 or costs over runs: changes, and noise.

    Three answers: when pass@1 changed, with one false-alarm rate for the whole history; whether
    runs differ by more than chance within tasks explains, and by how much; and how far apart two
    single runs must be to differ. Of a cost the first, where runs were recorded --with it.

    # find the runs at which pass@1 changed
    passk trend sample_data/nights.parquet

    # exit with code 1 at a change, unless you acknowledged it
    passk trend sample_data/nights.parquet --fail --acknowledge 17bd287

    # draw the history
    passk trend sample_data/nights.parquet --chart trend.svg
    """

    metrics: Annotated[str, Option(
        "-m --metric", "NAME", "pass@1, or cost, tokens, duration, turns.",
        parse="passk_cli.commands.trend.view:parse_metric",
        detail="What attempts took is in runs that were recorded with it (passk record --with"
        " cost). Also tokens_in, tokens_out, and medians as median-cost. Default: pass@1.",
    )] = "pass@1"  # fmt: skip
    fail: Annotated[bool, Option(
        "--fail", help="Exit with 1 if the newest runs are worse.",
        detail="A change for the worse counts until --acknowledge names its first run or a later"
        " one, or until most of it is made up for. A gate compares with the last nights only, so"
        " that a lasting drop becomes its own baseline.",
    )] = False  # fmt: skip
    acknowledge: Annotated[str | None, Option(
        "--acknowledge", "REVISION", "Accept the changes up to this run.",
        detail="Its revision or its name. With --fail.",
    )] = None  # fmt: skip
    skip_run: SKIP_RUN = ()


COMMAND = Command(
    TrendOptions, (Request, Confidence), charts=True, judges=True,
    without=("threshold", "missing", "price", "duplicates", "skip_bad", "outcome", "records",
             "path", "bounds"),
    lacking={
        **dict.fromkeys(("--price", "price"), "a run is recorded with its prices, by passk record"),
    },
    view="passk_cli.commands.trend.view:Trend",
)  # fmt: skip
