"""Read scores, costs, answers and other facts about attempts, with one SQL statement per fact.

Each statement reads the counted rows again with one more column, and groups the rows by model, task
and value. Answers and solutions are grouped by the hashes of their texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from passk_cli.activity import items_with_progress
from passk_cli.errors import DataError
from passk_cli.files.attempts.solutions import (
    count_unparsable_attempts,
    lowest_similar_key_by_key,
    solution_key_sql,
    texts_by_cell,
)
from passk_cli.files.database import disable_join_reordering, missing_mask, quote_name
from passk_cli.files.request import BOUNDS, Request
from passk_cli.files.roles import ATTEMPT_FACT_ROLES, ROLES, TRUTH_ROLE, outcome_verdict_sql
from passk_cli.files.sources.source import fetch_rows
from passk_cli.outcomes.attempts import AttemptValuesByCell
from passk_cli.outcomes.counts import AttemptsMadeAndLastOutcomes, Counts
from passk_cli.suggested_fix import Placeholder, SuggestedFix

if TYPE_CHECKING:
    import duckdb
    from numpy.typing import NDArray

    from passk_cli.files.counting.statement import Statement


def _normalized_attempt_number_sql(column: str) -> str:
    """SQL that converts the attempt numbers 0, 0.0 and "0" to the same value."""
    return f"coalesce(TRY_CAST({column} AS DOUBLE)::VARCHAR, {column})"


# The condition LABEL_MATCH_SQL joins a label to its attempt. If the labels and the attempts have
# only one model, its name may differ between labels and attempts.
LABEL_MATCH_SQL = f"""labels_.task = rows.task
    AND (labels_.attempt IS NULL
         OR {_normalized_attempt_number_sql("labels_.attempt")} =
         {_normalized_attempt_number_sql("rows.attempt")})
    AND (labels_.alone OR labels_.model = coalesce(named_.name, rows.model))"""


@dataclass(frozen=True)
class AttemptFactQueries:
    """Queries for facts about the counted attempts that are not in `Counts`.

    kept_duplicate : "first" or "last" if --duplicates kept the first or the last row of each
        repeated attempt, or None if no rows were dropped.
    """

    con: duckdb.DuckDBPyConnection
    statement: Statement
    kept_duplicate: str | None

    @property
    def column_names_of_all_batches(self) -> set[str]:
        return {name for batch in self.statement.batches for name in batch.layout.kinds_by_column}

    def select_grouped_attempt_values(
        self,
        select: str,
        where: str,
        role: str,
        columns: Sequence[str] = (),
        *,
        all_runs: bool = False,
    ) -> list[tuple[Any, ...]]:
        """Select values of the counted attempts. The selected rows are grouped by all selected
        values that are not aggregates.

        select, where : SQL expressions that can use the columns `name` (the model), `verdict`,
            `value` (the value in the role), and `column0`, `column1`, ….
        columns : further columns of the data. In the SQL, they are named `column0`, `column1`, …
            and contain strings.
        all_runs : whether the query includes repeated attempts that --duplicates dropped.
        """
        statement = self.statement.with_text_attempts.with_changes(carried=tuple(columns))
        carried = "".join(f", carried{i} AS column{i}" for i in range(len(columns)))
        values = attempt_values_sql(
            statement, role, None if all_runs else self.kept_duplicate, carried
        )
        selected = f"SELECT {select} FROM attempt_values WHERE {where} GROUP BY ALL ORDER BY ALL"
        return self.con.execute(f"{values} {selected}").fetchall()


def with_attempt_facts(query: AttemptFactQueries, counts: Counts) -> Counts:
    """Add to the counts all facts about attempts that the request needs.

    Errors: DataError if a value that the request needs is missing or invalid, for example a score.
    duckdb.Error if a query fails.
    """
    query.con.register("cells_", cell_identifying_columns(counts))
    disable_join_reordering(query.con)
    attempts, similarity = {}, query.statement.request.similarity
    for role in query.statement.request.attempts:
        values = _role_values(query, counts, role)
        if role == "solution" and similarity is not None:
            values = _with_one_key_for_near_duplicates(query, values, similarity)
        attempts["attempt" if role == "line" else role] = values
    return replace(counts, attempts=attempts)


def counts_with_attempts_made(query: AttemptFactQueries, counts: Counts) -> Counts:
    """Add to the counts the number of attempts that were made, according to the attempt numbers.

    This function reads the files again, so call it only if needed.
    """
    query.con.register("cells_", cell_identifying_columns(counts))
    rows: dict[str, Any] = query.con.execute(
        attempt_values_sql(query.statement.with_text_attempts, "attempt", query.kept_duplicate)
        + """
