"""Find attempts that are copies of other attempts: repeated records, and answers from a cache."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

import numpy as np

from passk_cli.diagnostic import WARNING, DiagnosticType
from passk_cli.files.checks.check import EITHER, LIKELY, CheckContext, CheckFinding, ReadingCheck
from passk_cli.files.reading.profile import count_distinct, joined_codes
from passk_cli.files.roles import (
    MAX_NAME_LIKE_TEXT_CHARACTERS,
    column_name_words,
    normalized_last_key,
)
from passk_cli.files.vocabulary import (
    ANSWER_WORDS,
    ATTEMPT_METADATA_WORDS,
    PROSE_ABOUT_ANSWER_WORDS,
)
from passk_cli.suggested_fix import SuggestedFix

# A column with a word in _PER_ATTEMPT_COLUMN_WORDS in its name has values that differ between
# attempts at a task.
_PER_ATTEMPT_COLUMN_WORDS = (
    ATTEMPT_METADATA_WORDS | ANSWER_WORDS | PROSE_ABOUT_ANSWER_WORDS | {"id"}
)
_CACHE_FLAG_NAMES = frozenset("cached cache_hit from_cache is_cached".split())
# Two runs are unlikely to be equal by chance if at least _MIN_PASSES_AND_FAILURES tasks passed and
# at least _MIN_PASSES_AND_FAILURES tasks failed.
_MIN_PASSES_AND_FAILURES = 5

REPEATED_RECORDS_WARNING = DiagnosticType(
    "repeated-records", WARNING,
    "{rows:record} {rows:is|are} equal to another record in every column{?column|,"
    " including {column}}{?order|, in the same order, like a run that was appended twice}",
    meaning="Some records are equal in every column, including a column that does not repeat by"
    " chance, such as a text, a time or an id. passk also warns if the second half of a file"
    " repeats the first half.",
    why="A run was probably uploaded or appended twice. The attempts of a copied run would count"
    " twice, and intervals would be too narrow.",
    advice="Remove the copy, or count each record once with --duplicates first.",
    example="warning[repeated-records]: 40 records are equal to another record in every column,"
    " including response",
)  # fmt: skip
CACHED_ATTEMPTS_WARNING = DiagnosticType(
    "cached-attempts", WARNING,
    "{rows:attempt} of {all} {rows:has|have} an answer from a cache ({column})",
    meaning="An attempt with an answer from a cache is a copy of an earlier attempt.",
    why="Copies contain no new information about how often a model passes. There are fewer"
    " independent attempts than n, so intervals are too narrow.",
    advice="Run the evaluation again without the cache.",
    example="warning[cached-attempts]: 12 attempts of 40 have an answer from a cache (cached)",
)  # fmt: skip


def repeated_record_findings(context: CheckContext) -> Iterator[CheckFinding]:
    """Find records that are equal in every column, unless they may be equal by chance."""
    profile = context.profile
    if context.is_known_format or context.request.duplicates != "error" or profile.row_count < 4:
        return
    if context.has_attempt_numbers:
        # If the data contains attempt numbers, equal numbers already show repeated attempts.
        return
    # Files of different formats are not compared, because files of different formats have different
    # columns.
    has_one_layout = len(context.batches) == 1
    columns = {
        name: column
        for name, column in profile.columns.items()
        if has_one_layout
        or (
            column.present_share == 1
            and profile.column_kind(name).longest_bytes <= MAX_NAME_LIKE_TEXT_CHARACTERS
        )
    }
    records = joined_codes(profile.series_codes, *(column.codes + 1 for column in columns.values()))
    firsts = np.unique(records, return_index=True)[1]
    again, cells = profile.row_count - len(firsts), count_distinct(profile.cell_codes)
    if not again:
        return
    keep = SuggestedFix({"--duplicates": "keep"}, "counts them as separate attempts")
    read = {column for batch in context.batches for column in batch.roles.columns().values()}
    for name in (name for name in profile.columns if name not in read):
        column = profile.columns[name]
        unique = count_distinct(column.codes[firsts]) >= 0.98 * len(firsts)
        # All attempts at a task contain the same question, so an equal question does not mean that
        # an attempt was copied.
        of_attempts = column.distinct_count > cells or bool(
            column_name_words(name) & _PER_ATTEMPT_COLUMN_WORDS
        )
        long = profile.column_kind(name).longest_bytes > 4 or "id" in column_name_words(name)
        if column.present_share == 1 and unique and of_attempts and long:
            key = {"--field": {"attempt": name}, "--duplicates": "first"}
            once = SuggestedFix(key, "counts each record once")
            fields = {"rows": again, "column": quote(name), "order": False}
            yield CheckFinding(REPEATED_RECORDS_WARNING, True, fields, (once, keep))
            return
    half = profile.row_count // 2
    halves = profile.is_complete and half * 2 == profile.row_count and len(profile.file_names) == 1
    if (
        halves
        and _has_enough_passes_and_fails(context, half)
        and np.all(records[:half] == records[half:])
    ):
        yield CheckFinding(
            REPEATED_RECORDS_WARNING, False, {"rows": half, "column": "", "order": True}, (keep,)
        )


def _has_enough_passes_and_fails(context: CheckContext, half: int) -> bool:
    """Whether the first half of the rows contains so many passes and failures that a second run
    would probably differ in some outcomes.
    """
    cell, verdict = context.profile.cell_codes[:half], context.profile.row_verdicts[:half]
    failed, passed = np.unique(cell[verdict == 0]), np.unique(cell[verdict == 1])
    if count_distinct(cell) < half:
        # Attempts at the same task often have equal outcomes, so only tasks with passes and
        # failures are compared.
        return len(np.intersect1d(failed, passed)) >= _MIN_PASSES_AND_FAILURES
    return min(len(failed), len(passed)) >= _MIN_PASSES_AND_FAILURES


def cached_answer_flag_findings(context: CheckContext) -> Iterator[CheckFinding]:
    """Find attempts that reuse an answer from a cache, at tasks with several attempts."""
    profile = context.profile
    flags = (name for name in profile.columns if normalized_last_key(name) in _CACHE_FLAG_NAMES)
    for name in (name for name in flags if name not in context.request.pool):
        sizes = np.bincount(profile.cell_codes[profile.cell_codes >= 0], minlength=1)
        several = (profile.cell_codes >= 0) & (sizes[np.maximum(profile.cell_codes, 0)] > 1)
        rows = int(np.sum(several & (profile.row_verdicts_of_column(name) == 1)))
        if rows:
            fields = {"rows": rows, "all": profile.row_count, "column": quote(name)}
            pool = SuggestedFix({"--pool": (name,)}, "counts them on purpose")
            yield CheckFinding(CACHED_ATTEMPTS_WARNING, False, fields, (pool,))
            return


CHECKS = (
    ReadingCheck(
        REPEATED_RECORDS_WARNING, EITHER,
        "Records without attempt numbers are equal in every column, and the values of one column"
        " are otherwise unique. passk only warns if the second half of a file repeats the first"
        " half with mixed outcomes.",
        ("--field attempt=X --duplicates first", "--duplicates keep"), repeated_record_findings,
    ),
    ReadingCheck(
        CACHED_ATTEMPTS_WARNING, LIKELY,
        "A flag such as cached is true in rows of tasks with several attempts.",
        ("--pool X",), cached_answer_flag_findings,
    ),
)  # fmt: skip
