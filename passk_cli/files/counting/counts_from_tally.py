"""Turn the result of the counting statement into Counts, and apply --missing and --duplicates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import duckdb
import numpy as np

from passk_cli.diagnostic import Diagnostic, error_as_warning
from passk_cli.errors import DataError
from passk_cli.files.counting import diagnosis
from passk_cli.files.counting.raw_text_checks import (
    ATTEMPTS_WITHOUT_BY_VALUE_NOTE,
    OTHER_ENCODING_WARNING,
    number_and_text_task_messages,
    several_score_columns_messages,
)
from passk_cli.files.counting.statement import Statement, Tally
from passk_cli.files.reading.layout import Batch
from passk_cli.files.reading.non_result_files import (
    PossibleResultsExcludedError,
    repeated_file_error,
)
from passk_cli.files.reading.schema_detection import NormalizedFiles
from passk_cli.files.request import BOUNDS, Request
from passk_cli.files.roles import (
    ATTEMPT_FACT_ROLES,
    COLUMN_NAME_AS_MODEL,
    amount_addends,
    find_column_and_keys,
    usual_columns,
)
from passk_cli.outcomes.counts import Counts
from passk_cli.outcomes.missing_outcomes import MissingOutcomeCounts
from passk_cli.outcomes.name_codes import combine_name_columns
from passk_cli.outcomes.provenance import FileFormatAndRoles, ReadFacts
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.text import OrderedCategoryValue, first_few


def build_counts(
    con: duckdb.DuckDBPyConnection,
    statement: Statement,
    attempts: NormalizedFiles,
    tally: Tally,
    tolerant: bool,
) -> Counts:
    """Build Counts from the tally that the SQL statement returned.

    attempts : the rows of files in known formats, with messages and skipped files.
    tolerant : whether invalid data causes a message instead of an error.
    Errors: DataError or ParameterError if the data is invalid or contains no attempts.
    """
    request = statement.request
    _require_valid_data(con, statement, tally, tolerant)
    cells, nameless = tally.cell_columns, tally.cell_columns["task"].missing_mask
    if nameless.any():
        cells = {name: values[~nameless] for name, values in cells.items()}
    n = cells["n"] + (0 if request.missing in ("error", "drop") else cells["missing"])
    if tolerant:
        n = n + cells["bad"]
    attempted = n > 0
    if not attempted.any():
        _raise_no_attempts_error(con, statement, tally)
    facts = _reading_facts(statement, attempts, tally, cells, attempted)
    facts = replace(facts, messages=_reading_messages(con, statement, attempts, cells, n, tolerant))
    undecided = cells["missing"][attempted].astype(np.int64)
    counts = Counts.from_codes(
        _series_codes(statement, cells, attempted),
        cells["task"][attempted].texts_and_codes,
        n[attempted].astype(np.int64),
        cells["passed"][attempted].astype(np.int64),
        tuple(request.by),
        facts,
        undecided if facts.missing_outcome_count and request.missing == BOUNDS else None,
    )
    if request.cluster:
        place = statement.batches[0].sources[0].name
        counts = counts.with_clusters(_cluster_of_tasks(request.cluster, cells, place))
    for i, column in enumerate(statement.benchmarks):
        if benchmark_by_task := _benchmark_by_task_if_clear(cells, i):
            facts = replace(
                counts.read_facts, benchmark_column=column, benchmark_by_task=benchmark_by_task
            )
            return replace(counts, read_facts=facts)
    return counts


def _benchmark_by_task_if_clear(cells: Mapping[str, Any], place: int) -> dict[str, str]:
    """Map each task to its benchmark, using a column that divides the tasks into a few groups.

    The result is empty if a task has no single benchmark, or if there are too many groups.
    """
    columns = ("task", f"benchmark{place}_low", f"benchmark{place}_high")
    rows, _ = combine_name_columns([cells[name].texts_and_codes for name in columns])
    benchmark_by_task: dict[str, str] = {}
    for task, low, high in rows:
        if not low or low != high or benchmark_by_task.setdefault(task, low) != low:
            return {}
    return (
        benchmark_by_task
        if 1 < len({*benchmark_by_task.values()}) <= len(benchmark_by_task) / 2
        else {}
    )


def _require_valid_data(
    con: duckdb.DuckDBPyConnection, statement: Statement, tally: Tally, tolerant: bool
) -> None:
    """Raise an error if a label names several models, if an outcome field is missing, or if data is
    invalid."""
    cells = tally.cell_columns
    if any(source.label for batch in statement.batches for source in batch.sources):
        _require_one_model_per_label(
            statement.batches, tally.cell_table_before_deduplication, statement.request
        )
    judged = np.bincount(cells["name"].codes + 1, cells["n"] + cells["bad"])[1:]
    if cells["missing"].any() and not judged.all():
        # If the outcome field is missing in all records, the name of the field is wrong.
        absent = diagnosis.outcome_field_in_no_record_error(con, statement)
        if absent is not None:
            raise absent
    _require_no_data_errors(con, statement, tally, tolerant)


def _raise_no_attempts_error(
    con: duckdb.DuckDBPyConnection, statement: Statement, tally: Tally
) -> None:
    request = statement.request
    refusing = statement.with_changes(request=replace(request, missing="error"))
    _require_no_data_errors(con, refusing, tally, tolerant=False)
    remedy = "is the file complete?"
    if request.where:
        values = diagnosis.condition_values_text(con, statement)
        remedy = f"is the condition too narrow? {values}".rstrip()
    if request.only_tasks or request.exclude_tasks:
        remedy = "are all tasks excluded?"
    place = statement.batches[0].sources[0].name
    raise DataError(place, "the data contains no attempts", remedy, name="no-attempts")


def _series_codes(statement: Statement, cells: Mapping[str, Any], attempted: Any) -> Any:
    """The integer codes of models and groups. The codes of an ordered category column follow the
    order of the categories."""
    layouts = [batch.layout for batch in statement.batches]
    orders = dict(chain.from_iterable(layout.category_orders.items() for layout in layouts))
    columns = [cells[column][attempted].texts_and_codes for column in ("name", *statement.groups)]
    for place, name in enumerate(statement.request.by, 1):
        if name in orders:
            names, codes = columns[place]
            columns[place] = [OrderedCategoryValue(text, orders[name]) for text in names], codes
    return combine_name_columns(columns)


def _reading_messages(
    con: duckdb.DuckDBPyConnection,
    statement: Statement,
    attempts: NormalizedFiles,
    cells: Mapping[str, Any],
    n: Any,
    tolerant: bool,
) -> tuple[Diagnostic, ...]:
    """The messages about files, encodings, groups and tasks.

    Errors: DataError for copies of a file, and for a single record that contains all attempts.
    """
    batches, request = statement.batches, statement.request
    is_doubtful = _are_unnumbered_attempts_pooled(batches, cells) and request.duplicates != "keep"
    copy = repeated_file_error(batches) if is_doubtful else None
    inner_records = None
    if int(cells["attempts"].sum()) == 1 and request.records is None:
        from passk_cli.files.reading.column_choice_errors import inner_records_error

        inner_records = inner_records_error(con, batches[0])
    doubted = [error for error in (copy, inner_records) if error is not None]
    if doubted and not tolerant:
        raise doubted[0]
    messages = [*attempts.messages]
    encoded = [source for batch in batches for source in batch.sources if source.original_encoding]
    if encoded:
        encodings = ", ".join(dict.fromkeys(source.original_encoding for source in encoded))
        files = first_few([source.name for source in encoded])
        messages.append(OTHER_ENCODING_WARNING(files=files, encodings=encodings))
    messages += map(error_as_warning, doubted)
    if request.conversion is not None:
        messages += several_score_columns_messages(batches, request)
    messages += [
        ATTEMPTS_WITHOUT_BY_VALUE_NOTE(attempts=without, column=name)
        for name, column in zip(request.by, statement.groups, strict=True)
        if (without := int(n[cells[column].missing_mask].sum()))
    ]
    if len(attempts.first_file_by_task_name_kind) > 1:
        messages += number_and_text_task_messages(
            attempts.first_file_by_task_name_kind, cells["task"][n > 0]
        )
    return tuple(messages)


def _are_attempts_numbered_in_batches(batches: Sequence[Batch]) -> bool:
    return all(bool(b.roles.attempt) or b.roles.kind_of_rows != "attempts" for b in batches)


def _are_unnumbered_attempts_pooled(batches: Sequence[Batch], cells: Mapping[str, Any]) -> bool:
    """Whether several files contain unnumbered attempts by the same model at the same task."""
    return not _are_attempts_numbered_in_batches(batches) and bool(cells["files_differ"].any())


def _reading_facts(
    statement: Statement,
    attempts: NormalizedFiles,
    tally: Tally,
    cells: Mapping[str, Any],
    attempted: Any,
) -> ReadFacts:
    batches, request = statement.batches, statement.request
    nameless = tally.cell_columns["task"].missing_mask
    lines = tally.cell_columns["attempts"] * nameless
    lines = np.bincount(tally.cell_columns["name"].codes + 1, lines)
    # If each column is a model, a line without a task occurs once per model, but counts only once.
    without_task = (
        lines.max() if request.fields.get("model") == COLUMN_NAME_AS_MODEL else lines.sum()
    )
    sources = [source for batch in batches for source in batch.sources]
    unread = [
        error
        for error in attempts.skipped_file_errors
        if isinstance(error, PossibleResultsExcludedError)
    ]
    pooled = _are_unnumbered_attempts_pooled(batches, cells)
    some_numbered = any(b.roles.attempt for b in batches if b.roles.kind_of_rows == "attempts")
    reasons: dict[str, Counter[str]] = {}
    reported = (
        (request.canonical_model_name(model), counts_by_reason)
        for model, counts_by_reason in attempts.missing_reason_counts.items()
    )
    for model, counts_by_reason in chain(reported, tally.missing_reason_counts.items()):
        reasons.setdefault(model, Counter()).update(counts_by_reason)
    missing = int(cells["missing"].sum())
    return ReadFacts(
        file_readings=tuple(_file_reading(b, request, attempts) for b in batches),
        missing_outcome_count=missing,
        missing_policy=request.missing,
        missing_outcomes=_missing_outcomes(cells, statement.groups) if missing else None,
        duplicate_count=tally.repeats.repeat_row_count,
        duplicates_policy=request.duplicates,
        duplicates_checked=_are_attempts_numbered_in_batches(batches),
        files_with_unnumbered_repeats=tuple(source.name for source in sources) if pooled else (),
        unnumbered_attempts=int((cells["attempts"] - cells["numbered"]).sum())
        if some_numbered
        else 0,
        skipped_lines=int(without_task)
        + tally.skipped_bad_csv_row_count
        + attempts.skipped_line_count,
        empty_file_count=len(attempts.empty_files),
        emptied_cell_count=int((~attempted).sum()),
        unclear_outcome_count=int((cells["bad"] + cells["graded"]).sum()),
        numeric_group_columns=tuple(
            name
            for name in request.by
            if all(b.layout.column_kinds(name) - {"null"} == {"number"} for b in batches)
        ),
        where_condition=request.where,
        pooled_columns=request.pool,
        passing_values=request.passes,
        outcome_column=request.outcome or "",
        records_key=request.records or "",
        path_template=request.path or "",
        cluster_column=request.cluster or "",
        threshold=None if request.are_scores_left_unjudged else request.passing_score,
        tasks_in_random_draw_order=next(iter(attempts.attempted_task_orders))
        if len(attempts.attempted_task_orders) == 1
        else (),
        missing_reasons_by_model={
            model: dict(counts_by_reason) for model, counts_by_reason in reasons.items()
        },
        pooled_run_count_by_model={
            request.canonical_model_name(model): number
            for model, number in attempts.run_count_by_model.items()
        },
        non_result_files=tuple(
            str(error.place) for error in attempts.skipped_file_errors if error not in unread
        ),
        files_without_outcome=tuple(attempts.files_without_requested_outcome),
        left_out_files=tuple(f"{error.place} ({error.problem})" for error in unread),
    )


def _require_no_data_errors(
    con: duckdb.DuckDBPyConnection, statement: Statement, tally: Tally, tolerant: bool
) -> None:
    """Raise an error for the first missing, unknown or repeated value, unless options allow such
    values."""
    request, nameless = statement.request, tally.cell_columns["task"].missing_mask
    if nameless.any() and not (request.skip_bad or tolerant):
        attempt_counts = tally.cell_columns["attempts"]
        lacking = int(attempt_counts[nameless].sum()), int(attempt_counts.sum())
        raise diagnosis.missing_name_error(con, statement, "task", lacking)
    cells = {name: values[~nameless] for name, values in tally.cell_columns.items()}
    if cells["name"].missing_mask.any():
        raise diagnosis.missing_name_error(con, statement, "model")
    if tolerant:
        return
    if cells["bad"].any():
        raise diagnosis.bad_outcome_error(con, statement)
    if cells["missing"].any() and request.missing == "error":
        has_outcomes = bool(cells["n"].any() or cells["bad"].any())
        raise diagnosis.missing_outcome_error(
            con, statement, int(cells["missing"].sum()), has_outcomes=has_outcomes
        )
    if tally.repeats.attempt_count and request.duplicates == "error":
        raise diagnosis.repeated_attempt_error(con, statement, tally.repeats)


def _require_one_model_per_label(
    batches: Sequence[Batch], cells: Mapping[str, Any], request: Request
) -> None:
    """Raise DataError if a file with a label contains several models, unless --pool pools these
    models."""
    labels = {
        request.canonical_model_name(s.label): (s, b.roles.model)
        for b in batches for s in b.sources
        if s.label and b.roles.model and b.roles.model not in request.pool
    }  # fmt: skip
    for label, (source, column) in labels.items():
        if label not in cells["name"].distinct_texts:
            continue
        rows = cells["name"].codes == cells["name"].distinct_texts.index(label)
        ends = (
            cells[column][rows].distinct_present_texts for column in ("model_low", "model_high")
        )
        models = {name for end in ends for name in end if name}
        if len(models) > 1:
            several = f"the file contains several models ({', '.join(sorted(models)[:4])})"
            problem = f"{several}, but the label {label!r} names only one model"
            raise DataError(
                source.name, problem, "remove the label", name="pooled-models",
                # --pool accepts only one column, so passk suggests no fix for several columns.
                settles=[SuggestedFix({"--pool": (column,)}, f"counts them as one model, {label}")]
                if "," not in column else (),
            )  # fmt: skip


def _missing_outcomes(cells: Mapping[str, Any], groups: Sequence[str]) -> MissingOutcomeCounts:
    attempt_counts = (cells["n"] + cells["missing"] + cells["bad"]).astype(np.int64)
    is_present = attempt_counts > 0
    units = combine_name_columns(
        [cells[name][is_present].texts_and_codes for name in ("task", *groups)]
    )
    return MissingOutcomeCounts.from_codes(
        cells["name"][is_present].texts_and_codes,
        units,
        attempt_counts[is_present],
        cells["missing"][is_present].astype(np.int64),
    )


def _cluster_of_tasks(column: str, cells: Mapping[str, Any], place: str) -> dict[str, str]:
    clusters: dict[str, str] = {}
    # Most models have the same tasks, so passk checks each pair of a task and a cluster only once.
    rows, codes = combine_name_columns(
        [cells[name].texts_and_codes for name in ("task", "cluster_low", "cluster_high")]
    )
    firsts = np.sort(np.unique(codes, return_index=True)[1])
    for task, low, high in (rows[code] for code in codes[firsts].tolist()):
        if not low:
            problem, remedy = f"task {task!r} has no {column}", "every task needs a cluster"
            raise DataError(place, problem, remedy, name="bad-cluster")
        known_cluster = high if low != high else clusters.setdefault(task, low)
        if low != known_cluster:
            problem = f"task {task!r} is in two clusters ({low}, {known_cluster})"
            remedy = "each task must be in one cluster; is this the right column?"
            raise DataError(place, problem, remedy, name="bad-cluster")
    return clusters


def _file_reading(batch: Batch, request: Request, attempts: NormalizedFiles) -> FileFormatAndRoles:
    roles = batch.roles.columns()
    parts = (part for of in batch.layout.joined_columns.values() for part in of.parts)
    kinds = batch.layout.kinds_by_column
    sums = (
        part for role, column in roles.items() for part, _ in amount_addends(role, column, kinds)
    )
    references = {*sums, *request.by, request.cluster, *parts}
    base_columns = {
        (find_column_and_keys(c, batch.layout.kinds_by_column) or (c,))[0] for c in references if c
    }
    name = batch.sources[0].name
    if len(batch.sources) > 1:
        name += f" and {len(batch.sources) - 1} more"
    packing = "" if batch.layout.compression == "none" else f", {batch.layout.compression}"
    # The costs in a harness file become columns only if the command needs costs.
    spent = {
        name: {"number"} for name in attempts.amount_names_by_format.get(batch.layout.kind, {})
    }
    usual = {role: usual_columns(role, {**kinds, **spent}) for role in ATTEMPT_FACT_ROLES}
    offered = {
        role: columns[0]
        for role, columns in usual.items()
        if len(columns) == 1 and role not in roles and columns[0] not in base_columns
    }
    halves = [offered.get(role) for role in ("tokens_in", "tokens_out")]
    if "tokens" not in offered and all(halves) and "tokens" not in roles:
        offered["tokens"] = "+".join(map(str, halves))
    added_columns = ("suite", "run", "reason") if batch.layout.is_harness_format else ()
    used_columns = {*base_columns, *offered.values(), *added_columns}
    unused = tuple(column for column in batch.layout.kinds_by_column if column not in used_columns)
    form = f"{batch.layout.kind} ({batch.layout.description}{packing})"
    outcomes = tuple(attempts.outcome_names_by_format.get(batch.layout.kind, ()))
    path_columns = (*request.by, *(request.template.column_names if request.template else ()))
    in_path = tuple(name for name in batch.layout.constant_columns if name in path_columns)
    return FileFormatAndRoles(name, form, roles, unused, offered, outcomes, in_path)
