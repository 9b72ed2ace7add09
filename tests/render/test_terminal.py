"""Tests of tables for a terminal: what narrow tables leave out, and which cells are coloured."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from passk_cli.render.style import Style
from passk_cli.render.terminal import terminal_text
from passk_cli.report.data_types import WIDE, AnswerSentence, Column, Estimate, Report, Table
from passk_cli.text import names_that_fit

MODELS = ("gpt-3.5-turbo-0613", "codellama-7b")
METRICS = Table(
    (Column("model"), *(Column(name, "share") for name in ("pass@1", "pass@10", "pass^10"))),
    tuple((name, *3 * (Estimate(0.4896, low=0.4567, high=0.5242),)) for name in MODELS),
)
GATE = Table(
    (Column("model"), Column("rule"), Column("evidence", "share"), Column("verdict")),
    (
        ("agent-b", "pass@1 drop ≤ 0.05", Estimate(-0.14, low=-0.249, high=-0.031, signed=True),
         "fail"),
        ("agent-a", "pass@1 drop ≤ 0.05", Estimate(0.01, low=-0.052, high=0.071, signed=True),
         "undecided (about 900 tasks would decide)"),
        ("agent-c", "pass@1 drop ≤ 0.05", Estimate(0.1, low=0.05, high=0.15, signed=True), "pass"),
    ),
)  # fmt: skip


def table_text(item: Table, width: int, **style: object) -> str:
    style = {"terminal_width": width, **style}
    return terminal_text(Report((item,), lambda: item), Style(**style))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (120, ["gpt-3.5-turbo-0613  0.490 [0.457, 0.524]  0.490 [0.457, 0.524]  0.490 "]),
        (100, ["gpt-3.5-turbo-0613  0.490 [0.457, 0.524]  0.490 [0.457, 0.524]  0.490 "]),
        (80, ["gpt-3.5-turbo-0613  0.49 [0.46, 0.52]  0.49 [0.46, 0.52]  0.49 [0.46, 0.52]"]),
        (60, ["gpt-3.5-turbo-0613  0.49          0.49          0.49",
              "                    [0.46, 0.52]  [0.46, 0.52]  [0.46, 0.52]"]),
        (54, ["gpt-3.5-turbo-0613  0.49          0.49", "1 more column (pass^10): --full"]),
    ],
)  # fmt: skip
def test_a_narrow_table_loses_a_decimal_then_stacks_then_loses_columns(
    width: int, lines: list[str]
) -> None:
    text = table_text(METRICS, width)
    assert max(map(len, text.splitlines())) <= width
    for line in lines:
        assert re.search(rf"^{re.escape(line)}", text, re.M), text
    # There is one block, so the headings appear once.
    assert text.count("pass@10") == 1


def test_above_their_intervals_numbers_begin_where_a_range_among_them_does() -> None:
    values = (
        Estimate(0.85, range_upper_end=0.87, low=0.78, high=0.91),
        Estimate(0.77, low=0.6, high=0.8),
    )
    rows = tuple((name, *3 * (value,)) for name, value in zip(MODELS, values, strict=True))
    lines = table_text(replace(METRICS, rows=rows), 64).splitlines()
    assert [line.rstrip() for line in lines if "0.77" in line] == [
        "codellama-7b        0.77          0.77          0.77"
    ]


@pytest.mark.parametrize(("width", "row"), [(70, "b-2-instruct-2026  0.49 a"), (40, "0.49 a")])
def test_five_long_names_stay_in_one_line_with_letters_at_their_numbers(
    width: int, row: str
) -> None:
    names = [f"org/some-very-long-model-name-b-{i}-instruct-2026" for i in range(5)]
    number = Estimate(0.4896, low=0.4567, high=0.5242)
    item = Table(
        (Column("model"), Column("pass@1", "share"), Column("ahead", "share")),
        tuple((name, replace(number.without_interval, tie_letters="a"), number) for name in names),
    )
    lines = table_text(item, width).splitlines()
    assert [line for line in lines if row in line]


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("models", [4, 8, 25])
def test_words_that_distinguish_names_stay_complete(models: int, width: int) -> None:
    families = ("Qwen3-Coder", "DeepSeek-V4", "Llama-5-Maverick", "Gemma-4n")
    suffixes = [f"{families[i % 4]}-{10 + i}B" for i in range(models)]
    names = [f"org-{i % 4}/A-Very-Long-Name-{name}-Instruct-2026-{i % 12:02}"
             for i, name in enumerate(suffixes)]  # fmt: skip
    heads = [Column("model"), *(Column(f"pass@{k}", "share") for k in range(1, 7))]
    rows = [(name, *6 * (Estimate(0.4896, low=0.4567, high=0.5242),)) for name in names]
    text = table_text(Table(tuple(heads), tuple(rows)), width)
    shown = [line.split("  ")[0] for line in text.splitlines() if "0.49" in line]
    patterns = [".*".join(map(re.escape, name.split("…"))) for name in shown]
    meant = [[name for name in names if re.fullmatch(p, name)] for p in patterns]
    assert meant == [[name] for name in names[: len(shown)]]
    assert max(map(len, text.splitlines())) <= width
    assert re.search(r"\d more columns? \(pass@[^)]*\): --full", text)
    assert text.count("model") == 1


def test_requested_decimals_stay() -> None:
    text = table_text(METRICS, 80, digits=3)
    assert "0.490 " in text
    assert "[0.457, 0.524]" in text


def test_blocks_have_the_names_again_when_everything_is_shown() -> None:
    text = table_text(METRICS, 36, full=True)
    assert text.count("gpt-3.5-turbo-") == 3
    assert max(map(len, text.splitlines())) <= 36


def many(names: Sequence[str]) -> Table:
    rows = ((f"{at}", name, *METRICS.rows[0][1:]) for at, name in enumerate(names, 1))
    return Table((Column("rank"), *METRICS.columns), tuple(rows))


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_twenty_five_long_names_fit_a_screen(width: int) -> None:
    names = [f"organisation-{i % 3}/a-model-of-a-long-name-{i}-instruct-2026" for i in range(25)]
    text = table_text(many(names), width)
    rows = [line for line in text.splitlines() if line[:1].isdigit() and "0.49" in line]
    assert len(rows) == 17
    assert len({row.split()[1] for row in rows}) == 17
    assert "17 of 25 rows: --full" in text
    assert max(map(len, text.splitlines())) <= width
    assert text.count("\n") <= 30
    assert ("more column" in text) == (width < 140)
    full = table_text(many(names), width, full=True)
    assert all(name in full.replace("\n", "") or width < 140 for name in names)


def test_the_verdict_is_shown_before_other_columns_of_many_rows() -> None:
    columns = (*METRICS.columns, Column("evidence", "share"), Column("verdict"))
    rows = [(f"model-{at}", *METRICS.rows[0][1:], *GATE.rows[0][2:]) for at in range(12)]
    text = table_text(Table(columns, tuple(rows)), 70)
    assert text.split("\n")[0].split() == ["model", "pass@1", "evidence", "verdict"]
    assert "2 more columns (pass@10, pass^10): --full" in text


def test_short_phrases_stay_next_to_their_subject() -> None:
    columns = (
        Column("model"),
        Column("pass@1: best"),
        Column("ahead by", "share", stays_with_previous=True),
    )
    rows = [(f"a-model-of-a-long-name-{at}", "0.49 at 0.8", METRICS.rows[0][1]) for at in range(12)]
    head = table_text(Table((*columns, *columns[1:]), tuple((*r, *r[1:]) for r in rows)), 70)
    assert head.split("\n")[0].split() == ["model", "pass@1:", "best", "ahead", "by"]


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_a_verdict_is_next_to_its_evidence(width: int) -> None:
    text = table_text(GATE, width)
    heads = [line for line in text.splitlines() if "verdict" in line]
    assert len(heads) == 1
    assert "evidence" in heads[0]
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("width", [60, 76, 80, 88, 100])
def test_the_subject_of_a_row_is_shown_without_full(width: int) -> None:
    columns = (Column("suite"), *GATE.columns[1:])
    rules = ("2 named tasks pass all attempts", *(f"pass@{k} no regression" for k in range(1, 5)))
    evidence = GATE.rows[0][2]
    rows = [("nightly", rule, evidence, "undecided") for rule in rules]
    text = table_text(
        Table(columns, [*rows, ("code", "every task", evidence, "pass (p = 0.012)")]), width
    )
    assert "rule" in text.splitlines()[0]
    assert all(f"pass@{k} " in text for k in range(1, 5))
    assert text.count("undecided") == len(rules)
    assert "more column" not in text
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("width", [60, 80, 100, 120, 140, 200])
def test_a_report_without_full_fits_a_screen(width: int) -> None:
    """A hundred rules with long names: rows are left out, never lines of a row, and counted."""
    columns = (Column("model"), *GATE.columns[1:])
    rows = [
        (f"vendor/model-{m}-2025-11-{10 + m}-thinking-high", f"pass@{k} no regression",
         GATE.rows[0][2], "undecided")
        for m in range(20) for k in range(1, 6)
    ]  # fmt: skip
    text = table_text(Table(columns, rows), width)
    lines = text.splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= width
    shown = text.count("undecided")
    assert shown >= 5
    assert f"{shown} of 100 rows" in text
    assert len(re.findall(r"regression", text)) == shown
    assert "100 rows" not in table_text(Table(columns, rows[:5]), width)


@pytest.mark.parametrize("width", [56, 64, 72])
def test_a_list_of_names_gets_shorter_before_it_is_left_out(width: int) -> None:
    """Names with commas and with control characters are counted and printed as names."""
    columns = (Column("passed"), Column("tasks", "count"), Column("which"))
    names = [f"add {i}, then\x1b[31m stop" for i in range(9)]
    rows = [("0 of 5", 9, names_that_fit(names, 90)), ("1 of 5", 1, names_that_fit(["t"], 90))]
    text = table_text(Table(columns, rows), width)
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= width
    first = text.splitlines()[1]
    assert first.count("stop") + int(first.split()[-2]) == 9
    assert text.splitlines()[2].split()[-1] == "t"


def test_verdicts_are_coloured_and_intervals_are_dim() -> None:
    text = table_text(GATE, 120, colour=True)
    green, red = (rf"\x1b\[{code}m" for code in (32, 31))
    assert not re.search(r"m[−+]0\.1", text)
    assert re.search(rf"{red}fail", text)
    assert re.search(rf"{green}pass *\x1b", text)
    assert re.search(r"\x1b\[2m ?\[−0.249", text)
    assert "\x1b" not in table_text(GATE, 120)


def test_a_verdict_at_the_beginning_of_the_answer_is_coloured() -> None:
    report = Report(answer=(AnswerSentence("fails", "FAIL: agent-b lost {drop}.", {"drop": 0.14}),))
    assert terminal_text(report, Style(terminal_width=80, colour=True)).startswith(
        "\x1b[1;31mFAIL\x1b[0m\x1b[1m:"
    )
    assert terminal_text(report, Style(terminal_width=80)).startswith("FAIL: agent-b")


@pytest.mark.parametrize("names", [
    MODELS, [f"claude-haiku-4-5-2025100{i}-thinking" for i in range(6)],
    [f"organisation-{i % 3}/a-model-of-a-long-name-{i}-instruct-2026" for i in range(25)],
])  # fmt: skip
def test_names_never_get_shorter_in_a_wider_terminal(names: Sequence[str]) -> None:
    item = many([names[0], *names[1:]])
    lengths = []
    for width in range(50, 201):
        lines = table_text(item, width).splitlines()
        assert max(map(len, lines)) <= width
        lengths.append(max(len(line.split()[1]) for line in lines if line[:1].isdigit()))
    assert lengths == sorted(lengths)
    assert lengths[-1] == max(map(len, names))


def test_columns_that_the_answer_mentions_are_shown_first() -> None:
    answer = AnswerSentence("highest", "Highest pass^10: agent-b.", {})
    report = Report((many([f"a-long-name-{at}" for at in range(12)]),), answer=(answer,))
    head = terminal_text(report, Style(terminal_width=45)).splitlines()[2]
    assert head.split() == ["rank", "model", "pass^10"]


def test_a_wide_terminal_draws_intervals_and_a_line_below_the_leaders() -> None:
    number = Estimate(0.5, low=0.4, high=0.6)
    columns = (Column("model"), Column("pass@1", "share"), Column("interval", visibility=WIDE))
    rows = tuple((f"model-{at}", number.without_interval, number) for at in range(4))
    item = Table(columns, rows, tied_leader_count=2)
    lines = table_text(item, 110).splitlines()
    assert lines[0].split() == ["model", "pass@1", "0.40", "0.45", "0.50", "0.55", "0.60"]
    assert lines[3].startswith("───────  ──────  ──")
    assert all("━●━" in lines[at] for at in (1, 2, 4, 5))
    assert "━" not in table_text(item, 109)
    uncertain = replace(
        item, rows=tuple((m, n, replace(e, range_upper_end=0.55)) for m, n, e in rows)
    )
    assert "━" not in table_text(uncertain, 110)
    assert "interval" not in table_text(item, 80) + table_text(item, 140, full=True)
