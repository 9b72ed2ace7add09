"""passk record: the counts of a run, added to a history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.files.request import Request
from passk_cli.option import Option


@dataclass(frozen=True, eq=False, repr=False)
class RecordOptions:
    """Adds a run to a history, for trend and gate.

    The history is one Parquet file with a row per run, model and task; jobs can add to it at the
    same time. Or it is a folder with a file per run, which needs no locks and can lie in any
    object store. A run is added whole or not at all.

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
        "--to", "FILE|FOLDER/", "The history: a .parquet file, or a folder.",
        parse="passk_cli.files.history:parse_history",
        detail="It is made if it is not there; a folder that is not there ends with /.",
    )] = None
    at: Annotated[str | None, Option(
        "--at", "REV", "The revision that was run, e.g. $GITHUB_SHA.",
    )] = None
    suite: Annotated[str, Option(
        "--suite", "NAME", "The suite that was run.", detail="A history can hold several.",
    )] = "all"
    run: Annotated[str | None, Option(
        "--run", "NAME", "Name of the run; default: the revision.",
        detail="Further runs of one revision need names of their own.",
    )] = None
    incomplete: Annotated[bool, Option(
        "--incomplete", help="Record a run that lacks tasks or attempts, and mark it.",
        detail="Without it such a run is an error (exit code 3): it is compared with the last"
        " complete run of its suite and model. A marked run stays in the history, and neither a"
        " baseline nor a trend uses it.",
    )] = False
    date: Annotated[str | None, Option(
        "--date", "TIME", "When it was run, e.g. 2026-11-23T04:00Z; default: now.",
        parse="passk_cli.commands.record.view:parse_date",
        detail="Runs are in the order of their times. Without a zone it is UTC.",
    )] = None
    columns: Annotated[tuple[str, ...], Option(
        "--with", "NAME", "Keep what attempts took: cost, tokens, duration, turns.",
        parse="passk_cli.commands.record.view:parse_amounts",
        detail="Also tokens_in and tokens_out. Of every attempt, for passk trend -m cost; a missing"
        " one is kept as missing. Repeatable.",
    )] = ()
    # fmt: on


_MISSING_COST = "a history keeps a missing cost as missing, and passk trend asks what becomes of it"
COMMAND = Command(
    RecordOptions, (Request,), without=("missing_cost",),
    lacking=dict.fromkeys(("--missing-cost", "missing_cost"), _MISSING_COST),
    view="passk_cli.commands.record.view:Record",
)  # fmt: skip
