"""passk record: add a run to a history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.files.request import Request
from passk_cli.option import Option


@dataclass(frozen=True, eq=False, repr=False)
class RecordOptions:
    """Add a run to a history, for trend and gate.

    A history is a Parquet file with one row per run, model and task, and several jobs can add runs
    at the same time. A history can also be a folder with one file per run, which needs no locks and
    can be in any object store. A run is added completely or not at all.

    # add a run to a history file
    passk record sample_data/tau_airline.csv --to history.parquet --at 1f3a9c2

    # record the cost as well, in a folder with one file per run
    passk record sample_data/costs.csv --to history/ --at 1f3a9c2 --with cost

    # record each temperature separately
    passk record sample_data/cruxeval.jsonl.gz --by temperature \
    --to temperatures.parquet --at 1f3a9c2
    """

    # fmt: off
    to: Annotated[str | None, Option(
        "--to", "FILE|FOLDER/", "Record the run in this history: a .parquet file, or a folder.",
        parse="passk_cli.files.history:require_valid_history_path",
        detail="passk creates the history if it does not exist. End the name of a new folder with"
        " a slash.",
    )] = None
    at: Annotated[str | None, Option(
        "--at", "REV", "The revision that was run, such as $GITHUB_SHA.",
    )] = None
    suite: Annotated[str, Option(
        "--suite", "NAME", "The suite that was run.", detail="A history can contain several"
        " suites.",
    )] = "all"
    run: Annotated[str | None, Option(
        "--run", "NAME", "Name of the run. Default: the revision.",
        detail="If you record several runs of one revision, give them different names.",
    )] = None
    incomplete: Annotated[bool, Option(
        "--incomplete", help="Record a run that lacks tasks or attempts, and mark it as"
        " incomplete.",
        detail="Without --incomplete, passk stops with exit code 3 if the run has fewer tasks or"
        " attempts than the last complete run of its suite and model. passk keeps incomplete runs"
        " in the history, but does not use incomplete runs for baselines and trends.",
    )] = False
    date: Annotated[str | None, Option(
        "--date", "TIME", "Time of the run, such as 2026-11-23T04:00Z. Default: now.",
        parse="passk_cli.commands.record.view:parse_date",
        detail="passk sorts the runs of a history by time. A time without a zone is in UTC.",
    )] = None
    columns: Annotated[tuple[str, ...], Option(
        "--with", "NAME", "Also record cost, tokens, duration or turns.",
        parse="passk_cli.commands.record.view:parse_amount_names",
        detail="You can also record tokens_in and tokens_out. passk records one value per attempt,"
        " so that you can use, for example, passk trend -m cost. A missing value stays missing."
        " Repeatable.",
    )] = ()
    # fmt: on


_NO_MISSING_COST_OPTION_REASON = (
    "a history keeps missing costs as missing values; use this option with passk trend"
)
COMMAND = Command(
    RecordOptions, (Request,), excluded_options=("missing_cost",),
    absent_option_reasons=dict.fromkeys(("--missing-cost", "missing_cost"),
        _NO_MISSING_COST_OPTION_REASON),
    runner_path="passk_cli.commands.record.view:RecordRunner",
)  # fmt: skip
