"""Find columns that contradict the outcome, such as a second verdict on each attempt.

passk does not choose between two contradicting columns. The user must name the outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from shlex import quote
from typing import Any

import numpy as np

from passk_cli.arrays import Floats
from passk_cli.diagnostic import WARNING, DiagnosticType
from passk_cli.files.checks.check import (
    CERTAIN,
    LIKELY,
    CheckContext,
    CheckFinding,
    ReadingCheck,
    value_at_path,
)
from passk_cli.files.reading.profile import RowSampleProfile, count_distinct, joined_codes
from passk_cli.files.reading.records import read_records
from passk_cli.files.roles import (
    EQUAL_COLUMNS_OPERATOR,
    MAX_NAME_LIKE_TEXT_CHARACTERS,
    column_name_words,
    normalized_last_key,
)
from passk_cli.files.vocabulary import (
    ATTACK_WORDS,
    ATTEMPT_METADATA_WORDS,
    AVERAGE_WORDS,
    BAD_EVENT_WORDS,
    CORRECTNESS_COLUMN_WORDS,
    EXPECTED_ANSWER_WORDS,
    GRADE_COLUMN_WORDS,
    NOT_OUTCOME_WORDS,
    PREDICTED_WORDS,
    RUN_STATUS_COLUMN_WORDS,
    RUN_STATUS_ONLY_COLUMN_WORDS,
)
from passk_cli.suggested_fix import SuggestedFix

# The words in _GRADE_COLUMN_FILLER_WORDS do not change the meaning of a grade, for example "final"
# in "final score".
_GRADE_COLUMN_FILLER_WORDS = frozenset("final overall total eval evaluation is task".split())
# The words in _NON_VERDICT_WORDS change the meaning of a verdict, for example "expected" or
# "partial".
_NON_VERDICT_WORDS = (
    (EXPECTED_ANSWER_WORDS - {"label", "true"})
    | (AVERAGE_WORDS - {"rate"})
    | (NOT_OUTCOME_WORDS - {"first"})
    | ATTEMPT_METADATA_WORDS
    | frozenset(
        "tests test format syntax schema compile build lint parse json base plus rubric tool param"
        " safety answer reason".split()
    )
)
_SUCCESS_COLUMN_WORDS = frozenset("success successful succeeded achieved".split())
# Two columns are compared in at most _MOST_COMPARED rows, and a verdict column has fewer than
# _MOST_VALUES different values.
_MOST_COMPARED, _MOST_VALUES = 200, 30

TWO_VERDICTS_WARNING = DiagnosticType(
    "two-verdicts", WARNING,
    "{names:and} are both verdicts on an attempt, and they disagree{?constant|; {outcome} is always"
    " {constant}}",
    "which column is the outcome?",
    meaning="Two columns could be the outcome. The two columns may be the verdicts of two scorers,"
    " the verdicts on the first and the last try, or a run status and a verdict.",
    why="If passk read the wrong column, the estimate would be wrong, so passk does not guess.",
    advice="Name the outcome column, for example with --outcome correct.",
    example="warning[two-verdicts]: status and correct are both verdicts on an attempt, and they"
    " disagree; which column is the outcome?",
)  # fmt: skip
ALWAYS_SUCCESS_WARNING = DiagnosticType(
    "always-success", WARNING,
    "{column} is {value} in all {attempts:attempt}{?sample| of a sample}, so {column} may only show"
    " that a run ended",
    meaning="Many agents write `status: ok` when they end without an error, even if the result is"
    " wrong.",
    why="If the outcome column only shows that a run ended, pass@k is always 1 and contains no"
    " information about the tasks.",
    advice="Use --outcome to name the column with the verdict, even if that column is the one in"
    " the message.",
    example="warning[always-success]: status is ok in all 60 attempts, so status may only show"
    " that a run ended",
)  # fmt: skip
EXPECTED_VERDICTS_UNUSED_WARNING = DiagnosticType(
    "expected-verdicts", WARNING,
    "{column} contains the expected values of {outcome}, so an attempt passes if the two columns"
    " agree",
    meaning="One column contains verdicts that the evaluated model gave, and another column"
    " contains the expected verdicts.",
    why="A verdict of 'pass' from the model does not mean that the attempt passed. The model's"
    " verdict is right only if it equals the expected verdict.",
    advice="Compare the two columns, for example with --field outcome=result==expected.",
    example="warning[expected-verdicts]: expected_result contains the expected values of result,"
    " so an attempt passes if the two columns agree",
)  # fmt: skip
MAYBE_ATTACK_SUCCESS_WARNING = DiagnosticType(
    "ambiguous-success", WARNING,
    "{column} may mean the success of the attack, because there is a column {attack}; does true"
    " mean a pass?",
    meaning="In evaluations of attacks, success often means that the attack worked.",
    why="If you measure the attack, true is a pass. If you measure how well a model withstands the"
    " attack, false is a pass. The rates of true and of false add up to 1.",
    advice="Use --passes to name the value that counts as a pass.",
    example="warning[ambiguous-success]: success may mean the success of the attack, because there"
    " is a column attack_type; does true mean a pass?",
)  # fmt: skip
EQUAL_EXCEPT_LIST_ORDER_WARNING = DiagnosticType(
    "lists-in-order", WARNING,
    "{outcome} compares the order of list entries, and in {rows:row} of {all} only the order"
    " differs",
    meaning="Two lists agree if they contain the same entries in the same order.",
    why="If the order has no meaning, for example in a list of file names, attempts with the same"
    " entries in another order should pass.",
    advice="Sort the lists when you write the file, or write the verdict as a column.",
    example="warning[lists-in-order]: files==expected_files compares the order of list entries, and"
    " in 3 rows of 40 only the order differs",
)  # fmt: skip


def second_verdict_findings(context: CheckContext) -> Iterator[CheckFinding]:
    """Find columns that could also be the outcome, if the user did not name the outcome column."""
    profile, outcome = context.profile, context.role_column("outcome")
    attempts = all(batch.roles.kind_of_rows == "attempts" for batch in context.batches)
    if (
        context.has_named_outcome
        or context.is_known_format
        or outcome not in profile.columns
        or not attempts
    ):
        return
    if attack := _attack_column_beside_success(context, outcome):
        yield _maybe_attack_success_finding(context, outcome, attack)
        return
    for name in context.unread_columns:
        if normalized_last_key(name).startswith("expected") and _has_verdict_words_of_outcome(
            context, name, outcome
        ):
            agree = SuggestedFix(
                {"--field": {"outcome": f"{outcome}{EQUAL_COLUMNS_OPERATOR}{name}"}},
                "compares them",
            )
            ways = (
                agree,
                SuggestedFix({"--outcome": outcome}, "if the column is the verdict on the attempt"),
            )
            yield CheckFinding(
                EXPECTED_VERDICTS_UNUSED_WARNING, True, {"outcome": outcome, "column": name}, ways
            )
            return
    if context.request.scores_only:
        return
    judged = profile.row_verdicts[(profile.task_codes >= 0) & np.isfinite(profile.row_verdicts)]
    constant = (
        profile.distinct_texts(outcome, 1)[0] if len(judged) > 1 and np.ptp(judged) == 0 else ""
    )
    always = bool(constant) and judged[0] == 1
    expected = any(
        column_name_words(name) & EXPECTED_ANSWER_WORDS for name in context.unread_columns
    )
    rivals = [
        name for name in context.unread_columns if _contradicts_outcome(context, name, outcome)
    ]
    if rivals:
        less = constant or normalized_last_key(outcome) in RUN_STATUS_COLUMN_WORDS
        order = [*rivals, outcome] if less else [outcome, *rivals]
        fields = {"names": [outcome, *rivals], "outcome": outcome, "constant": constant}
        yield CheckFinding(
            TWO_VERDICTS_WARNING, True, fields, tuple(_outcome_fix(context, n) for n in order[:4])
        )
    elif always and normalized_last_key(outcome) in (
        RUN_STATUS_COLUMN_WORDS if expected else RUN_STATUS_ONLY_COLUMN_WORDS
    ):
        facts: dict[str, Any] = {"attempts": len(judged), "sample": not profile.is_complete}
        facts |= {"column": outcome, "value": constant}
        way = SuggestedFix({"--outcome": outcome}, "if the column shows which tasks were solved")
        yield CheckFinding(ALWAYS_SUCCESS_WARNING, True, facts, (way,))


def equal_except_list_order_findings(context: CheckContext) -> Iterator[CheckFinding]:
    """Find outcomes that compare two lists, if some lists differ only in the order of their
    entries."""
    outcome = context.role_column("outcome")
    left, equal, right = outcome.partition(EQUAL_COLUMNS_OPERATOR)
    frame = context.batches[0].layout.kind == "frame"
    if not equal or "," in outcome or context.is_known_format or frame:
        return
    compared = reordered = 0
    for _, record in islice(read_records(context.batches[0]), _MOST_COMPARED):
        lists = [value_at_path(record, column) for column in (left, right)]
        if all(isinstance(entries, list) for entries in lists):
            first, second = ([str(entry) for entry in entries] for entries in lists)
            compared += 1
            reordered += first != second and sorted(first) == sorted(second)
    if reordered:
        fields = {"outcome": quote(outcome), "rows": reordered, "all": compared}
        yield CheckFinding(EQUAL_EXCEPT_LIST_ORDER_WARNING, False, fields)


def _attack_column_beside_success(context: CheckContext, outcome: str) -> str:
    """The first column about attacks, if the outcome column is named like "success". The result is
    "" if there is no such column."""
    if not column_name_words(outcome) & _SUCCESS_COLUMN_WORDS or EQUAL_COLUMNS_OPERATOR in outcome:
        return ""
    return next(
        (name for name in context.profile.columns if column_name_words(name) & ATTACK_WORDS), ""
    )


def _maybe_attack_success_finding(context: CheckContext, outcome: str, attack: str) -> CheckFinding:
    texts = context.profile.distinct_texts(outcome, _MOST_VALUES)
    verdicts = context.profile.row_verdicts_of_column(outcome)
    codes = context.profile.columns[outcome].codes
    words_of = {
        verdict: tuple(texts[code] for code in np.unique(codes[verdicts == verdict]).tolist())
        for verdict in (1, 0)
    }
    passes, fails = words_of[1] or ("true",), words_of[0] or ("false",)
    ways = (
        SuggestedFix({"--passes": passes}, "if the attack's success passes"),
        SuggestedFix({"--passes": fails, "--fails": passes}, "if withstanding the attack passes"),
    )
    fields = {"column": quote(outcome), "attack": quote(attack)}
    return CheckFinding(MAYBE_ATTACK_SUCCESS_WARNING, True, fields, ways)


def _has_verdict_words_of_outcome(context: CheckContext, name: str, outcome: str) -> bool:
    """Whether a column contains only verdicts, and some of these verdicts also occur in the outcome
    column."""
    profile = context.profile
    expected, outcomes = (
        {text.lower() for text in profile.distinct_texts(c, 50)} for c in (name, outcome)
    )
    verdicts = profile.row_verdicts_of_column(name)[profile.columns[name].codes >= 0]
    return bool(np.all(verdicts >= 0)) and not expected.isdisjoint(outcomes)


def _contradicts_outcome(context: CheckContext, name: str, outcome: str) -> bool:
    """Whether a column that is named like a verdict or a grade contradicts the outcome column.

    A grade contradicts the outcome if no threshold on the grade reproduces the outcome. A verdict
    contradicts the outcome if the two agree in some rows and disagree in other rows. A verdict that
    is always opposite to a constant outcome also contradicts the outcome.
    """
    profile = context.profile
    terms = column_name_words(name)
    ended = normalized_last_key(outcome) in RUN_STATUS_COLUMN_WORDS
    if _without_final_number(name) == _without_final_number(outcome):
        return _values_differ(context, name, outcome)
    predicted = "label" in terms and any(
        column_name_words(n) & PREDICTED_WORDS for n in profile.columns
    )
    if predicted or _is_cell_constant_unlike_outcome(profile, name, outcome):
        return False
    if (
        terms & (_NON_VERDICT_WORDS | BAD_EVENT_WORDS)
        or profile.column_kind(name).longest_bytes > MAX_NAME_LIKE_TEXT_CHARACTERS
    ):
        return False
    graded = terms <= GRADE_COLUMN_WORDS | _GRADE_COLUMN_FILLER_WORDS or terms & {
        "verdict",
        "correctness",
    }
    # A column with values in only a few rows contains labels and not outcomes.
    if (
        not terms & (CORRECTNESS_COLUMN_WORDS | GRADE_COLUMN_WORDS)
        or profile.columns[name].present_share < 0.5
    ):
        return False
    numbers = profile.column_numbers(name)
    present = numbers[np.isfinite(numbers)]
    if profile.column_kind(name).name == "number" and np.any((present != 0) & (present != 1)):
        return bool(graded) and _no_threshold_reproduces_outcome(
            numbers, profile.row_verdicts, ended=ended
        )
    values = profile.row_verdicts_of_column(name)
    is_present = profile.columns[name].codes >= 0
    # A column that contains an unknown word is not a verdict column.
    if profile.columns[name].distinct_count >= _MOST_VALUES or np.any(values[is_present] < 0):
        return False
    has_both = np.isfinite(values) & np.isfinite(profile.row_verdicts)
    if has_both.sum() < 2 or (
        np.ptp(values[has_both]) == 0 and np.ptp(profile.row_verdicts[has_both]) > 0
    ):
        # A constant column does not contradict a varying outcome.
        return False
    equal = values[has_both] == profile.row_verdicts[has_both]
    return bool(equal.any() and not equal.all()) or bool(
        not equal.any() and np.ptp(profile.row_verdicts[has_both]) == 0
    )


def _is_cell_constant_unlike_outcome(profile: RowSampleProfile, name: str, outcome: str) -> bool:
    """Whether a column has one value per task, while the outcome differs within some tasks."""
    pairs = (
        count_distinct(joined_codes(profile.cell_codes, profile.columns[c].codes))
        for c in (name, outcome)
    )
    return next(pairs) <= count_distinct(profile.cell_codes) < next(pairs)


def _without_final_number(name: str) -> str:
    """Remove the number at the end of a column name, because pandas numbers repeated columns."""
    return re.sub(r"[._ -]?[0-9]+$", "", name)


def _values_differ(context: CheckContext, column: str, other_column: str) -> bool:
    """Whether two columns have different values in at least one row. Case is ignored."""
    profile = context.profile
    rows = np.flatnonzero(
        (profile.columns[column].codes >= 0) & (profile.columns[other_column].codes >= 0)
    )
    pairs = joined_codes(
        profile.columns[column].codes[rows], profile.columns[other_column].codes[rows]
    )
    firsts = rows[np.unique(pairs, return_index=True)[1][:_MOST_COMPARED]].tolist()
    texts = zip(
        profile.texts_at(column, firsts), profile.texts_at(other_column, firsts), strict=True
    )
    return any(first.lower() != second.lower() for first, second in texts)


def _no_threshold_reproduces_outcome(numbers: Floats, verdict: Floats, *, ended: bool) -> bool:
    """Whether no threshold on a grade reproduces the outcome.

    Rows without a grade or without an outcome are ignored.

    ended : whether the outcome may show only that a run ended. If `ended` is true, a varying grade
        contradicts an outcome that is the same in all rows.

    >>> grades, verdict = np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 0.0])
    >>> _no_threshold_reproduces_outcome(grades, verdict, ended=False)
    True
    >>> _no_threshold_reproduces_outcome(grades, np.array([0.0, 0.0, 1.0]), ended=False)
    False
    """
    has_both = np.isfinite(numbers) & np.isfinite(verdict)
    numbers, verdict = numbers[has_both], verdict[has_both]
    if len(numbers) < 2 or np.ptp(numbers) == 0:
        return False
    passed, failed = numbers[verdict == 1], numbers[verdict == 0]
    if not len(failed) or not len(passed):
        return ended
    return bool(passed.min() <= failed.max()) and bool(failed.min() <= passed.max())


def _outcome_fix(context: CheckContext, name: str) -> SuggestedFix:
    numbers = context.profile.column_numbers(name)
    numbers = numbers[np.isfinite(numbers)]
    if not np.any((numbers != 0) & (numbers != 1)):
        return SuggestedFix({"--outcome": name})
    highest = float(numbers.max())
    return SuggestedFix({"--outcome": name, "--threshold": (highest,)}, f"if {highest:g} passes")


CHECKS = (
    ReadingCheck(
        TWO_VERDICTS_WARNING, CERTAIN,
        "You did not name the outcome column. The outcome disagrees in some rows with a column"
        " such as correct or verdict, or with every threshold on a score, or with a column of the"
        " same name and a number.",
        ("--outcome X", "--outcome X --threshold Y"), second_verdict_findings,
    ),
    ReadingCheck(
        ALWAYS_SUCCESS_WARNING, CERTAIN,
        "The outcome is a status such as ok or completed and passes in every row. Or the outcome"
        " is named success, and passk does not read a column with expected answers.",
        ("--outcome X",), second_verdict_findings,
    ),
    ReadingCheck(
        EXPECTED_VERDICTS_UNUSED_WARNING, CERTAIN,
        "A column named expected contains the same words as the outcome.",
        ("--field outcome=X==Y", "--outcome X"), second_verdict_findings,
    ),
    ReadingCheck(
        MAYBE_ATTACK_SUCCESS_WARNING, CERTAIN,
        "The outcome is named success, and there is a column such as attack or jailbreak.",
        ("--passes true", "--passes false --fails true", "--field outcome=X"),
        second_verdict_findings,
    ),
    ReadingCheck(
        EQUAL_EXCEPT_LIST_ORDER_WARNING, LIKELY,
        "The outcome compares two columns of lists, and some lists differ only in the order of"
        " entries.",
        (), equal_except_list_order_findings,
    ),
)  # fmt: skip