SELECT cell, min(value) AS lowest, max(value) AS highest, count(*) = count(value) AS numbered,
       coalesce(max(value) FILTER (verdict = 1) = highest, false) AS passed
FROM attempt_values GROUP BY cell"""
    ).fetchnumpy()
    cell, numbered, passed = (np.asarray(rows[c]) for c in ("cell", "numbered", "passed"))
    lowest, highest = (
        np.where(missing_mask(rows[c]), np.nan, np.asarray(rows[c], float))
        for c in ("lowest", "highest")
    )
    last, attempts_made = np.full(len(counts.n), -1), counts.n.copy()
    last[cell] = np.where(numbered, passed, -1)
    # Attempt numbers show how many attempts were made only if the numbers start at 0 or 1 and are
    # not large.
    if (
        len(cell)
        and numbered.all()
        and lowest.min(initial=0) in (0, 1)
        and highest.max(initial=0) < 1_000_000
    ):
        attempts_made[cell] = np.maximum(attempts_made[cell], np.floor(highest) + 1 - lowest.min())
    return replace(counts, attempt_number_facts=AttemptsMadeAndLastOutcomes(attempts_made, last))


def counts_with_attempt_order_if_known(query: AttemptFactQueries, counts: Counts) -> Counts:
    """Add the order of the attempts to the counts, if every file contains the order.

    The order of attempts comes from attempt numbers, from times, or from the order of entries in a
    list. If a file does not contain the order of its attempts, the counts are returned unchanged.
    """
    roles = [batch.roles for batch in query.statement.batches]
    are_lists = all(roles_of_batch.kind_of_rows == "lists" for roles_of_batch in roles)
    ordered = are_lists or all(roles_of_batch.attempt is not None for roles_of_batch in roles)
    if not ordered or "attempt" in counts.attempts:
        return counts
    query.con.register("cells_", cell_identifying_columns(counts))
    disable_join_reordering(query.con)
    try:
        order = _role_values(query, counts, "line" if are_lists else "attempt")
    except DataError:
        return counts
    return replace(counts, attempts={**counts.attempts, "attempt": order})


def _role_values(query: AttemptFactQueries, counts: Counts, role: str) -> AttemptValuesByCell:
    statement, in_order = query.statement, role == "line" or query.kept_duplicate is not None
    query.con.execute(f"SET preserve_insertion_order = {str(in_order).lower()}")
    sql = _value_counts_per_cell_sql(statement.with_text_attempts, role, query.kept_duplicate)
    rows: dict[str, Any] = query.con.execute(sql).fetchnumpy()
    value, empty = np.asarray(rows["value"]), missing_mask(rows["value"])
    cell, count, passed = (np.asarray(rows[c]).astype(np.int64) for c in ("cell", "n", "passed"))
    values = VALUE_SQL_FUNCTION_BY_ROLE[role]
    column = None if role == "line" else statement.batches[0].roles.column(role)
    place = statement.batches[0].sources[0].name

    def refuse(wrong: NDArray[np.bool_], problem: str, remedy: str, *settles: SuggestedFix) -> None:
        if wrong.any():
            series, task = counts.cells[cell[int(wrong.argmax())]]
            problem += f": {int(count[wrong].sum()):,}, first of {' '.join(series)} at task {task}"
            raise DataError(place, problem, remedy, name="missing-value", settles=settles)

    finite = SuggestedFix(
        {"--where": f"isfinite(TRY_CAST({quote_name(column or '')} AS DOUBLE))"}, "leaves them out"
    )
    if values is _amount_sql:
        value = np.where(empty, np.nan, value)
        if role == "cost" and statement.request.price:
            more = "attempts with more cached tokens than input"
            parts = {"tokens_in": Placeholder("INPUT+CACHED")}
            added = SuggestedFix({"--field": parts}, "adds cached tokens to the input")
            refuse(value == -np.inf, more, "", added)
        refuse(
            value == -np.inf, f"values of {column!r} that are not numbers", "write 1234.5 or $0.12"
        )
        refuse(
            value < 0,
            f"{role} below 0",
            "an attempt cannot have a negative amount; correct it, or leave the attempt out",
        )
        refuse(value == np.inf, f"infinite {role}", "", finite)
        return AttemptValuesByCell.from_rows(cell, value, count, passed, len(counts.n))
    if values is _label_sql:
        words = "write labels like outcomes: true or false, words of --passes, or a number with"
        words += " --threshold"
        refuse(value == -1, "labels that neither pass nor fail", words)
        return AttemptValuesByCell.from_rows(
            cell, np.where(empty, np.nan, value), count, passed, len(counts.n)
        )  # fmt: skip
    if values in (_finite_task_length_sql, _epoch_seconds_sql):
        value = np.where(empty, np.nan, value)
        return AttemptValuesByCell.from_rows(cell, value, count, passed, len(counts.n))
    lost = np.zeros(len(value), dtype=bool)
    if values is _number_or_verdict_sql and statement.request.missing == "fail":
        # A score is used even if the outcome of the attempt is missing.
        lost = empty & (np.asarray(rows["judged"]) == 0)
        lowest = statement.request.score_for_missing_as_failure or 0.0
        below = lost.any() & (value < lowest) & ~empty
        refuse(
            below, f"a failure would score {lowest:g}, but some scores are lower", "",
            SuggestedFix({"--bounds": Placeholder("LOW,HIGH")}, "sets the lowest possible score"),
            SuggestedFix({"--missing": "drop"}, "leaves attempts without an outcome out"),
        )  # fmt: skip
        value, empty = np.where(lost, lowest, value), empty & ~lost
    if values is _number_or_verdict_sql:
        remedy = f"every attempt with an outcome needs a {role}"
        refuse(empty, f"attempts without a {role} in {column!r}", remedy)
        refuse(~np.isfinite(value), f"{role}s that are infinite", "", finite)
    elif role in ("attempt", "line"):
        remedy = "attempts are ordered by a number, or a time such as 2026-01-31T12:00:00"
        refuse(empty, f"attempts without a number or a time in {column!r}", remedy)
    valueless = int(
        count[value == -1 if values in (_text_hash_sql, _solution_key_sql) else lost].sum()
    )
    python = values is _solution_key_sql and statement.request.normalise == "python"
    fell_back = count_unparsable_attempts(value, count) if python else 0
    cells = len(counts.n)
    attempts = AttemptValuesByCell.from_rows(
        cell, value, count, passed, cells, valueless, fell_back
    )
    return attempts.with_new_cell_indices(np.arange(cells), cells) if lost.any() else attempts


def _with_one_key_for_near_duplicates(
    query: AttemptFactQueries, solutions: AttemptValuesByCell, similarity: float
) -> AttemptValuesByCell:
    """Give near-duplicate solutions the same key."""
    query.con.execute(
        attempt_values_sql(query.statement, "solution", query.kept_duplicate, ", solution AS text")
        + "SELECT cell, value, text FROM attempt_values WHERE value >= 0"
    )
    value, start = solutions.value.copy(), solutions.cell_offsets
    cells, solution_texts = len(start) - 1, texts_by_cell(fetch_rows(query.con))
    for cell, texts in items_with_progress(solution_texts, "comparing solutions", "cells", cells):
        lowest = lowest_similar_key_by_key(texts, similarity, query.statement.request.normalise)
        rows = slice(int(start[cell]), int(start[cell + 1]))
        value[rows] = [lowest.get(key, key) for key in value[rows].tolist()]
    return replace(solutions, value=value).with_new_cell_indices(np.arange(cells), cells)


def _value_counts_per_cell_sql(statement: Statement, role: str, keep: str | None) -> str:
    return (
        attempt_values_sql(statement, role, keep)
        + """
