"""Tests of named outcomes: words that no list contains, and truth values that mean failure."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from passk_cli import DataError, read
from passk_cli.files.database import shared_connection
from passk_cli.files.roles import FAIL_WORDS, MISSING_OUTCOME_WORDS, PASS_WORDS, outcome_verdict_sql
from tests.conftest import Passk, Write, long_cases

LABELS = "task,label\na,not_misled\na,misled\nb,Partial\nb,not_misled\nc,\n"


@pytest.fixture
def labels(write: Write) -> Path:
    """A table with unknown words as outcomes."""
    return write("labels.csv", LABELS)


def test_options_name_the_words_that_pass_and_fail(passk: Passk, labels: Path) -> None:
    options = ("--field", "outcome=label", "--missing", "drop", "-k", "1")
    result = passk("estimate", labels, *options, "--passes", "NOT_misled", "-v")
    assert result.code == 0
    assert "counted as failures: Partial (1), misled (1)" in result.err
    assert "passes=NOT_misled" in result.out
    result = passk("estimate", labels, *options, "--passes", "not_misled", "--fails", "misled")
    assert (
        result.code,
        "no option names these outcomes as passes or failures: Partial" in result.err,
    ) == (3, True)
    rules = ("--passes", "not_misled,partial", "--fails", "misled")
    assert passk("estimate", labels, *options, *rules).code == 0


def test_words_can_pass_next_to_a_threshold_for_numbers(passk: Passk, write: Write) -> None:
    path = write("a.csv", "task,score\na,good\na,9\nb,true\nb,6\nb,7\n")
    for words in (("good",), ("good", "true")):
        counts = read(path, fields={"outcome": "score"}, passes=words, threshold=7)
        assert counts.c.tolist() == [2, len(words)]
    result = passk("estimate", path, "--passes", "good")
    assert (result.code, result.out) == (3, "")
    assert "some outcomes are numbers (" in result.err
    assert "--threshold X sets the score from which an attempt passes" in result.err
    result = passk("estimate", path, "--passes", "good", "--threshold", "7", "-v")
    note = (
        "outcomes counted as passes: ≥ threshold (2), good (1); outcomes counted as failures:"
        " < threshold (1), true (1)\n"
    )
    assert note in result.err
    with pytest.raises(DataError, match="no outcome is bad"):
        read(path, passes="good", fails="bad", threshold=7)


@pytest.mark.parametrize(("cell", "plain"), [("0,48", "0.48"), ("85 %", "85"), ("-2,5%", "-2.5")])
def test_a_decimal_comma_or_a_percent_sign_is_reported(
    passk: Passk, write: Write, cell: str, plain: str
) -> None:
    path = write("a.csv", f'task;score\na;"{cell}"\nb;"{cell}"\n')
    for more in ((), ("--threshold", "0.5"), ("-m", "mean")):
        result = passk("estimate", path, *more)
        advice = f"write numbers with a decimal point and without %, for example {plain}"
        assert (result.code, advice in result.err, "--threshold X" in result.err) == (
            3,
            True,
            False,
        )


def test_a_threshold_that_does_not_divide_the_scores_is_reported(
    passk: Passk, write: Write
) -> None:
    scores = write("s.csv", "task,attempt,score\n" + "".join(
        f"t{t},{a},0.{t + a}\n" for t in range(8) for a in (0, 1)
    ))  # fmt: skip
    for threshold, share in (("70", "no"), ("0", "every")):
        result = passk("estimate", scores, "-k", "1", "--threshold", threshold)
        assert (
            f"one-sided-threshold]: {share} score reaches the threshold {threshold}" in result.err
        )
    assert "one-sided" not in passk("estimate", scores, "-k", "1", "--threshold", "0.4").err


def test_a_threshold_with_a_decimal_comma_is_not_two_thresholds(passk: Passk, write: Write) -> None:
    path = write("a.csv", "task,score\na,0.6\nb,5\n")
    for text, plain, two in (("0,5", "0.5", "0.0,5.0"), ("7,5", "7.5", "7.0,5.0")):
        result = passk("estimate", path, "--threshold", text)
        advice = f"write {plain}, or {two} for two thresholds"
        assert (result.code, advice in result.err) == (2, True)
        assert passk("estimate", path, "--threshold", plain).code == 0
        assert passk("estimate", path, "--threshold", two).code == 0
    for threshold in ("0.3,0.5", "3,5", (0, 5)):
        assert read(path, threshold=threshold).group_names == ("threshold",)


@pytest.mark.parametrize(
    "values", [["true", "False", "false"], *long_cases([True, False, False], [1, 0, 0])]
)
def test_true_can_be_a_failure(values: list[object], tmp_path: Path) -> None:
    rows = [{"task": f"t{i}", "refused": value} for i, value in enumerate(values)]
    options = {"fields": {"outcome": "refused"}, "passes": ["false", "0"]}
    for data in (rows, pd.DataFrame(rows)):
        assert read(data, **options).c.tolist() == [0, 1, 1]
        assert read(data, fields={"outcome": "refused"}).c.tolist() == [1, 0, 0]


def test_a_word_for_an_early_end_is_missing_unless_it_is_named() -> None:
    rows = [{"task": "a", "status": word} for word in ("ok", "timeout", "wrong answer")]
    options = {"fields": {"outcome": "status"}, "passes": "ok"}
    with pytest.raises(DataError, match='"status" is "timeout", which is not an outcome'):
        read(rows, **options)
    assert read(rows, missing="drop", **options).n.tolist() == [2]
    counts = read(rows, fails=["timeout", "wrong answer"], **options)
    assert counts.n.tolist() == [3]
    (message,) = (
        message for message in counts.read_facts.messages if message.name == "named-outcomes"
    )
    assert "wrong answer" in message.text.partition("as failures: ")[2]


def test_an_unknown_word_among_known_ones_needs_a_verdict(passk: Passk, write: Write) -> None:
    path = write("a.csv", "task,passed\na,true\na,maybe\nb,false\nb,maybe\n")
    result = passk("estimate", path)
    assert "--fails maybe or --passes true --passes maybe" in result.err
    for options, rate in ((["--fails", "maybe"], 0.25), (["--passes", "true,maybe"], 0.75)):
        expected = passk("estimate", path, *options, "-k", "1")
        assert (expected.code, f"pass@1 {rate:.3f}" in expected.out) == (0, True)


def test_verdicts_ignore_blanks_around_words_and_numbers() -> None:
    bare = {"1 1.0 1e0 +1 1.": 1, "0 -0 0.0 -0.0 1e-400": 0, "nan -nan NAN": None,
            "maybe 2 -1 .5 1e-3 1E5 1,5 --1 0x1 1L e1 inf -inf Infinity ١ ½ ∞": -1}  # fmt: skip
    expected = {text: verdict for texts, verdict in bare.items() for text in texts.split()}
    for words, verdict in ((PASS_WORDS, 1), (FAIL_WORDS, 0), (MISSING_OUTCOME_WORDS, None)):
        expected |= dict.fromkeys((*words, *map(str.upper, words)), verdict)
    query = "SELECT text, {} FROM (SELECT unnest($1) AS text)"
    for start, end in product(("", " ", "\t"), ("", " ", "\r\n")):
        texts = [start + text + end for text in expected]
        judged = (
            shared_connection()
            .execute(query.format(outcome_verdict_sql("text", None)), [texts])
            .fetchall()
        )
        assert judged == [*zip(texts, expected.values(), strict=True)]
    for threshold, passing in ((0.5, "1 2 .5 0.4999999999 1E5 inf"), (float("inf"), "inf")):
        numbers = "1 2 .5 0.4999999999 0.499 -1 1e-3 1E5 inf -inf".split()
        judged = (
            shared_connection()
            .execute(query.format(outcome_verdict_sql("text", threshold)), [numbers])
            .fetchall()
        )
        assert judged == [(text, int(text in passing.split())) for text in numbers]


def test_a_threshold_that_judges_nothing_is_reported() -> None:
    def warnings_about(*outcomes: object) -> list[str]:
        rows = [{"task": f"t{i}", "passed": outcome} for i, outcome in enumerate(outcomes)]
        counts = read(rows, threshold=0.5)
        return [
            message.text
            for message in counts.read_facts.messages
            if message.name == "idle-threshold"
        ]

    assert warnings_about(True, False) == [
        "the threshold has no effect, because no outcome is a number"
    ]
    assert warnings_about(0.2, 0.7) == []
