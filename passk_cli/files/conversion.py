"""Write the counted attempts to a table in passk's own layout.

The first columns are always the same, so passk recognises the table. Further columns contain
groups, settings, values from file paths, and columns that the user requested.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import duckdb

from passk_cli.errors import DataError, ParameterError
from passk_cli.files.attempts.prices import cost_sql
from passk_cli.files.attempts.query import VALUE_SQL_FUNCTION_BY_ROLE
from passk_cli.files.counting.statement import Statement, Tally
from passk_cli.files.database import (
    disable_join_reordering,
    models_condition,
    quote_name,
    quote_text,
)
from passk_cli.files.export import write_query_rows
from passk_cli.files.formats.every_eval_ever import EVERY_EVAL_EVER, record_from_columns_sql
from passk_cli.files.reading.layout import Batch
from passk_cli.files.request import MISSING_FIXES, Request
from passk_cli.files.roles import (
    AMOUNT_UNITS,
    CONVERTED_TABLE_COLUMNS,
    ROLES,
    SETTING_COLUMN_NAMES,
    amount_addends,
    find_column_and_keys,
)
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix
from passk_cli.suggestions import did_you_mean_or_list

# A JSON parser does not change numbers that match _PLAIN_NUMBER_PATTERN (unlike 0.80, which becomes
# 0.8).
_PLAIN_NUMBER_PATTERN = r"0|-?[1-9][0-9]{0,14}|-?(0|[1-9][0-9]{0,9})\.(0|[0-9]{0,3}[1-9])"
_RESERVED_ROLE_COLUMNS = ("task", "attempt", "outcome", "score")


def write_attempts_table(
    con: duckdb.DuckDBPyConnection, statement: Statement, tally: Tally
) -> None:
    """Write the attempts to a table, in the order of the files and lines.

    A missing outcome is written as an empty value, unless --missing counts it as a failure or drops
    it. Without a threshold, a numeric outcome stays a number.

    Errors: ParameterError if a column does not exist or has a reserved name. DataError if the
    output format cannot store a value, and duckdb.Error if the query fails.
    """
    request, batches = statement.request, statement.batches
    conversion = request.conversion
    assert conversion is not None
    statement = statement.with_text_attempts.with_changes(
        carried=_copied_column_names(batches, request)
    )
    canonical_names = {name.lower(): name for name in CONVERTED_TABLE_COLUMNS}
    for name in (*request.by, *statement.carried):
        if name in _RESERVED_ROLE_COLUMNS or canonical_names.setdefault(name.lower(), name) != name:
            option = "--by" if name in request.by else "--with"
            raise ParameterError(
                OptionWithValue(option, name),
                "the output already has a column with this name; rename the column in the data",
                name="reserved-column",
            )  # fmt: skip
    _require_writable(conversion.file_format, batches[0].sources[0].name, request, tally)
    con.execute("SET preserve_insertion_order = true")
    disable_join_reordering(con)
    kept_amounts = _unrequested_amounts_to_write(con, statement)
    sql = _attempts_table_sql(statement, conversion.file_format, tally.kept_duplicate,
        graded=bool(tally.cell_columns["graded"].any(
    )),
               kept_amounts=kept_amounts)  # fmt: skip
    write_query_rows(con, sql, conversion.file, conversion.file_format)


def _unrequested_amounts_to_write(
    con: duckdb.DuckDBPyConnection, statement: Statement
) -> list[str]:
    """The costs and other amounts that the table should contain, although no option requests them.

    Errors: DataError if a named amount is below 0 or is not a number.
    """
    request, batches = statement.request, statement.batches
    assert request.conversion is not None
    required, priced = request.required_attempt_facts, bool(request.price)
    roles = [
        r for r in AMOUNT_UNITS if r in required or any(batch.roles.column(r) for batch in batches)
    ]
    if not roles:
        return []
    least = {role: role for role in roles}
    if priced and "tokens_cached" in roles:
        least["tokens_cached"] = "least(tokens_cached, tokens_in - tokens_cached)"
    lows = ", ".join(f"min({sql})" for sql in least.values())
    (lowest,) = con.execute(f"WITH {statement.rows_sql(None)} SELECT {lows} FROM rows").fetchall()
    kept_roles = []
    for role, low in zip(roles, lowest, strict=True):
        wrong = low is not None and low < 0
        if role in required and wrong:
            problem = f"{role} below 0" if math.isfinite(low) else "values that are not numbers"
            problem += f" in {batches[0].roles.column(role)!r}"
            place, remedy = batches[0].sources[0].name, "correct the values, or name another column"
            raise DataError(place, problem, remedy, name="missing-value")
        computed = role in required or (role == "cost" and priced)
        if request.conversion.includes_amounts and not (computed or wrong or low is None):
            kept_roles.append(role)
    return kept_roles


def _attempts_table_sql(statement: Statement, form: str, keep: str | None, *, graded: bool,
         kept_amounts: Sequence[str]) -> str:  # fmt: skip
    """The SQL that selects the rows of the table. DuckDB can stream the rows to the file if the SQL
    contains no join."""
    request = statement.request
    all_models = statement.with_changes(request=request.with_all_models())
    # If there is only one file, the SQL needs no join to find the name of the model.
    only = statement.names.get(statement.only_file or "")
    by_name = bool(statement.names) and only is None
    model = "coalesce(names.name, model)" if by_name else "model"
    model = model if only is None else quote_text(request.canonical_model_name(only))
    columns = _sql_by_output_column(statement, form, model, kept_amounts, graded=graded)
    selection = ", ".join(f"{sql} AS {quote_name(name)}" for name, sql in columns.items())
    conditions = ["task IS NOT NULL"]
    if request.missing == "drop":
        conditions.append("verdict IS NOT NULL")
    if model_condition := models_condition(model, request.models, request.exclude_models):
        conditions.append(model_condition)
    # The rows are numbered before a join, because a join changes the order of the rows.
    joined = by_name or any(batch.layout.constant_columns for batch in statement.batches)
    place = ", row_number() OVER () AS place" if joined and keep is None else ""
    row = record_from_columns_sql(tuple(columns)) if form == EVERY_EVAL_EVER.name else "attempts.*"
    ordered = joined or keep is not None
    if ordered:
        selection += ', place AS "#place"'
        row = row.replace("attempts.*", 'attempts.* EXCLUDE ("#place")')
    return f"""
