"""Join labels to attempts. A label shows whether an attempt truly passes.

The labels are in a second file, or they are a second outcome in the same files. passk first writes
the labels to the column `outcome` of a temporary table.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError, ParameterError, missing_file_error
from passk_cli.files.attempts.query import (
    LABEL_MATCH_SQL,
    AttemptFactQueries,
    attempt_values_sql,
    cell_identifying_columns,
)
from passk_cli.files.database import quote_text
from passk_cli.files.request import KEEP_MISSING, MORE_LABELS_FIX, Conversion, Request
from passk_cli.files.roles import TRUTH_ROLE
from passk_cli.files.sources.arguments import has_result_suffix, is_read_once
from passk_cli.outcomes.counts import Counts
from passk_cli.outcomes.provenance import UnlabelledAttempt
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix
from passk_cli.text import plural

_TEMPORARY_LABELS_FILE_NAME = "labels.parquet"
LABELS_OF_ABSENT_MODELS_NOTE = DiagnosticType(
    "labels-of-others", NOTE,
    "{place} contains {labels:label} for models that are not in the result files: {models}",
    meaning="passk matches labels and attempts by model, task and attempt number. passk ignores"
    " labels of models that are not in the result files.",
    why="A label can correct an estimate only if the model of the label is in the result files.",
    advice="If you want to estimate from labels of other models how often the judge is wrong, use"
    " `--truth-from`.",
    example="note[labels-of-others]: labels.csv contains 40 labels for models that are not in the"
    " result files: gpt-4o",
)  # fmt: skip
BORROWED_JUDGE_ERRORS_WARNING = DiagnosticType(
    "others-labels", WARNING,
    "the correction uses labels of other attempts ({models} in {place}) and assumes that the judge"
    " errs equally often about your attempts",
    meaning="With --truth-from, passk takes the rates of false passes and false failures from"
    " another file.",
    why="If the judge makes mistakes more or less often on your models or tasks, the corrected"
    " estimates are wrong.",
    advice="Label some of your own attempts, and name the file of labels with `--truth`.",
    example="warning[others-labels]: the correction uses labels of other attempts (alpha in"
    " labelled.csv) and assumes that the judge errs equally often about your attempts",
)  # fmt: skip


def write_labels_to_parquet_file(
    request: Request, data: Any, folder: Path, read: Callable[[Any, Request], Any]
) -> None:
    """Write the labels to a Parquet table in a folder.

    data : the data with the attempts, used if the labels are a second outcome in the same files.
    read : the function that reads files and writes the table of labels.
    """
    table, label_fields = folder / _TEMPORARY_LABELS_FILE_NAME, dict(request.fields)
    truth, label_source = label_fields.pop(TRUTH_ROLE, TRUTH_ROLE), request.truth
    label_fields.pop("outcome", None)
    # With --passes, words decide which labels pass.  Without --passes, passk compares numeric
    # labels with the threshold later, when it joins labels to attempts.
    threshold = request.threshold if request.passes else ()
    label_request = replace(
        request, fields=label_fields, truth=None, outcome=None, all_of=(), attempts=("line",
        "score"),
        by=(), pool=(), where="", cluster=None, uses_attempt_order=False, missing=KEEP_MISSING,
        price={},
        threshold=threshold,
        conversion=Conversion(str(table), "parquet", are_outcomes_labels=True),
    ).with_all_models()  # fmt: skip
    if isinstance(label_source, str) and not os.path.exists(label_source):
        if has_result_suffix(label_source):
            raise missing_file_error(label_source)
        if is_read_once(data):
            raise ParameterError(
                OptionWithValue("--truth", label_source),
                "there is no file with this name, and the labels cannot be a column of data from a"
                " pipe, because a pipe can be read only once",
                name="no-labels",
            )
        try:
            read(data, replace(label_request, outcome=label_source))
        except DataError as error:
            if error.name not in ("no-such-column", "no-such-outcome"):
                raise
            problem = f"no such file, and {error.problem}"
            option_value = OptionWithValue("--truth", label_source)
            raise error.with_changes(
                ParameterError, place=option_value, problem=problem, settles=()
            ) from None
        return
    label_request = replace(label_request, records=None, path=None, format=None)
    # The labels file may have different column names from the result files, so passk tries all
    # combinations of names.
    usual: list[dict[str, str]] = [{}] if truth == TRUTH_ROLE else []
    first: DataError | None = None
    for names, label in product((label_fields, {}), ({"outcome": truth}, *usual)):
        try:
            read(label_source, replace(label_request, fields={**names, **label}))
        except DataError as error:
            first = first or error
            if error.name not in ("no-such-column", "no-task-column", "no-outcome-column"):
                break
        else:
            return
    assert first is not None
    raise first


def read_with_borrowed_judge_errors(
    read: Callable[..., Counts], data: Any, request: Request, **more: bool
) -> Counts:
    """Read the counts of attempts, and read the judge's error rates from the file in --truth-from.

    Errors: ParameterError if the attempts also have labels. DataError if the file in --truth-from
    contains no attempts labelled as passes or no attempts labelled as failures.
    """
    if request.truth is not None:
        raise ParameterError(
            OptionWithValue("--truth-from"),
            "the attempts already have labels",
            name="contradicting-options",
            settles=[SuggestedFix({"--truth-from": None})],
        )
    fields = {role: column for role, column in request.fields.items() if role != TRUTH_ROLE}
    label_request = Request(
        fields={TRUTH_ROLE: TRUTH_ROLE, **request.fields}, threshold=request.threshold,
        passes=request.passes, fails=request.fails, outcome=request.outcome,
        missing=request.missing if request.missing == "fail" else "drop",
        duplicates=request.duplicates,
    )  # fmt: skip
    labelled = read(request.truth_from, label_request)
    truth, errors = labelled.attempts[TRUTH_ROLE], []
    for label in (0, 1):
        has_label = truth.value == label
        attempts, passed = int(truth.count[has_label].sum()), int(truth.pass_count[has_label].sum())
        errors.append((attempts - passed if label else passed, attempts))
    place = request.truth_from if isinstance(request.truth_from, str) else "labels"
    if not all(attempts for _, attempts in errors):
        absent = "passes" if errors[0][1] else "fails"
        raise DataError(
            place,
            f"there is no labelled attempt that {absent}",
            "label more attempts",
            name="missing-labels",
        )
    counts = read(data, replace(request, truth_from=None, fields=fields), **more)
    warning = BORROWED_JUDGE_ERRORS_WARNING(
        models=list(dict.fromkeys(m for m, *_ in labelled.series)), place=place
    )
    counts = replace(
        counts, read_facts=replace(counts.read_facts, judge_error_counts=tuple(errors))
    )
    return counts.with_messages(warning)


def create_checked_label_table(query: AttemptFactQueries, folder: Path) -> Iterator[Diagnostic]:
    """Create the temporary table `labels_`, and yield messages about labels that passk ignores.

    Errors: DataError for labels that match no attempt or several attempts.
    """
    statement, table = query.statement, folder / _TEMPORARY_LABELS_FILE_NAME
    truth = statement.request.truth
    place = truth if isinstance(truth, str) else "labels"
    rows = replace(
        statement.request.with_all_models(), alias=statement.request.alias, only_tasks=(),
        exclude_tasks=(), where="",
    )  # fmt: skip
    rows_sql = statement.with_text_attempts.with_changes(request=rows, where=()).rows_sql(
        query.kept_duplicate
    )
    query.con.execute(f"""
