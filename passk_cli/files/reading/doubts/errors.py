"""Errors of the harness that count as failures: an outcome of false beside a rate limit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from shlex import quote

import numpy as np

from passk_cli.arrays import Bools
from passk_cli.files.database import quote_text
from passk_cli.files.reading.doubts.grounds import Doubt, Finding, Grounds
from passk_cli.files.reading.survey import Observed, Survey
from passk_cli.files.roles import ENDED_WORDS, ENDINGS, words
from passk_cli.message import WARNING, Message
from passk_cli.settle import Settle

# What a service says that refuses, and what else ends an attempt before it is judged.
_SERVICE = (
    r"rate.?limit|too.?many.?requests|quota|overloaded|\b(?:429|50[234]|529)\b|infra(?!red)"
    r"|service.?unavailable|bad.?gateway|internal.?server|api.?(?:connection|timeout|error|status)"
    r"|credit.?balance|billing|unauthori[sz]ed|(?:invalid|incorrect).?api.?key"
)
_ENDED = (
    r"time.?out|timed.?out|deadline|connection|network|unreachable|disconnect|killed|\boom\b"
    r"|out.?of.?memory|crash|abort|cancell?ed|pre.?empt|evict|interrupt|sandbox|docker|container"
    r"|harness"
)
_SERVICES = re.compile(rf"\w*(?:{_SERVICE})\w*", re.I)
_ERRORS = re.compile(rf"\w*(?:{_SERVICE}|{_ENDED})\w*", re.I)
# What is written in place of an answer, and words of names of answers.
_WRITTEN = re.compile(r"\W{0,2}(?:api[ _]?|request )?(?:error|exception)\b", re.I)
_ANSWERS = {*"answer response output completion prediction generation reply".split()}
# What a failed test says, and limits that are the model's own.
_JUDGED = re.compile(r"assert|expected|\btests?\b|wrong|max\w*.?(?:turn|step|token)|context", re.I)
# Letters of a value that are looked at; values that a condition names, and their letters.
_HEAD, _NAMED, _LETTERS = 200, 4, 40
# Share of the attempts with an error that fail; of the other failures, that end as passes do; and
# errors that are enough where a column's name says nothing.
_FAIL, _ALIKE, _ENOUGH = 0.9, 0.5, 3

ERRORS_AS_FAILURES = Message(
    "errors-as-failures", WARNING,
    "{failures:failure}{?sample| of a sample} may be the harness's, not the model's: {column} says"
    " {kinds}{?models|; {models}}",
    "",
    "A column says that attempts ended in an error, such as a rate limit, a timeout or a lost"
    " connection, and their outcome is a failure all the same. That is right where the model caused"
    " it; what the harness caused lowers the numbers of the models that it hit. Timeouts count as"
    " such where other failures end as passes do, so that a test that runs out of time is none.",
)  # fmt: skip


def ended(grounds: Grounds) -> Iterator[Finding]:
    """The column by which most failures ended in an error that may be the harness's."""
    survey = grounds.survey
    if grounds.harness:
        return
    written = (name for name in survey.columns if words(name) & _ANSWERS and _has(survey, name))
    columns = [survey.columns[name] for name in dict.fromkeys([*grounds.unread, *written])
               if name not in grounds.request.pool]  # fmt: skip
    found = [(column, _errors(survey, column)) for column in columns]
    column, kinds = max(found, key=lambda each: sum(map(len, each[1].values())), default=(None, {}))
    if column is None or not kinds:
        return
    rows = [row for of in kinds.values() for row in of]
    model = grounds.column("model")
    models = survey.at(model, rows) if model in survey.columns else []
    shown = {
        "failures": len(rows), "sample": not survey.whole, "column": quote(column.name),
        "kinds": _counted({kind: len(of) for kind, of in kinds.items()}),
        "models": _counted(Counter(models)) if len(grounds.models) > 1 else "",
    }  # fmt: skip
    without = _without(grounds.condition(column.name), {*survey.at(column.name, rows)}, kinds)
    settles = (
        Settle({"--where": without}, "leaves them out"),
        Settle({"--pool": (column.name,)}, "counts them as failures on purpose"),
    )
    # Where all attempts failed so, none would be left.
    yield Finding(ERRORS_AS_FAILURES, False, shown, settles[len(rows) == survey.rows :])


