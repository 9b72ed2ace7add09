"""passk trend: pass@1 over runs, the effect of the run, and changes."""

from __future__ import annotations

from dataclasses import dataclass

from passk_cli.commands.command import Command
from passk_cli.files.request import Request
from passk_cli.study.confidence import Confidence


@dataclass(frozen=True)
class TrendOptions:
    """pass@1 over the runs of a history: changes, and noise.

    Three answers: when pass@1 changed, with one false-alarm rate for the whole history; whether
    runs differ by more than chance within tasks explains, and by how much; and how far apart two
    single runs must be to differ.

    Example: passk trend sample_data/nights.parquet

    Example: passk trend sample_data/nights.parquet --level 0.99
    """


_PASSES_ONLY = (
    "trend is about pass@1: a history holds passes only, no costs; compare what two runs cost with"
    " passk cost before=FILE after=FILE"
)
COMMAND = Command(
    TrendOptions, (Request, Confidence), charts=True,
    without=("threshold", "missing", "duplicates", "skip_bad", "outcome", "records", "path",
             "bounds", "engine", "spark_master"),
    lacking=dict.fromkeys(("-m", "--metric", "metrics"), _PASSES_ONLY),
    view="passk_cli.commands.trend.view:Trend",
)  # fmt: skip
