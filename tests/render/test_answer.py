"""The sentence above the tables: rounded, spelled and escaped like these."""

from __future__ import annotations

import json

import pytest

from passk_cli.option import load_object
from passk_cli.render import WRITER_BY_FORMAT
from passk_cli.render.style import Style
from passk_cli.report.data_types import AnswerSentence, Column, Estimate, Report, Table
from passk_cli.text import wrap_text

DATA = Table((Column("model"), Column("drop", "share")), (("a_b", Estimate(-0.1, signed=True)),))
REPORT = Report(
    (DATA,),
    lambda: DATA,
    answer=(
        AnswerSentence(
            "loses",
            "a_b loses {drop} on {tasks} tasks.",
            {"drop": Estimate(-0.1, low=-0.2, high=0.05, signed=True), "tasks": 1200},
        ),
        AnswerSentence("t-star", "T* is {best:=number}.", {"best": 0.25}),
    ),
)


@pytest.mark.parametrize(
    ("form", "percent", "sentence"),
    [
        ("plain", False, "a_b loses -0.100 [-0.200, +0.050] on 1,200 tasks. T* is 0.2500."),
        ("plain", True, "a_b loses -10.0 [-20.0, +5.0] points on 1,200 tasks. T* is 0.2500."),
        ("table", False, "a_b loses −0.100 [−0.200, +0.050] on 1,200 tasks. T* is 0.2500."),
        ("markdown", False, r"a\_b loses −0.100 \[−0.200, +0.050\] on 1,200 tasks. T\* is 0.2500."),
    ],
)
def test_the_answer_comes_first(form: str, percent: bool, sentence: str) -> None:
    text = load_object(WRITER_BY_FORMAT[form])(REPORT, Style(percent=percent, terminal_width=100))
    assert text.split("\n")[0] == sentence


def test_percentages_are_marked_in_the_header_and_minus_is_ascii_for_programs() -> None:
    text = load_object(WRITER_BY_FORMAT["plain"])(REPORT, Style(percent=True))
    assert "model  drop (%)\na_b    -10.0" in text
    assert "−" not in text
    assert "−" not in load_object(WRITER_BY_FORMAT["csv"])(REPORT, Style())
    answer = json.loads(load_object(WRITER_BY_FORMAT["json"])(REPORT, Style(percent=True)))[
        "answer"
    ]
    assert answer == "a_b loses -0.100 [-0.200, +0.050] on 1,200 tasks. T* is 0.2500."


@pytest.mark.parametrize("name", ["org/some-long_name-2026", "plain", "a b c", "/-_", "x" * 30])
@pytest.mark.parametrize("width", [5, 8, 12, 40])
def test_broken_names_keep_all_characters(name: str, width: int) -> None:
    lines = wrap_text(name, width)
    assert "".join(lines).replace(" ", "") == name.replace(" ", "")
    for line in lines[:-1]:
        assert line[-1] in "-/_" or len(line) >= width or " " in name


def test_latex_groups_the_rows_of_a_model_and_stacks_intervals() -> None:
    table = Table(
        (Column("model"), Column("T"), Column("pass@1", "share"), Column("difference", "share")),
        (
            (
                "a",
                "0.2",
                Estimate(0.5, low=0.4, high=0.6, is_significantly_best=True),
                Estimate(0.1, tie_letters="b–d"),
            ),
            ("b", "0.2", Estimate(None), None),
            (
                "a",
                "0.8",
                Estimate(0.5, se=0.1),
                Estimate(-0.1, low=-0.2, high=0.1, tie_or_equivalence_sign="~"),
            ),
        ),
    )
    text = load_object(WRITER_BY_FORMAT["latex"])(
        Report((table,), lambda: table), Style(intervals_below_estimates=True)
    )
    assert text.split(r"\midrule")[1].split(r"\bottomrule")[0].strip().split("\n") == [
        r"a & 0.2 & \textbf{0.500} & 0.100\textsuperscript{b--d} \\",
        r" &  & {\scriptsize [0.400, 0.600]} &  \\",
        r" & 0.8 & 0.500 $\pm$0.100 & $\sim$ $-$0.100 \\",
        r" &  &  & {\scriptsize [$-$0.200, 0.100]} \\",
        r"\addlinespace",
        r"b & 0.2 & -- & -- \\",
    ]
    beside = load_object(WRITER_BY_FORMAT["latex"])(Report((table,), lambda: table), Style())
    assert r" & 0.8 & 0.500 $\pm$0.100 & $\sim$ $-$0.100 [$-$0.200, 0.100] \\" in beside
    marked = load_object(WRITER_BY_FORMAT["markdown"])(Report((table,), lambda: table), Style())
    firsts = [line.split(" | ")[:2] for line in marked.splitlines()[2:5]]
    assert firsts == [["| a", "0.2"], ["| a", "0.8"], ["| b", "0.2"]]