SELECT cell, value, count(*) AS n, count(*) FILTER (verdict = 1) AS passed,
       count(*) FILTER (verdict IS NOT NULL) AS judged
FROM attempt_values GROUP BY cell, value ORDER BY cell, value"""
    )


def attempt_values_sql(statement: Statement, role: str, keep: str | None, more: str = "") -> str:
    groups = statement.groups
    names = ", ".join(f"coalesce({g}, '') AS {g}" for g in groups)
    match = " AND ".join(f"verdicts.{c} = cells_.{c}" for c in ("name", *groups, "task"))
    condition = _is_counted_attempt_sql(statement.request)
    source, value = "rows", VALUE_SQL_FUNCTION_BY_ROLE[role](role, statement.request)
    if role == "line" and keep is None:
        source = "(SELECT *, row_number() OVER () AS place FROM rows) AS rows"
    if role == TRUTH_ROLE and not statement.request.has_correcting_labels:
        value = "NULL"
    elif role == TRUTH_ROLE and statement.request.truth is not None:
        source = f"""(SELECT rows.*, labels_.truth FROM rows LEFT JOIN names AS named_ USING (file)
    LEFT JOIN labels_ ON {LABEL_MATCH_SQL}) AS rows"""
    return f"""
WITH {statement.rows_sql(keep, file_order=role == "line")},
verdicts AS (
  SELECT coalesce(names.name, model) AS name, {names + "," if names else ""} task,
         {value} AS value, {statement.attempt_verdict_sql()} AS verdict{more}
  FROM {source} LEFT JOIN names ON names.file = rows.file),
