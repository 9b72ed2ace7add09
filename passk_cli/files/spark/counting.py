"""Count attempts and passes on a Spark cluster, using the columns that a map names.

The cluster groups equal rows in one aggregation. The cluster returns one row for each combination
of model, task, groups and outcome, with the number of attempts. This module then uses the same SQL
as for local files to decide which outcomes pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from passk_cli.errors import DataError, ParameterError
from passk_cli.files.counting.outcome_word_messages import outcome_word_verdict_messages
from passk_cli.files.counting.raw_text_checks import ATTEMPTS_WITHOUT_BY_VALUE_NOTE
from passk_cli.files.database import quote_name, shared_connection
from passk_cli.files.reading.layout import FileStorageLayout
from passk_cli.files.request import MISSING_FIXES, Request
from passk_cli.files.roles import (
    AMOUNT_UNITS,
    BELOW,
    FIXED_VALUE_PREFIX,
    REACHED,
    amount_addends,
    amount_sql,
    combined_columns,
    outcome_verdict_sql,
    reaches_threshold_sql,
)
from passk_cli.files.sources.source import SKIP_BAD_LINES_FIX
from passk_cli.files.spark.rows import BAD_ROW_COLUMN, SparkRows, quote_column, read_rows
from passk_cli.files.spark.session import NotOnSparkError, spark_session
from passk_cli.files.toml_map import NO_MAP, ColumnMap, read_maps
from passk_cli.option import changed_option_names
from passk_cli.outcomes.counts import Counts
from passk_cli.outcomes.provenance import FileFormatAndRoles, ReadFacts
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix

_SUPPORTED_ROLES = ("task", "outcome", "model", "attempt", *AMOUNT_UNITS)
_SUPPORTED_OPTIONS = frozenset(
    "--field --map --outcome --all --threshold --passes --fails --missing --by --pool --from"
    " --skip-bad --duplicates".split()
)
# Spark does not apply the options in _DEFERRED_OPTIONS. passk applies these options later, when it
# reads the table of counts.
_DEFERRED_OPTIONS = ("--model", "--exclude-model", "--alias", "--exclude-task", "--only-task")


def count_and_sum_on_cluster(
    addresses: Sequence[str], request: Request, master: str | None
) -> tuple[Counts, dict[str, Any]]:
    """Count the attempts in files that a cluster can read, and sum the amounts that the map names.

    request : a request with a map.
    master : the Spark master, as in `spark_session`.
    Returns the counts, and a dict with an array of sums for each amount. An array has one sum per
        model, group and task. A sum is None if an attempt lacks the amount.
    Errors: ParameterError if there is no map, or if a cluster cannot apply an option. DataError if
        the data is invalid.
    """
    data_map, request = _read_map_and_merge_request(request)
    _require_supported(data_map, request)
    with spark_session(master, addresses) as spark:
        rows = read_rows(spark, addresses, data_map, request.format)
        if absent := data_map.missing_required_columns(rows.columns):
            problem = f"the map expects a column {absent[0]!r}, but the files lack this column"
            remedy = "correct the key `has` in the map"
            raise ParameterError(data_map.place, problem, remedy, name="bad-map")
        roles = [request.named_column_by_role[role] for role in ("model", "task", "outcome")]
        read = [part for column in roles for part in combined_columns(column, rows.columns)]
        columns = [
            c for c in dict.fromkeys((*read, *request.by)) if not c.startswith(FIXED_VALUE_PREFIX)
        ]
        groups = _group_rows(rows, columns, request)
    return _counts_from_groups(groups, rows, columns, request)


def _read_map_and_merge_request(request: Request) -> tuple[ColumnMap, Request]:
    maps = [] if request.map in (None, "", NO_MAP) else read_maps(request.map)
    if len(maps) != 1:
        raise ParameterError(
            OptionWithValue("--engine", "spark"),
            "to count on a cluster, passk needs a map with exactly one table [data]",
            "passk describe writes a map for a local file", name="bad-map",
            settles=[SuggestedFix({"--map": Placeholder("FILE")}, "sets the map")],
        )  # fmt: skip
    return maps[0], maps[0].merged_request(replace(request, map=None))


def _require_supported(data_map: ColumnMap, request: Request) -> None:
    fields = request.named_column_by_role
    for role in ("task", "outcome", "model"):
        if role not in fields:
            line = f'{role} = "COLUMN"' + ' or model = {value = "NAME"}' * (role == "model")
            problem = f"the map names no column for the {role}"
            raise ParameterError(data_map.place, problem, f"write {line}", name="bad-map")
    for role, column in fields.items():
        if role not in _SUPPORTED_ROLES:
            problem = f"a cluster only counts passes and adds amounts, so it cannot read {role}"
            raise NotOnSparkError(data_map.place, problem, "remove the role from the map")
        is_special = column.startswith("@") and not column.startswith(FIXED_VALUE_PREFIX)
        if is_special or "[" in column or (role == "outcome" and "," in column):
            problem = "a cluster cannot read lists, line numbers or columns of models"
            problem += f" ({role} = {column!r})"
            raise NotOnSparkError(data_map.place, problem, "write one row per attempt")
    policies = {"--missing": request.missing == "bounds", "--threshold": len(request.threshold) > 1,
                "--duplicates": request.duplicates in ("first", "last")}  # fmt: skip
    for option in changed_option_names(request):
        if option not in _SUPPORTED_OPTIONS or policies.get(option):
            later = f"give {option} to the command that reads the counts" * (
                option in _DEFERRED_OPTIONS
            )
            settles = [] if later else [SuggestedFix({option: None})]
            raise ParameterError(
                OptionWithValue(option),
                "a cluster cannot apply this option",
                later,
                settles=settles,
                name="contradicting-options",
            )


def _amount_addends_by_role(rows: SparkRows, request: Request) -> dict[str, list[tuple[str, str]]]:
    fields = request.fields
    return {r: amount_addends(r, fields[r], rows.columns) for r in AMOUNT_UNITS if r in fields}


def _group_rows(rows: SparkRows, columns: Sequence[str], request: Request) -> Any:
    from pyspark.sql.functions import expr

    attempt = request.fields.get("attempt")
    amounts = _amount_addends_by_role(rows, request)
    added = [part for of in amounts.values() for part, _ in of]
    frame = rows.select([*dict.fromkeys((*columns, *added, *filter(None, [attempt])))])
    if attempt and request.duplicates == "error":
        _require_no_repeats(rows, frame, columns, request)
    totals = {
        "#times": f"count_if(NOT {quote_column(BAD_ROW_COLUMN)})",
        "#bad": f"count_if({quote_column(BAD_ROW_COLUMN)})",
    }
    for role, of in amounts.items():
        number = " + ".join(f"({amount_sql(quote_column(part), unit)})" for part, unit in of)
        totals |= {
            f"#{role}": f"sum({number})", f"#{role}_known": f"count({number})",
            f"#{role}_wrong": f"count_if(({number}) NOT BETWEEN 0 AND 1e308)",
        }  # fmt: skip
    keys = [expr(_column_or_threshold_sql(column, request)).alias(column) for column in columns]
    return frame.groupBy(*keys).agg(*(expr(sql).alias(n) for n, sql in totals.items())).toArrow()


def _column_or_threshold_sql(column: str, request: Request) -> str:
    """The SQL expression by which rows are grouped. The expression is a column, or a test of
    whether a score reaches the threshold."""
    value, bar = quote_column(column), request.passing_score
    if bar is None or column != request.named_column_by_role["outcome"] or column in request.by:
        return value
    # Spark compares only numbers that Spark and DuckDB read in the same way. DuckDB compares all
    # other values after Spark has counted.
    plain = f"{value} RLIKE '^-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]{{1,2}})?$'"
    passes = f"if({reaches_threshold_sql(f'CAST({value} AS DOUBLE)', bar)}, '{REACHED}', '{BELOW}')"
    return f"CASE WHEN {plain} THEN {passes} ELSE {value} END"


def _require_no_repeats(
    rows: SparkRows, frame: Any, columns: Sequence[str], request: Request
) -> None:
    outcome = combined_columns(request.named_column_by_role["outcome"], rows.columns)
    keys = [quote_column(c) for c in columns if c not in outcome or c in request.by]
    attempt = quote_column(request.fields["attempt"])
    repeated = frame.where(f"{attempt} IS NOT NULL").groupBy(*keys, attempt).count()
    who = ", ".join(f"coalesce({key}, '')" for key in keys)
    ((repeats, example),) = repeated.where("count > 1").selectExpr(
        "count(*)", f"min(concat_ws(' ', {attempt}, 'of', {who}))"
    ).collect()  # fmt: skip
    if repeats:
        problem = f"attempts occur more than once: {repeats:,} (for example attempt {example})"
        raise DataError(
            rows.place, problem, "remove the copies", name="duplicate-attempts",
            settles=[SuggestedFix({"--duplicates": "keep"}, "counts each row")],
        )  # fmt: skip


def _counts_from_groups(
    table: Any, rows: SparkRows, columns: Sequence[str], request: Request
) -> tuple[Counts, dict[str, Any]]:
    con, amounts = shared_connection(), _amount_addends_by_role(rows, request)
    kinds = tuple((column, frozenset({"text"})) for column in (*rows.columns, *columns))
    joined = request.joined_columns({column: {"text"} for column, _ in kinds})
    layout = FileStorageLayout("spark", "", kinds, joined_columns=joined)
    groups = {f"group{i}": f"coalesce({quote_name(c)}, '')" for i, c in enumerate(request.by)}
    values = {
        role: layout.column_text_sql(request.named_column_by_role[role], ())
        for role in ("model", "task", "outcome")
    }
    ends = ("", "_known", "_wrong")
    numbers = ["times", "bad", *(role + end for role in amounts for end in ends)]
    totals = {number: quote_name(f"#{number}") for number in numbers}
    selection = ", ".join(f"{sql} AS {key}" for key, sql in (groups | values | totals).items())
    series = ("model", *groups)
    # With `--all`, the cluster has already applied `--passes`, `--fails` and the threshold.
    passes, fails = ((), ()) if request.all_of else (request.passes, request.fails)
    verdict = outcome_verdict_sql("outcome", request.passing_score, passes=passes, fails=fails)
    con.register("home_", table)
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE judged_ AS SELECT {verdict} AS verdict, *"
        f" FROM (SELECT {selection} FROM home_)"
    )
    con.unregister("home_")
    _require_valid_values(con, rows, request, [*amounts])
    messages = []
    if (request.passes or request.fails) and not request.all_of:
        words = con.execute(
            "SELECT trim(outcome) AS word, sum(times)::BIGINT AS times, any_value(verdict)"
            " FROM judged_ WHERE outcome IS NOT NULL GROUP BY word ORDER BY times DESC, word"
        ).fetchall()
        messages += outcome_word_verdict_messages(words, request, rows.place)
    # If attempts without an outcome are left out, the amounts of such attempts are also left out.
    counting = "true" if request.missing == "fail" else "verdict IS NOT NULL"
    sums = "".join(
        f", CASE WHEN sum({role}_known) FILTER ({counting}) = sum(times) FILTER ({counting})"
        f" THEN sum({role}) FILTER ({counting}) ELSE 'nan' END AS {role}"
        for role in amounts
    )
    cells: dict[str, Any] = con.execute(
        f"SELECT {', '.join(series)}, task, sum(times)::BIGINT AS made,"
        " coalesce(sum(times) FILTER (verdict = 1), 0)::BIGINT AS c,"
        f" coalesce(sum(times) FILTER (verdict IS NULL), 0)::BIGINT AS missing{sums}"
        " FROM judged_ GROUP BY ALL ORDER BY ALL"
    ).fetchnumpy()
    attempts_made, missing = cells["made"].astype(np.int64), cells["missing"].astype(np.int64)
    n = attempts_made if request.missing == "fail" else attempts_made - missing
    has_attempts = n > 0
    if not has_attempts.any():
        problem, remedy = "this data contains no attempts", "check whether it is complete"
        raise DataError(rows.place, problem, remedy, name="no-attempts")

    def counts(number: Any, cell_mask: Any, **more: Any) -> Counts:
        who = [*zip(*(cells[key][cell_mask] for key in series), strict=True)]
        tasks, passed = cells["task"][cell_mask].tolist(), cells["c"][cell_mask].astype(np.int64)
        return Counts.from_columns(who, tasks, number[cell_mask], passed, request.by, **more)

    roles = {
        role: column
        for role, column in request.named_column_by_role.items()
        if role in _SUPPORTED_ROLES
    }
    messages += [
        ATTEMPTS_WITHOUT_BY_VALUE_NOTE(attempts=without, column=column)
        for i, column in enumerate(request.by)
        if (without := int(n[cells[f"group{i}"] == ""].sum()))
    ]
    facts = ReadFacts(
        file_readings=(FileFormatAndRoles(rows.place, f"{rows.file_format} (on Spark)", roles, ()),
            ),
        missing_outcome_count=int(missing.sum()), missing_policy=request.missing,
        missing_outcomes=counts(attempts_made, attempts_made > 0, missing=missing).missing_outcomes
        if missing.any()
        else None,
        duplicates_policy=request.duplicates, duplicates_checked="attempt" in roles,
        emptied_cell_count=int((~has_attempts).sum()), passing_values=request.passes,
        threshold=request.passing_score,
        messages=tuple(messages),
    )  # fmt: skip
    # The cells are already sorted like Counts: by model, group and task, as strings.
    sums_by_role = {role: cells[role][has_attempts] for role in amounts}
    return counts(n, has_attempts, facts=facts), {
        f"{role}_sum": np.where(np.isnan(amounts_of_role), None, amounts_of_role)
        for role, amounts_of_role in sums_by_role.items()
    }


def _require_valid_values(
    con: Any, rows: SparkRows, request: Request, amounts: Sequence[str]
) -> None:
    wrong = "".join(f", sum({role}_wrong)" for role in amounts)
    ((bad, tasks, models, odd, example, missing, *wrongs),) = con.execute(
        "SELECT sum(bad), sum(times) FILTER (task IS NULL), sum(times) FILTER (model IS NULL),"
        " sum(times) FILTER (verdict = -1), min(outcome) FILTER (verdict = -1),"
        f" sum(times) FILTER (verdict IS NULL){wrong} FROM judged_"
    ).fetchall()
    con.execute("DELETE FROM judged_ WHERE times = 0")
    bad_rows = "rows with a different number of fields than the header"
    bad_rows = "lines that are not JSON records" if rows.file_format == "jsonl" else bad_rows
    correct = "correct them, or leave them out of the data"
    problems = [
        (bad * (not request.skip_bad), bad_rows, "", "bad-record", [SKIP_BAD_LINES_FIX]),
        (tasks, f"rows without a task in {request.named_column_by_role['task']!r}", correct,
        "missing-name", ()),
        (models, f"rows without a model in {request.named_column_by_role['model']!r}", correct,
        "missing-name",
         ()),
        (odd, f"outcomes that neither pass nor fail (such as {example!r})",
         "write passes = or threshold = in the map", "bad-outcome", ()),
        (missing if request.missing == "error" else 0, "attempts without an outcome", "",
         "missing-outcome", MISSING_FIXES),
    ]  # fmt: skip
    correct = "correct it, or leave the role out of the map"
    for role, times in zip(amounts, wrongs, strict=True):
        problem = f"attempts with a {role} that is not a number from 0 up"
        problems.append((times, problem, correct, "missing-value", ()))
    for times, problem, remedy, error, settles in problems:
        if times:
            problem = f"the data contains {problem}: {times:,}"
            raise DataError(rows.place, problem, remedy, name=error, settles=settles)