def _has(survey: Survey, column: str) -> bool:
    """Whether answers begin as errors do, several of them."""
    begins = f"regexp_matches({survey.columns[column].sql}, '^(?i:{_WRITTEN.pattern})')"
    query = f"SELECT count(*) FILTER ({begins}) FROM {survey.table}"
    return bool(survey.con.execute(query).fetchall()[0][0] >= _ENOUGH)


def _counted(counts: dict[str, int]) -> list[str]:
    """Names with their numbers, the largest first.

    >>> _counted({"a": 1, "b": 3})
    ['b (3)', 'a (1)']
    """
    return [f"{n} ({count:,})" for n, count in sorted(counts.items(), key=lambda e: (-e[1], e[0]))]


def _errors(survey: Survey, column: Observed) -> dict[str, list[int]]:
    """Kind of an error → the rows that fail with it; none where the column does not say so.

    A column whose name says how attempts ended is believed about a refusing service, and one of
    answers that begin with an error about that.  About the
    rest, and under any other name, it is where most other failures have what passes have: a column
    with a reason for each failure says why the model failed.
    """
    judged = (survey.task >= 0) & np.isfinite(survey.verdict)
    failed = judged & (survey.verdict == 0)
    texts = survey.texts(column.name, column.distinct) if column.distinct <= survey.rows else []
    named = bool(words(column.name) & ENDINGS)
    answers = (_WRITTEN,) * bool(words(column.name) & _ANSWERS)
    for pattern in answers or (_ERRORS, _SERVICES):
        kinds = [_kind(text, pattern) for text in texts]
        is_error = np.array([*map(bool, kinds), False])[column.codes]
        rows = np.flatnonzero(failed & is_error)
        if not len(rows) or len(rows) < _FAIL * np.sum(judged & is_error):
            continue
        passes = np.unique(column.codes[judged & (survey.verdict == 1)])
        alike = _share(np.isin(column.codes[failed & ~is_error], passes)) >= _ALIKE
        if (alike and (named or (len(passes) == 1 and len(rows) >= _ENOUGH))) or (
            pattern is _WRITTEN or (named and pattern is _SERVICES)
        ):
            of: dict[str, list[int]] = {}
            for row in rows.tolist():
                of.setdefault(kinds[column.codes[row]], []).append(row)
            return of
    return {}


def _share(those: Bools) -> float:
    """The share of rows, 1 of none."""
    return float(np.mean(those)) if len(those) else 1.0


def _kind(text: str, pattern: re.Pattern[str]) -> str:
    """The words of a value that say an error; "" where none do, or a test failed."""
    head = text[:_HEAD]
    if pattern is _WRITTEN:
        begun = pattern.match(head)
        return begun[0] if begun else ""
    if _JUDGED.search(head):
        return ""
    if pattern is _ERRORS and head.strip().lower() in ENDED_WORDS:
        return head.strip()
    error = pattern.search(head)
    return error[0] if error else ""


def _without(column: str, texts: set[str], kinds: Iterable[str]) -> str:
    """The condition that leaves errors out, by their texts or else by the words of their kinds.

    column : as a condition names it.
    """
    value = f"coalesce({column}, '')"
    if len(texts) <= _NAMED and max(map(len, texts)) <= _LETTERS:
        return f"{value} NOT IN ({', '.join(map(quote_text, sorted(texts)))})"
    return f"NOT regexp_matches({value}, {quote_text('|'.join(map(re.escape, kinds)))})"


DOUBTS = (
    Doubt(
        ERRORS_AS_FAILURES,
        "Attempts that fail have the words of a refusing service (rate limit, 429, 503, infra …)"
        " in a column called error, status, reason or the like; or those of another error (timeout,"
        " killed, connection …) in any column in which most other failures have what passes have;"
        " or answers begin with an error, as [ERROR: …, and three or more of these fail.",
        ("--where \"coalesce(X, '') NOT IN ('timeout')\"", "--pool X"),
        ended,
    ),
)
