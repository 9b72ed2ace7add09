"""passk convert: write any results as one table of attempts or of counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from passk_cli.commands.command import Command
from passk_cli.files.request import KEEP_MISSING, Request
from passk_cli.option import Option, split_at_commas


@dataclass(frozen=True, eq=False, repr=False)
class ConvertOptions:
    """Write any harness's results as one table.

    The table has one row per attempt, in the order of the files. With --counts, it has one row per
    model and task. passk calculates the same numbers from the table as from the original files.

    # write one row per attempt
    passk convert sample_data/agents.jsonl -o attempts.csv

    # keep a further column
    passk convert sample_data/answers.csv --with benchmark -o attempts.parquet

    # print the number of attempts and passes per task
    passk convert sample_data/agents.jsonl --counts
    """

    # fmt: off
    output: Annotated[str | None, Option(
        "-o --output", "FILE", "Write the table to this .csv, .jsonl or .parquet file.",
        file_use="written",
        detail="passk writes the file completely or not at all. Without an output"
        " file, passk prints csv.")] = None
    form: Annotated[str | None, Option(
        "-f --format", help="Format of the table",
        choices=("csv", "jsonl", "parquet", "every-eval-ever"),
        detail="By default, the suffix of the output file sets the format.")] = None
    counts: Annotated[bool, Option(
        "--counts", help="Write one row per model and task, with the counts n and c.",
        detail="n is the number of attempts, and c is the number of passes.")] = False
    missing: Annotated[str | None, Option(
        "--missing", help="How to write a missing outcome",
        choices=(KEEP_MISSING, "error", "fail", "drop"),
        detail="The default, keep, leaves the outcome"
        " empty. With --counts, the default is error.")] = None
    columns: Annotated[tuple[str, ...], Option(
        "--with", "NAME", "Also write this column, such as answer or cost.",
        parse=split_at_commas,
        detail="You can name any column of the data. passk recognises several names for each of"
        " these columns: answer, solution, cost (in dollars), tokens_in, tokens_out, tokens,"
        " duration (in seconds), turns. Repeatable.")] = ()
    engine: Annotated[str, Option(
        "--engine", help="The engine that counts the rows.", choices=("duckdb", "spark"),
        detail="duckdb counts on this machine. spark counts on a cluster, and needs --counts and"
        " --map. With spark, the table also contains the sum of each amount in the map, for example"
        " cost_sum.")] = "duckdb"
    spark_master: Annotated[str | None, Option(
        "--spark-master", "URL", "The Spark master, such as spark://host:7077 or sc://host.",
        detail="By default, passk uses the active Spark session. If there is no active session,"
        " Spark runs on this machine (local[*]).")] = None
    # fmt: on


# `passk convert` has no options that change names or numbers, because passk must be able to read
# the converted table.
_EXCLUDED_OPTIONS = ("digits", "percent", "no_signature", "safe_csv", "stacked", "missing_cost")
_RESUME_ADVICE = "convert each file with --counts; commands read many counts files together"
COMMAND = Command(
    ConvertOptions, (Request,), excluded_options=_EXCLUDED_OPTIONS, writes_table_to_output=True,
    absent_option_reasons=dict.fromkeys(("--resume", "resume"), _RESUME_ADVICE),
    runner_path="passk_cli.commands.convert.view:ConvertRunner")  # fmt: skip
