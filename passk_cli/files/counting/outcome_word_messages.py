"""Report which outcome words --passes, --fails and --threshold count as passes and failures."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from passk_cli.diagnostic import NOTE, Diagnostic, DiagnosticType
from passk_cli.errors import DataError
from passk_cli.files.counting.statement import Statement
from passk_cli.files.request import Request
from passk_cli.files.roles import BELOW, REACHED
from passk_cli.files.sources.source import text_value_kind
from passk_cli.suggested_fix import Placeholder, SuggestedFix
from passk_cli.text import first_few

OUTCOME_WORDS_NOTE = DiagnosticType(
    "named-outcomes", NOTE,
    "outcomes counted as passes: {passes}; outcomes counted as failures: {fails}",
    meaning="passk counts outcomes that --passes names as passes, and all other words as failures."
    " With --threshold, passk compares numbers with the threshold.",
    why="The number of outcomes for each word shows whether you forgot to name a word.",
    advice="Check both lists of words. Add a missing word to --passes or --fails.",
    example="note[named-outcomes]: outcomes counted as passes: solved (31); outcomes counted as"
    " failures: partial (5), unsolved (24)",
)  # fmt: skip
UNUSED_THRESHOLD_NOTE = DiagnosticType(
    "idle-threshold", NOTE,
    "the threshold has no effect, because no outcome is a number",
    meaning="The option --threshold sets the minimum score of a pass. The outcomes in the files are"
    " words, truth values or counts of passes.",
    why="Words and truth values are already verdicts, and counts of passes contain no scores.",
    advice="Remove --threshold, or name a column of scores with --outcome.",
    example="note[idle-threshold]: the threshold has no effect, because no outcome is a number",
)  # fmt: skip
# OutcomeWordCountAndVerdict consists of an outcome word, the number of rows that contain the word,
# and the verdict of the word.
OutcomeWordCountAndVerdict = tuple[str, int, int | None]


def words_and_idle_threshold_messages(
    con: duckdb.DuckDBPyConnection, statement: Statement
) -> list[Diagnostic]:
    """The messages about the words of --passes and --fails, and the message that --threshold has no
    effect."""
    request, messages = statement.request, list[Diagnostic]()
    names_words = bool(request.passes or request.fails) and not request.all_of
    if names_words and not (statement.has_counts or request.are_scores_left_unjudged):
        words = con.execute(statement.outcome_words_sql()).fetchall()
        messages += outcome_word_verdict_messages(
            words, request, statement.batches[0].sources[0].name
        )
    if request.threshold and not (request.are_scores_left_unjudged and not statement.has_counts):
        number = f"TRY_CAST(outcome AS DOUBLE) IS NOT NULL OR outcome IN ('{REACHED}', '{BELOW}')"
        scored = f"{statement.matching_rows_sql(number)} SELECT 1 FROM matching LIMIT 1"
        if statement.has_counts or not con.execute(scored).fetchall():
            messages.append(UNUSED_THRESHOLD_NOTE())
    return messages


def outcome_word_verdict_messages(
    words: Sequence[OutcomeWordCountAndVerdict], request: Request, place: str
) -> list[Diagnostic]:
    """The message that lists which outcome words count as passes and which count as failures.

    Errors: DataError if --passes (or --fails) contains none of the outcomes, unless the other
    option contains all outcomes. DataError if some outcomes are numbers, but --passes names only
    words and there is no threshold.
    """
    values = {word.strip().lower() for word, *_ in words if word is not None}
    options = ("--passes", request.passes), ("--fails", request.fails)
    words_by_option = {
        option: {word.strip().lower() for word in option_words} for option, option_words in options
    }
    for (option, option_words), (other_option, _) in zip(options, reversed(options), strict=True):
        matched = (
            request.has_correcting_labels
            or values & words_by_option[option]
            or values <= words_by_option[other_option]
        )
        if option_words and not matched:
            outcome_texts = [f"{word} ({times:,})" for word, times, _ in words if word is not None]
            problem = f"no outcome is {' or '.join(option_words)}"
            problem += f"; the outcomes are {first_few(outcome_texts)}"
            remedy = f"use some of these words with {option}"
            raise DataError(place, problem, remedy, name="unmatched-words")
    numbers = [w for w, _, verdict in words if verdict == 0 and text_value_kind(w) == "number"]
    unnamed = not any(
        text_value_kind(word) == "number" for word in (*request.passes, *request.fails)
    )
    if request.passes and request.passing_score is None and numbers and unnamed:
        problem = f"some outcomes are numbers ({first_few(numbers)}), but --passes names only words"
        says = SuggestedFix(
            {"--threshold": Placeholder("X")}, "sets the score from which an attempt passes"
        )
        raise DataError(place, problem, name="unjudged-numbers", settles=[says])
    if not words:
        return []
    passes, fails = (
        [f"{word} ({n:,})" for word, n, verdict in words if verdict == expected]
        for expected in (1, 0)
    )
    return [OUTCOME_WORDS_NOTE(passes=passes or "none", fails=fails or "none")]