CREATE OR REPLACE TEMP TABLE labels_ AS
WITH {rows_sql},
there AS (SELECT DISTINCT coalesce(names.name, model) FROM rows LEFT JOIN names USING (file)),
read AS (
  SELECT model, task, attempt, CAST(outcome AS VARCHAR) AS truth, row_number() OVER () AS place
  FROM read_parquet({quote_text(str(table))}) WHERE outcome IS NOT NULL),
single AS (
  SELECT (SELECT count(DISTINCT model) FROM read) = 1 AND (SELECT count(*) FROM there) = 1 AS alone)
SELECT *, alone OR model IN (FROM there) AS known FROM read, single""")
    models = query.con.execute(
        "SELECT model, count(*), bool_or(known) FROM labels_ GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    if not models:
        raise DataError(
            place, "the file contains no label", name="missing-labels", settles=[MORE_LABELS_FIX]
        )
    mismatches = query.con.execute(f"""
WITH {rows_sql},
fits AS (SELECT labels_.place, count(rows.task) AS times
  FROM labels_ LEFT JOIN (rows LEFT JOIN names AS named_ USING (file)) ON {
        LABEL_MATCH_SQL
    } GROUP BY ALL)
SELECT model, task, attempt, times, count(*) OVER (PARTITION BY times > 0) AS alike
FROM fits JOIN labels_ USING (place)
WHERE times <> 1 AND known ORDER BY times, place LIMIT 1""").fetchall()
    for model, task, attempt, times, same_problem in mismatches:
        first = f"first {model} at task {task}, attempt {attempt or 'without a number'}"
        if not times:
            problem = f"{plural(same_problem, 'label')} of attempts that do not exist, {first}"
            remedy = "write model, task and attempt like in the file with the attempts"
        else:
            problem = f"{plural(same_problem, 'label')} that fit several attempts, {first}"
            remedy = (
                "number the attempts in both files, or name a column that identifies them in both"
            )
        column = SuggestedFix(
            {"--field": {"attempt": Placeholder("COLUMN")}}, "may be an id or a text"
        )
        raise DataError(place, problem, remedy, name="unmatched-labels", settles=[column])
    if absent := {str(model): labels for model, labels, is_known in models if not is_known}:
        yield LABELS_OF_ABSENT_MODELS_NOTE(
            models=[*absent], labels=sum(absent.values()), place=place
        )


def unlabelled_attempts(query: AttemptFactQueries, counts: Counts) -> tuple[UnlabelledAttempt, ...]:
    """Select at most 10,000 unlabelled attempts per model, group and stratum. A seed determines the
    random order of the attempts.

    All attempts in a stratum have the same verdict. The attempts are either at tasks that the model
    passes in more than half of the attempts, or at the other tasks.

    Errors: DataError if two attempts at a task have the same number or name.
    """
    statement = query.statement
    request, groups = statement.request, statement.groups
    query.con.register("cells_", cell_identifying_columns(counts))
    of = ", ".join(["name", *groups])
    stratum = f"PARTITION BY {of}, verdict, most ORDER BY key"
    values = attempt_values_sql(
        statement.with_text_attempts, TRUTH_ROLE, query.kept_duplicate, ", attempt"
    )
    rows = query.con.execute(f"""{values},
