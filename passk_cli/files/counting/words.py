"""Which outcomes passed by the words and the threshold of a request, and which are not judged."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from passk_cli.diagnostic import NOTE, Diagnostic, DiagnosticType
from passk_cli.errors import DataError
from passk_cli.files.counting.statement import Statement
from passk_cli.files.request import Request
from passk_cli.files.roles import BELOW, REACHED
from passk_cli.files.sources.source import text_kind
from passk_cli.suggested_fix import Placeholder, SuggestedFix
from passk_cli.text import first_few

NAMED_OUTCOMES = DiagnosticType(
    "named-outcomes", NOTE, "counted as passes: {passes}; as failures: {fails}", "",
    "--passes names the outcomes that pass, and every other word fails; a --threshold judges the"
    " numbers. How many outcomes there are of each word shows whether one was forgotten.",
)  # fmt: skip
IDLE_THRESHOLD = DiagnosticType(
    "idle-threshold", NOTE, "no outcome is a number, so the threshold judges none", "",
    "--threshold says from where on a score passes. Outcomes of true and false, or of words, pass"
    " and fail as they say, and counts of passes were judged before.",
)  # fmt: skip
#: Outcome, how often it is there, and its verdict.
Word = tuple[str, int, int | None]


def judged_words(con: duckdb.DuckDBPyConnection, statement: Statement) -> list[Diagnostic]:
    """What counts as a pass and a failure, if --passes or --fails name words, and whether a
    threshold judges nothing.

    Errors: as of `named_outcomes`.
    """
    request, said = statement.request, list[Diagnostic]()
    named = bool(request.passes or request.fails) and not request.all_of
    if named and not (statement.has_counts or request.unjudged):
        words = con.execute(statement.words()).fetchall()
        said += named_outcomes(words, request, statement.batches[0].sources[0].name)
    if request.threshold and not (request.unjudged and not statement.has_counts):
        number = f"TRY_CAST(outcome AS DOUBLE) IS NOT NULL OR outcome IN ('{REACHED}', '{BELOW}')"
        scored = f"{statement.matching(number)} SELECT 1 FROM matching LIMIT 1"
        if statement.has_counts or not con.execute(scored).fetchall():
            said.append(IDLE_THRESHOLD())
    return said


def named_outcomes(words: Sequence[Word], request: Request, place: str) -> list[Diagnostic]:
    """What counts as a pass and a failure, if --passes or --fails name words.

    Errors: DataError for words of one option that no outcome has, unless the other option names
    every outcome; for numbers that fail because --passes names only words, and no threshold judges
    them.
    """
    values = {word.strip().lower() for word, *_ in words if word is not None}
    options = ("--passes", request.passes), ("--fails", request.fails)
    named = {option: {word.strip().lower() for word in given} for option, given in options}
    for (option, given), (other, _) in zip(options, reversed(options), strict=True):
        # With labels, the words may be those of the labels.
        matched = request.labelled or values & named[option] or values <= named[other]
        if given and not matched:
            shown = [f"{word} ({times:,})" for word, times, _ in words if word is not None]
            problem = f"no outcome is {' or '.join(given)}; the outcomes are {first_few(shown)}"
            remedy = f"give {option} some of these"
            raise DataError(place, problem, remedy, name="unmatched-words")
    numbers = [w for w, _, verdict in words if verdict == 0 and text_kind(w) == "number"]
    unnamed = not any(text_kind(word) == "number" for word in (*request.passes, *request.fails))
    if request.passes and request.bar is None and numbers and unnamed:
        problem = f"numbers fail that no word names ({first_few(numbers)})"
        says = SuggestedFix({"--threshold": Placeholder("X")}, "says from where on a score passes")
        raise DataError(place, problem, name="unjudged-numbers", settles=[says])
    if not words:
        return []
    passes, fails = (
        [f"{word} ({n:,})" for word, n, verdict in words if verdict == expected]
        for expected in (1, 0)
    )
    return [NAMED_OUTCOMES(passes=passes or "none", fails=fails or "none")]