WITH {all_models.rows_sql(keep, file_order=True)},
placed AS (SELECT *{place} FROM rows),
judged AS (SELECT placed.*, {statement.attempt_verdict_sql()} AS verdict FROM placed),
attempts AS (
  SELECT {selection} FROM judged{" LEFT JOIN names ON names.file = judged.file" * by_name}
  WHERE {" AND ".join(conditions)})
SELECT {row} FROM attempts{' ORDER BY "#place"' * ordered}"""


def _sql_by_output_column(
    statement: Statement, form: str, model: str, kept_amounts: Sequence[str], *, graded: bool
) -> dict[str, str]:
    request, spelled = statement.request, _json_value_sql if form == "jsonl" else str
    verdict = "coalesce(verdict, 0)" if request.missing == "fail" else "verdict"
    outcome = f"CASE {verdict} WHEN 1 THEN true WHEN 0 THEN false END"
    if graded:
        number = f"CAST({_finite_number_sql('TRY_CAST(outcome AS DOUBLE)')} AS VARCHAR)"
        outcome = f"coalesce({number}, CASE {verdict} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END)"
        outcome = f"CAST({outcome} AS JSON)" if form == "jsonl" else outcome
    role_columns = {
        "model": model,
        "task": "task",
        "attempt": spelled("nullif(attempt, '')"),
        "outcome": outcome,
        "score": _finite_number_sql(VALUE_SQL_FUNCTION_BY_ROLE["score"]("score", request)),
    }
    places = {name: f"carried{i}" for i, name in enumerate(statement.carried)}
    columns = {
        name: role_columns.get(name) or places.get(name) or "NULL::VARCHAR"
        for name in CONVERTED_TABLE_COLUMNS
    }
    further = [*zip(request.by, statement.groups, strict=True), *places.items()]
    columns |= {
        name: spelled(column) for name, column in further if name not in CONVERTED_TABLE_COLUMNS
    }
    facts = {
        role for role in request.attempts if ROLES.get(role) and role not in CONVERTED_TABLE_COLUMNS
    }
    facts.update(kept_amounts)
    for role in (name for name in ROLES if name in facts):
        value = cost_sql(request.price, model) if role == "cost" and request.price else role
        if form == "csv" and role in AMOUNT_UNITS:
            value = f"regexp_replace(({value})::VARCHAR, '[.]0$', '')"
        columns[role] = value
    return columns


def _finite_number_sql(number: str) -> str:
    return f"CASE WHEN isfinite({number}) THEN {number} END"


def _json_value_sql(text: str) -> str:
    """SQL that writes a string as JSON. A string that contains a number becomes a JSON number if
    JSON parsers preserve the spelling of the number."""
    plain = f"regexp_full_match({text}, '{_PLAIN_NUMBER_PATTERN}')"
    return f"CASE WHEN {plain} THEN CAST({text} AS JSON) ELSE to_json({text}) END"


def _copied_column_names(batches: Sequence[Batch], request: Request) -> tuple[str, ...]:
    assert request.conversion is not None
    names: dict[str, None] = {}
    for batch in batches:
        layout, pairs = batch.layout, batch.roles.columns().items()
        roles = {
            part for role, c in pairs for part, _ in amount_addends(role, c, layout.kinds_by_column)
        }
        facts = (
            layout.kinds_by_column.keys() >= set(CONVERTED_TABLE_COLUMNS)
            or layout.is_harness_format
        )
        usual = {*SETTING_COLUMN_NAMES, *layout.constant_columns, *request.copied_columns}
        # Input and output tokens are left out if passk read them only to compute their sum.
        halves = {"tokens_in", "tokens_out"} if layout.normalized_rows_file else set()
        for name in (column for column in layout.kinds_by_column if column not in halves):
            if (facts or name in usual) and name not in roles and name not in request.by:
                names[name] = None
    for name in request.conversion.extra_columns:
        if not any(find_column_and_keys(name, batch.layout.kinds_by_column) for batch in batches):
            available = dict.fromkeys(c for b in batches for c in b.layout.kinds_by_column)
            problem = f"no such column; {did_you_mean_or_list(name, available)}"
            raise ParameterError(OptionWithValue("--with", name), problem, name="no-such-column")
        names[name] = None
    return tuple(name for name in names if name not in (*_RESERVED_ROLE_COLUMNS, "model"))


def _require_writable(form: str, place: str, request: Request, tally: Tally) -> None:
    for role in ("name", "task") if form == "csv" else ():
        if "" in tally.cell_columns[role].distinct_texts:
            name_kind = "model" if role == "name" else role
            problem = f"a {name_kind} has an empty name, which csv cannot store"
            raise DataError(
                place,
                problem,
                "choose an output file with the suffix .jsonl or .parquet",
                name="missing-name",
            )
    if form != EVERY_EVAL_EVER.name:
        return
    if tally.cell_columns["graded"].any():
        problem = f"some scores have no verdict, and {form} needs verdicts"
        judge = SuggestedFix({"--threshold": Placeholder("X")}, "judges them")
        raise DataError(place, problem, name="bad-outcome", settles=[judge])
    if request.missing == "keep" and tally.cell_columns["missing"].any():
        problem = f"some attempts have no outcome, and {form} needs outcomes"
        raise DataError(place, problem, name="missing-outcome", settles=MISSING_FIXES)