own AS (
  SELECT *, avg(verdict) OVER (PARTITION BY cell) > 0.5 AS most,
         count(value) OVER (PARTITION BY cell) AS of_task,
         md5(concat_ws(chr(31), {request.labelling_seed}, {of}, task, attempt)) AS key,
         md5(concat_ws(chr(31), {request.labelling_seed}, task)) AS task_key
  FROM attempt_values WHERE verdict IS NOT NULL)
SELECT {of}, task, attempt, 2 * verdict + most::INT,
       row_number() OVER ({stratum}), count(*) OVER (PARTITION BY {of}, verdict, most),
       dense_rank() OVER (ORDER BY task_key, task), row_number() OVER (PARTITION BY cell
       ORDER BY key), of_task, count(*) OVER (PARTITION BY cell, attempt)
FROM own WHERE value IS NULL
QUALIFY row_number() OVER ({stratum}) <= 10000
ORDER BY {of}, 6""").fetchall()
    many = [row for row in rows if row[-1] > 1]
    if many:
        column = SuggestedFix(
            {"--field": {"attempt": Placeholder("COLUMN")}},
            "names a column that distinguishes them",
        )
        raise DataError(
            statement.batches[0].sources[0].name,
            f"the attempts of {many[0][0]} at task {many[0][1]} cannot be distinguished",
            "number the attempts in a column named"
            " attempt", name="unmatched-labels", settles=[column],
        )  # fmt: skip
    width = 1 + len(groups)
    return tuple(UnlabelledAttempt(tuple(map(str, row[:width])), *row[width:-1]) for row in rows)
