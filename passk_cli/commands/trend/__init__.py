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

    Example: passk trend sample_data/nights.parquet

    Example: passk trend sample_data/nights.parquet --level 0.99
    """

    metrics: Annotated[str, Option(
        "-m --metric", "NAME", "pass@1, or cost, tokens, duration, turns.",
        parse="passk_cli.commands.trend.view:parse_metric",
        detail="What attempts took is in runs that were recorded with it (passk record --with"
        " cost). Also tokens_in, tokens_out, and medians as median-cost. Default: pass@1.",
    )] = "pass@1"  # fmt: skip
    skip_run: SKIP_RUN = ()


COMMAND = Command(
    TrendOptions, (Request, Confidence), charts=True,
    without=("threshold", "missing", "price", "duplicates", "skip_bad", "outcome", "records",
             "path", "bounds", "engine", "spark_master"),
    lacking={
        **dict.fromkeys(("--price", "price"), "a run is recorded with its prices, by passk record"),
    },
    view="passk_cli.commands.trend.view:Trend",
)  # fmt: skip
