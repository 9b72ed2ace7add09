"""Warn about failures that the harness may have caused, for example by a rate limit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from shlex import quote

import numpy as np

from passk_cli.arrays import Ints
from passk_cli.diagnostic import WARNING, DiagnosticType
from passk_cli.files.checks.check import LIKELY, CheckContext, CheckFinding, ReadingCheck
from passk_cli.files.database import quote_text
from passk_cli.files.reading.profile import RowSampleProfile
from passk_cli.files.roles import (
    ATTEMPT_END_STATUS_COLUMN_WORDS,
    ENDED_WITHOUT_VERDICT_WORDS,
    LANGSMITH_FEEDBACK_PREFIX,
    column_name_words,
    normalized_last_key,
)
from passk_cli.files.vocabulary import EXPECTED_ANSWER_WORDS, PROBLEM_STATEMENT_WORDS
from passk_cli.suggested_fix import SuggestedFix

# _API_ERROR_PATTERN matches error messages of an API. _HARNESS_ERROR_PATTERN also matches errors of
# the computer (for example out of memory), and texts that begin like an error message.
_HTTP_CODE_PATTERN = r"\b(?:429|50[0234]|529)\b"
_API_ERROR_PATTERN = (
    r"\w*(?:rate.?limit|too.?many.?requests|quota|overloaded|unavailable"
    r"|bad.?gateway|api.?(?:connection|timeout|error|key)|credit.?balance)\w*"
    rf"|\b(?:http|status|error|code)\w*\W{{0,3}}{_HTTP_CODE_PATTERN}"
    rf"|^\W*{_HTTP_CODE_PATTERN}\W+(?:too|internal|bad|service|gateway|server|error)\b"
)
_HARNESS_ERROR_PATTERN = (
    rf"{_API_ERROR_PATTERN}|\w*(?:time.?out|timed.?out|killed|out.?of.?memory|crash|abort|cancell?ed)\w*"
    r"|\w*(?:connection|network|sandbox|container)\W*(?:was |is )?(?:error|reset|refused|closed"
    r"|lost|fail|died|drop|unreachable|unavailable|stopped)\w*"
    r"|^\W{0,3}(?:api[ _]?|request |judge |parse |llm )?(?:error|exception)\b"
    rf"|^(?:{'|'.join(ENDED_WITHOUT_VERDICT_WORDS)})$"
)
# In LangSmith tables, any text in the column `error` means that the run raised an error.
_ANY_TEXT_PATTERN = r"\w+"
# If a test fails or an attempt exceeds its limit of turns or tokens, the cause is the model and not
# the harness.
_MODEL_FAILURE_PATTERN = (
    r"assert|expected|\btests?\b|wrong|max\w*.?(?:turn|step|token)|context|syntax"
)
_ERROR_FLAG_NAMES = frozenset("parse_error judge_error infra_error timed_out".split())
# A column with a word in _PROGRAM_OUTPUT_COLUMN_WORDS in its name contains program output. Errors
# in program output are errors of the model.
_PROGRAM_OUTPUT_COLUMN_WORDS = frozenset(
    "stderr stdout traceback trace log logs stack test tests".split()
)
# Columns of questions and expected answers contain no errors of the harness.
_IGNORED_COLUMN_WORDS = (
    _PROGRAM_OUTPUT_COLUMN_WORDS | PROBLEM_STATEMENT_WORDS | EXPECTED_ANSWER_WORDS
)
_READ_CHARACTERS, _MOST_NAMED, _LONGEST_NAMED = 200, 4, 40
_FAILING_SHARE, _PASS_LIKE_SHARE, _ENOUGH = 0.9, 0.5, 3

ERRORS_AS_FAILURES_WARNING = DiagnosticType(
    "errors-as-failures", WARNING,
    "the harness rather than the model may have caused {failures:failure}{?sample| of a sample}:"
    " {column} contains {kinds}{?models|; models: {models}}",
    meaning="Some attempts ended in an error, such as a rate limit, a timeout, a lost connection"
    " or an answer that a judge could not parse. passk counts these attempts as failures.",
    why="If the model caused the error, the attempt is a failure. If the harness caused the error,"
    " the pass rates of the models with errors are too low.",
    advice="Use --where to leave out the attempts with errors. To count the attempts with errors as"
    " failures, use --pool.",
    example="warning[errors-as-failures]: the harness rather than the model may have caused 4"
    " failures: error contains rate limit (3), timeout (1); models: alpha (4)",
)  # fmt: skip


def error_findings(context: CheckContext) -> Iterator[CheckFinding]:
    """Find the column with the most failures that have an error message or a true error flag."""
    profile = context.profile
    if context.is_known_format or not np.any(profile.row_verdicts == 0):
        return
    read = {context.role_column(role) for role in ("task", "outcome", "model", "attempt")}
    names = [
        name
        for name in profile.columns
        if name not in read | {*context.request.pool}
        and not column_name_words(name) & _IGNORED_COLUMN_WORDS
    ]
    flags = [name for name in names if normalized_last_key(name) in _ERROR_FLAG_NAMES]
    texts = [
        name for name in names if profile.column_kind(name).name == "text" and name not in flags
    ]
    kinds_by_column = [(name, _flagged_failures(context, name)) for name in flags]
    kinds_by_column += [
        (name, _failures_with_errors(context, name))
        for name in _columns_with_errors(profile, texts)
    ]
    name, kinds = max(
        kinds_by_column, key=lambda pair: sum(map(len, pair[1].values())), default=("", {})
    )
    if not kinds:
        return
    rows = [row for of_kind in kinds.values() for row in of_kind]
    model = context.role_column("model")
    models = profile.texts_at(model, rows) if model in profile.columns else []
    fields = {
        "failures": len(rows), "sample": not profile.is_complete, "column": quote(name),
        "kinds": _names_with_counts({kind: len(of_kind) for kind, of_kind in kinds.items()}),
        "models": _names_with_counts(Counter(models)) if len(context.models) > 1 else "",
    }  # fmt: skip
    without = _exclusion_condition(
        context.column_expression_sql(name), {*profile.texts_at(name, rows)}, kinds
    )
    settles = (
        SuggestedFix({"--where": without}, "leaves them out"),
        SuggestedFix({"--pool": (name,)}, "counts them as failures on purpose"),
    )
    # If all attempts failed with an error, a condition in --where would leave no attempts, so passk
    # does not suggest --where.
    yield CheckFinding(
        ERRORS_AS_FAILURES_WARNING, False, fields, settles[len(rows) == profile.row_count :]
    )


def _columns_with_errors(profile: RowSampleProfile, names: Sequence[str]) -> list[str]:
    patterns = (
        _ANY_TEXT_PATTERN
        if _is_langsmith_error_column(profile, name)
        else f"{_HARNESS_ERROR_PATTERN}|{_HTTP_CODE_PATTERN}"
        for name in names
    )
    tests = [
        _matches_sql(profile.columns[n].value_sql, p) for n, p in zip(names, patterns, strict=True)
    ]
    if not tests:
        return []
    query = f"SELECT {', '.join(f'bool_or({test})' for test in tests)} FROM {profile.table_name}"
    return [n for n, any_row in zip(names, profile.con.execute(query).fetchall()[0], strict=True)
            if any_row]  # fmt: skip


def _is_langsmith_error_column(profile: RowSampleProfile, name: str) -> bool:
    return name == "error" and any(
        column.startswith(LANGSMITH_FEEDBACK_PREFIX) for column in profile.columns
    )


def _matches_sql(text: str, pattern: str) -> str:
    return f"regexp_matches(left({text}, {_READ_CHARACTERS}), {quote_text('(?i)' + pattern)})"


def _flagged_failures(context: CheckContext, name: str) -> dict[str, list[int]]:
    """Map the name of an error flag to the failed rows in which the flag is true."""
    return _failing_rows(
        context, {name: np.flatnonzero(context.profile.row_verdicts_of_column(name) == 1)}
    )


def _failures_with_errors(context: CheckContext, name: str) -> dict[str, list[int]]:
    """Map each kind of error to the failed rows with this error. The result is empty if the column
    contains no errors of the harness.

    In a column about how attempts ended, one API error is enough. Otherwise, at least half of the
    failures without an error must have the same texts as passes, or passes must have more than
    three different texts. If only failures have texts, the texts explain why the model failed.
    """
    profile = context.profile
    column, is_ending_column = (
        profile.columns[name],
        bool(column_name_words(name) & ATTEMPT_END_STATUS_COLUMN_WORDS),
    )
    judged = (profile.task_codes >= 0) & np.isfinite(profile.row_verdicts)
    passing = np.unique(column.codes[judged & (profile.row_verdicts == 1)])
    # A number such as 503 is an error code only in a column about how attempts ended.
    service = (
        f"{_API_ERROR_PATTERN}|{_HTTP_CODE_PATTERN}" if is_ending_column else _API_ERROR_PATTERN
    )
    patterns = ((service, is_ending_column), (_HARNESS_ERROR_PATTERN, False))
    for pattern, enough in (
        ((_ANY_TEXT_PATTERN, True),) if _is_langsmith_error_column(profile, name) else patterns
    ):
        kinds = _failing_rows(context, _row_ids_by_error_kind(profile, name, pattern))
        rows = [row for of_kind in kinds.values() for row in of_kind]
        other_failures = judged & (profile.row_verdicts == 0)
        other_failures[rows] = False
        same = (
            not other_failures.any()
            or np.mean(np.isin(column.codes[other_failures], passing)) >= _PASS_LIKE_SHARE
        )
        is_separate_text = same or len(passing) > _ENOUGH
        if rows and (enough or (is_separate_text and (is_ending_column or len(rows) >= _ENOUGH))):
            return kinds
    return {}


def _row_ids_by_error_kind(profile: RowSampleProfile, name: str, pattern: str) -> dict[str, Ints]:
    text = profile.columns[name].value_sql
    query = (
        f"SELECT regexp_extract(left({text}, {_READ_CHARACTERS}),"
        f" {quote_text('(?i)' + pattern)}) AS kind,"
        f" list(rowid) FROM {profile.table_name} WHERE {_matches_sql(text, pattern)}"
        f" AND NOT {_matches_sql(text, _MODEL_FAILURE_PATTERN)} GROUP BY kind ORDER BY kind"
    )
    return {kind: np.array(rows) for kind, rows in profile.con.execute(query).fetchall()}


def _failing_rows(context: CheckContext, kinds: Mapping[str, Ints]) -> dict[str, list[int]]:
    """The failed rows for each kind of error. The result is empty if too many rows with errors
    pass."""
    profile = context.profile
    failures = {
        kind: rows[(profile.task_codes[rows] >= 0) & (profile.row_verdicts[rows] == 0)].tolist()
        for kind, rows in kinds.items()
    }
    judged = sum(int(np.isfinite(profile.row_verdicts[rows]).sum()) for rows in kinds.values())
    if sum(map(len, failures.values())) < _FAILING_SHARE * judged:
        return {}
    return {kind: rows for kind, rows in failures.items() if rows}


def _names_with_counts(counts: Mapping[str, int]) -> list[str]:
    """The names with their counts, with the largest count first.

    >>> _names_with_counts({"a": 1, "b": 3})
    ['b (3)', 'a (1)']
    """
    return [f"{n} ({count:,})" for n, count in sorted(counts.items(), key=lambda e: (-e[1], e[0]))]


def _exclusion_condition(column: str, texts: set[str], kinds: Iterable[str]) -> str:
    """The condition for --where that excludes rows with errors, either by the full texts of the
    errors or by the kinds of the errors.

    column : the SQL expression for the column.
    """
    value = f"coalesce({column}, '')"
    if len(texts) <= _MOST_NAMED and max(map(len, texts)) <= _LONGEST_NAMED:
        return f"{value} NOT IN ({', '.join(map(quote_text, sorted(texts)))})"
    return f"NOT regexp_matches({value}, {quote_text('|'.join(map(re.escape, kinds)))})"


CHECKS = (
    ReadingCheck(
        ERRORS_AS_FAILURES_WARNING, LIKELY,
        "At least three failures contain an error message such as rate limit or 503. In a column"
        " such as error, one failure is enough. Or a flag such as timed_out is true.",
        ("--where \"coalesce(X, '') NOT IN ('timeout')\"", "--pool X"), error_findings,
    ),
)  # fmt: skip
