"""passk convert: any results as one table of attempts, or of counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.files.request import KEEP, Request
from passk_cli.option import Option, split_at_commas


@dataclass(frozen=True, eq=False, repr=False)
class ConvertOptions:
    """Write any harness's results as one table.

    A row per attempt in the order of the files, or with --counts a row per task; csv, jsonl or
    parquet. It reads back as the same numbers.

    # write one row per attempt
    passk convert sample_data/agents.jsonl -o attempts.csv

    # keep a further column
    passk convert sample_data/answers.csv --with benchmark -o attempts.parquet

    # print the number of attempts and passes per task
    passk convert sample_data/agents.jsonl --counts
    """

    # fmt: off
    output: Annotated[str | None, Option(
        "-o --output", "FILE", "Write here: .csv, .jsonl or .parquet.", file="written",
        detail="It is whole or not there. Default: csv to stdout.")] = None
    form: Annotated[str | None, Option(
        "-f --format", help="Format of the table",
        choices=("csv", "jsonl", "parquet", "every-eval-ever"),
        detail="Default: by the output file's suffix.")] = None
    counts: Annotated[bool, Option(
        "--counts", help="A row per model and task, with n and c.",
        detail="n counts attempts, c passes.")] = False
    missing: Annotated[str | None, Option(
        "--missing", help="A missing outcome.", choices=(KEEP, "error", "fail", "drop"),
        detail="Default: keep, which leaves it empty; with --counts: error.")] = None
    columns: Annotated[tuple[str, ...], Option(
        "--with", "NAME", "Further columns: answer, solution, cost, any other.",
        parse=split_at_commas,
        detail="Any column of the data, or a role that is found under many names: answer, solution,"
        " cost (in dollars), tokens_in, tokens_out, tokens, duration (in seconds), turns."
        " Repeatable.")] = ()
    engine: Annotated[str, Option(
        "--engine", help="Where rows are counted.", choices=("duckdb", "spark"),
        detail="duckdb: on this machine; spark: on a cluster, with --counts and --map. The table"
        " has a sum of each amount that the map names, such as cost_sum.")] = "duckdb"
    spark_master: Annotated[str | None, Option(
        "--spark-master", "URL", "Spark's master, e.g. spark://host:7077, sc://host.",
        detail="Without it: the active session, else this machine (local[*]).")] = None
    # fmt: on


# The table is read back, so names must stay as they are, without a sign before them.
_WITHOUT = ("digits", "percent", "no_signature", "safe_csv", "stacked", "missing_cost")
_EACH_FILE = "convert each file with --counts; commands read many counts files together"
COMMAND = Command(
    ConvertOptions, (Request,), without=_WITHOUT, streams=True,
    lacking=dict.fromkeys(("--resume", "resume"), _EACH_FILE),
    view="passk_cli.commands.convert.view:ConvertQuestion")  # fmt: skip
