"""Errors in place of answers: failures that may be the harness's.  A warning, never a question."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from shlex import quote

import numpy as np

from passk_cli.arrays import Ints
from passk_cli.diagnostic import WARNING, DiagnosticType
from passk_cli.files.checks.check import LIKELY, CheckContext, Finding, ReadingCheck
from passk_cli.files.database import quote_text
from passk_cli.files.reading.profile import DataProfile
from passk_cli.files.roles import ENDED_WORDS, ENDINGS, FEEDBACK, leaf, words
from passk_cli.files.vocabulary import EXPECTED_WORDS, STATEMENT_WORDS
from passk_cli.suggested_fix import SuggestedFix

# Patterns of DuckDB: words of a service that refused; with those of a machine that stopped, and the
# beginning of a text in place of an answer.
_CODE = r"\b(?:429|50[0234]|529)\b"
_SERVICE = (
    r"\w*(?:rate.?limit|too.?many.?requests|quota|overloaded|unavailable"
    r"|bad.?gateway|api.?(?:connection|timeout|error|key)|credit.?balance)\w*"
    rf"|\b(?:http|status|error|code)\w*\W{{0,3}}{_CODE}"
    rf"|^\W*{_CODE}\W+(?:too|internal|bad|service|gateway|server|error)\b"
)
_ERROR = (
    rf"{_SERVICE}|\w*(?:time.?out|timed.?out|killed|out.?of.?memory|crash|abort|cancell?ed)\w*"
    r"|\w*(?:connection|network|sandbox|container)\W*(?:was |is )?(?:error|reset|refused|closed"
    r"|lost|fail|died|drop|unreachable|unavailable|stopped)\w*"
    r"|^\W{0,3}(?:api[ _]?|request |judge |parse |llm )?(?:error|exception)\b"
    rf"|^(?:{'|'.join(ENDED_WORDS)})$"
)
# In LangSmith's tables a text in the column `error` says that the run raised, whatever the text.
_RAISED = r"\w+"
# What a failed test says, and limits that are the model's own.
_JUDGED = r"assert|expected|\btests?\b|wrong|max\w*.?(?:turn|step|token)|context|syntax"
_FLAG_NAMES = frozenset("parse_error judge_error infra_error timed_out".split())
# Words of names of what a program printed, whose errors are the model's.
_LOG_WORDS = frozenset("stderr stdout traceback trace log logs stack test tests".split())
# What was asked or expected has no errors of the harness either.
_NOT_ANSWERS = _LOG_WORDS | STATEMENT_WORDS | EXPECTED_WORDS
# Characters of a value that are read; values that a condition names, and their length.
_HEAD, _NAMED, _LENGTH = 200, 4, 40
# The share of the rows with an error that fail; the share of the other failures that end like
# passes; the errors, and the different texts of passes, that are enough.
_FAIL, _ALIKE, _ENOUGH = 0.9, 0.5, 3

ERRORS_AS_FAILURES = DiagnosticType(
    "errors-as-failures", WARNING,
    "{failures:failure}{?sample| of a sample} may be the harness's and not the model's: {column} is"
    " {kinds}{?models|; {models}}",
    "",
    "Attempts ended in an error, such as a rate limit, a timeout, a lost connection or an answer"
    " that a judge could not parse, and count as failures. That is right if the model caused it."
    " Errors that the harness caused make the rates of the models that they hit too low. Leave them"
    " out with --where, or count them on purpose with --pool.",
)  # fmt: skip


def in_place_of_answers(context: CheckContext) -> Iterator[Finding]:
    """The column in which most failures are errors."""
    survey = context.survey
    if context.harness or not np.any(survey.verdict == 0):
        return
    read = {context.column(role) for role in ("task", "outcome", "model", "attempt")}
    names = [
        name
        for name in survey.columns
        if name not in read | {*context.request.pool} and not words(name) & _NOT_ANSWERS
    ]
    flags = [name for name in names if leaf(name) in _FLAG_NAMES]
    texts = [name for name in names if survey.kind(name).name == "text" and name not in flags]
    found = [(name, _flagged(context, name)) for name in flags]
    found += [(name, _written(context, name)) for name in _with_errors(survey, texts)]
    name, kinds = max(found, key=lambda pair: sum(map(len, pair[1].values())), default=("", {}))
    if not kinds:
        return
    rows = [row for of_kind in kinds.values() for row in of_kind]
    model = context.column("model")
    models = survey.at(model, rows) if model in survey.columns else []
    shown = {
        "failures": len(rows), "sample": not survey.whole, "column": quote(name),
        "kinds": _counted({kind: len(of_kind) for kind, of_kind in kinds.items()}),
        "models": _counted(Counter(models)) if len(context.models) > 1 else "",
    }  # fmt: skip
    without = _without(context.condition(name), {*survey.at(name, rows)}, kinds)
    settles = (
        SuggestedFix({"--where": without}, "leaves them out"),
        SuggestedFix({"--pool": (name,)}, "counts them as failures on purpose"),
    )
    # If all attempts failed like this, none would be left.
    yield Finding(ERRORS_AS_FAILURES, False, shown, settles[len(rows) == survey.rows :])


def _with_errors(survey: DataProfile, names: Sequence[str]) -> list[str]:
    """The columns of texts of which one matches a pattern, by one query."""
    patterns = (_RAISED if _raises(survey, name) else f"{_ERROR}|{_CODE}" for name in names)
    tests = [_matches(survey.columns[n].sql, p) for n, p in zip(names, patterns, strict=True)]
    if not tests:
        return []
    query = f"SELECT {', '.join(f'bool_or({test})' for test in tests)} FROM {survey.table}"
    return [n for n, any_row in zip(names, survey.con.execute(query).fetchall()[0], strict=True)
            if any_row]  # fmt: skip


def _raises(survey: DataProfile, name: str) -> bool:
    return name == "error" and any(column.startswith(FEEDBACK) for column in survey.columns)


def _matches(text: str, pattern: str) -> str:
    """SQL for whether the beginning of a text contains a pattern."""
    return f"regexp_matches(left({text}, {_HEAD}), {quote_text('(?i)' + pattern)})"


def _flagged(context: CheckContext, name: str) -> dict[str, list[int]]:
    """The failures in which a flag of errors is true, as one kind of error."""
    return _of_failures(context, {name: np.flatnonzero(context.survey.verdicts(name) == 1)})


def _written(context: CheckContext, name: str) -> dict[str, list[int]]:
    """Kind of error → the failures with it; none if the texts of a column do not mean that.

    Words of a service are enough in a column that shows how attempts ended.  Any other error needs
    other failures that end like passes, or passes with texts of their own: a column with a reason
    for each failure shows why the model failed.
    """
    survey = context.survey
    column, named = survey.columns[name], bool(words(name) & ENDINGS)
    judged = (survey.task >= 0) & np.isfinite(survey.verdict)
    passing = np.unique(column.codes[judged & (survey.verdict == 1)])
    # A number is a code only in a column that shows how attempts ended.
    service = f"{_SERVICE}|{_CODE}" if named else _SERVICE
    patterns = ((service, named), (_ERROR, False))
    for pattern, enough in ((_RAISED, True),) if _raises(survey, name) else patterns:
        kinds = _of_failures(context, _rows(survey, name, pattern))
        rows = [row for of_kind in kinds.values() for row in of_kind]
        others = judged & (survey.verdict == 0)
        others[rows] = False
        same = not others.any() or np.mean(np.isin(column.codes[others], passing)) >= _ALIKE
        alike = same or len(passing) > _ENOUGH
        if rows and (enough or (alike and (named or len(rows) >= _ENOUGH))):
            return kinds
    return {}


def _rows(survey: DataProfile, name: str, pattern: str) -> dict[str, Ints]:
    """The words that match a pattern → the rows with them, but for those of failed tests."""
    text = survey.columns[name].sql
    query = (
        f"SELECT regexp_extract(left({text}, {_HEAD}), {quote_text('(?i)' + pattern)}) AS kind,"
        f" list(rowid) FROM {survey.table} WHERE {_matches(text, pattern)}"
        f" AND NOT {_matches(text, _JUDGED)} GROUP BY kind ORDER BY kind"
    )
    return {kind: np.array(rows) for kind, rows in survey.con.execute(query).fetchall()}


def _of_failures(context: CheckContext, kinds: Mapping[str, Ints]) -> dict[str, list[int]]:
    """The failures among rows with errors; none if some of these rows pass."""
    survey = context.survey
    failures = {
        kind: rows[(survey.task[rows] >= 0) & (survey.verdict[rows] == 0)].tolist()
        for kind, rows in kinds.items()
    }
    judged = sum(int(np.isfinite(survey.verdict[rows]).sum()) for rows in kinds.values())
    if sum(map(len, failures.values())) < _FAIL * judged:
        return {}
    return {kind: rows for kind, rows in failures.items() if rows}


def _counted(counts: Mapping[str, int]) -> list[str]:
    """Names with their numbers, the largest first.

    >>> _counted({"a": 1, "b": 3})
    ['b (3)', 'a (1)']
    """
    return [f"{n} ({count:,})" for n, count in sorted(counts.items(), key=lambda e: (-e[1], e[0]))]


def _without(column: str, texts: set[str], kinds: Iterable[str]) -> str:
    """The condition that leaves errors out, by their texts or by the words of their kinds.

    column : as a condition names it.
    """
    value = f"coalesce({column}, '')"
    if len(texts) <= _NAMED and max(map(len, texts)) <= _LENGTH:
        return f"{value} NOT IN ({', '.join(map(quote_text, sorted(texts)))})"
    return f"NOT regexp_matches({value}, {quote_text('|'.join(map(re.escape, kinds)))})"


CHECKS = (
    ReadingCheck(
        ERRORS_AS_FAILURES, LIKELY,
        "Three failures contain an error message such as rate limit or 503 (one is enough in a"
        " column such as error); or a flag such as timed_out is true.",
        ("--where \"coalesce(X, '') NOT IN ('timeout')\"", "--pool X"), in_place_of_answers,
    ),
)  # fmt: skip