attempt_values AS (
  SELECT verdicts.*, cells_.cell FROM verdicts JOIN cells_ ON {match} WHERE {condition})"""


def is_missing_value_sql(role: str, request: Request) -> str:
    """SQL condition that selects counted attempts without a value in the column of a role."""
    value = VALUE_SQL_FUNCTION_BY_ROLE[role](role, request)
    return f"task IS NOT NULL AND {_is_counted_attempt_sql(request)} AND ({value}) IS NULL"


def _is_counted_attempt_sql(request: Request) -> str:
    return "true" if request.missing in ("fail", BOUNDS) else "verdict IS NOT NULL"


def _number_or_verdict_sql(role: str, request: Request) -> str:
    number = f"TRY_CAST({role} AS DOUBLE)"
    word = f"nullif({outcome_verdict_sql(role, None)}, -1)::DOUBLE"
    return f"coalesce(CASE WHEN NOT isnan({number}) THEN {number} END, {word})"


def _text_hash_sql(role: str, request: Request) -> str:
    text = f"nullif(trim({role}), '')"
    return f"CASE WHEN {text} IS NULL THEN -1 ELSE (hash({text}) >> 1)::BIGINT END"


def _solution_key_sql(role: str, request: Request) -> str:
    return solution_key_sql(role, request.normalise)


def _amount_sql(role: str, request: Request) -> str:
    if role == "cost" and request.price:
        from passk_cli.files.attempts.prices import cost_sql

        return cost_sql(request.price, "coalesce(names.name, model)")
    return role


def _label_sql(role: str, request: Request) -> str:
    # Labels from --truth are already verdicts, so passk does not apply --passes and --fails to
    # these labels.
    passes, fails = (request.passes, request.fails) if request.truth is None else ((), ())
    scores = f"bool_or(TRY_CAST({role} AS DOUBLE) NOT IN (0, 1)) OVER ()"
    judged, binary = (
        outcome_verdict_sql(role, bar, passes=passes, fails=fails)
        for bar in (request.passing_score, None)
    )
    return f"CAST(CASE WHEN {scores} THEN {judged} ELSE {binary} END AS DOUBLE)"


def _finite_task_length_sql(role: str, request: Request) -> str:
    number = f"TRY_CAST({role} AS DOUBLE)"
    return f"CASE WHEN isfinite({number}) THEN {number} END"


def _epoch_seconds_sql(role: str, request: Request) -> str:
    return f"epoch(TRY_CAST({role} AS TIMESTAMP))"


_VALUE_SQL_FUNCTION_BY_KIND = {
    "number": _number_or_verdict_sql, "text": _text_hash_sql, "solution": _solution_key_sql,
    "label": _label_sql,
    "amount": _amount_sql,
    "length": _finite_task_length_sql, "date": _epoch_seconds_sql,
}  # fmt: skip
# VALUE_SQL_FUNCTION_BY_ROLE maps each property of an attempt to a function that returns the SQL of
# the property, from the role and the request.
VALUE_SQL_FUNCTION_BY_ROLE: dict[str, Callable[[str, Request], str]] = {
    **{role: _VALUE_SQL_FUNCTION_BY_KIND[ROLES[role].value_kind] for role in ATTEMPT_FACT_ROLES},
    "attempt": lambda role, _: (
        f"coalesce(TRY_CAST({role} AS DOUBLE), epoch(TRY_CAST({role} AS TIMESTAMP)))"
    ),
    "line": lambda role, _: "place",
}


def cell_identifying_columns(counts: Counts) -> dict[str, Any]:
    """The cells of the counts as columns of a DuckDB table: cell, name, group0, …, and task."""
    series = [counts.series[s] for s in counts.series_codes.tolist()]
    columns: dict[str, Any] = {"cell": np.arange(len(series))}
    for place, name in enumerate(("name", *(f"group{i}" for i in range(len(counts.group_names))))):
        columns[name] = np.array([s[place] for s in series], dtype=object)
    columns["task"] = np.array([counts.tasks[t] for t in counts.task_codes.tolist()], dtype=object)
    return columns
