"""Temperatures from data whose answer is known, and the toy model as a report."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passk_cli.commands.temperature.best_temperatures import (
    format_temperature,
    regrouped_by_temperature,
)
from passk_cli.commands.temperature.toy import DEFAULT_KS, fit_report, toy_report
from passk_cli.commands.temperature.view import TemperatureRunner
from passk_cli.errors import DataError, ParameterError
from passk_cli.files.sources.path_templates import PathTemplate, template_and_temperature
from passk_cli.metrics.registry import parse_metric_list
from passk_cli.outcomes.counts import Counts
from passk_cli.render import style
from passk_cli.report.data_types import Estimate, PhraseCell, Report
from passk_cli.study.analysis import Analysis
from passk_cli.study.confidence import Confidence
from passk_cli.study.significance_options import ALL, ComparisonOptions
from passk_cli.temperature_models.temperature import (
    best_temperature_index_by_k,
    fit_power_law_to_switches,
)
from passk_cli.temperature_models.toy_model import (
    best_temperatures,
    gaussian_tasks,
    log_probability,
)
from tests.conftest import CRUXEVAL, SAMPLES, Passk, Write, jsonl, records
from tests.proposals import commands

FEW = Confidence(resamples=2000)


def answer(counts: Counts, metrics: str, confidence: Confidence = FEW) -> Report:
    """The report on these metrics by temperature."""
    study = Analysis(counts, parse_metric_list(metrics), confidence, ComparisonOptions(family=ALL))
    return TemperatureRunner().report(study)


def counts_of(cells: list[tuple[str, str, str, int, int]]) -> Counts:
    """(model, temperature, task, n, c) → counts."""
    return Counts.from_columns(
        [(model, heat) for model, heat, *_ in cells],
        [task for _, _, task, _, _ in cells],
        np.array([n for *_, n, _ in cells]),
        np.array([c for *_, c in cells]),
        ("temperature",),
    )


def facts(report: Report, fact: str) -> list[dict[str, object]]:
    names = [column.header for column in report.data_table.columns]
    rows = (dict(zip(names, row, strict=True)) for row in report.data_table.rows)
    return [row for row in rows if row["fact"] == fact]


def named(report: Report) -> dict[str, dict[str, object]]:
    """Name of a message → its fields."""
    return {message.name: dict(message.fields) for message in report.messages if message.name}


def toy_counts(heats: list[float], n: int, tasks: int, seed: int) -> Counts:
    """Gaussian tasks of spread 16 answered by the toy model."""
    rng = np.random.default_rng(seed)
    family = gaussian_tasks(16.0)
    hard = rng.choice(family.absolute_task_integers, size=tasks, p=family.weights)
    return counts_of(
        [
            ("toy", f"{heat:g}", f"t{t}", n, int(c))
            for heat in heats
            for t, c in enumerate(rng.binomial(n, np.exp(log_probability(hard, heat))))
        ]
    )


def test_the_verdict_is_that_of_p_where_the_interval_disagrees() -> None:
    """As `passk compare` says it: four of twenty tasks passed at one temperature alone."""
    tasks = [(f"t{t}", 4 * (t < 8), 4 * (t < 12)) for t in range(20)]
    cells = [("m", "0.2", name, 4, c) for name, c, _ in tasks]
    cells += [("m", "0.8", name, 4, c) for name, _, c in tasks]
    study = Analysis(
        counts_of(cells), parse_metric_list("pass@1,pass@2"), FEW, ComparisonOptions(family=ALL)
    )
    assert "verdicts-by-p" not in named(TemperatureRunner().report(study))
    study = replace(study, comparison_options=replace(study.comparison_options, adjust="holm"))
    sentence = named(TemperatureRunner().report(study))["verdicts-by-p"]
    assert sentence == {"differences": 2, "pair": ""}


def test_codellama_prefers_another_temperature_as_k_grows(passk: Passk) -> None:
    """STATISTICS: 0.3595 (T 0.2) > 0.2835 (T 0.8) at k = 1, 0.4499 < 0.5292 at k = 5."""
    path = SAMPLES / "cruxeval.jsonl.gz"
    result = passk("temperature", path, "--model", "codellama-7b", "-k", "1,5,10", "-f", "csv")
    rows = records(result.out)
    estimates = {(r["metric"], r["temperature"]): r for r in rows if r["fact"] == "estimate"}
    for metric, cold, warm, best in (
        ("pass@1", 0.3595, 0.2835, "0.2"),
        ("pass@5", 0.449911, 0.529226, "0.8"),
        ("pass@10", 0.475, 0.63125, "0.8"),
    ):
        for heat, value in (("0.2", cold), ("0.8", warm)):
            row = estimates[metric, heat]
            assert float(row["estimate"]) == pytest.approx(value, abs=5e-7)
            assert row["verdict"] == ("best, alone" if heat == best else "")
            assert float(row["leads"]) == pytest.approx(float(heat == best), abs=1e-3)
        pair = next(r for r in rows if r["fact"] == "temperatures" and r["metric"] == metric)
        assert (pair["temperature"], pair["verdict"]) == (best, "better")
        assert float(pair["p_adjusted"]) < 1e-3
        assert float(pair["low"]) > 0


def test_a_rank_flip_has_a_message() -> None:
    """a always gives its best answer; b spreads with the temperature."""
    cells = []
    for t in range(200):
        sure = 10 if t < 120 else 0
        cells += [("a", "0.2", f"t{t}", 10, sure), ("a", "0.8", f"t{t}", 10, sure)]
        cells += [("b", "0.2", f"t{t}", 10, 10 if t < 60 else 0)]
        cells += [("b", "0.8", f"t{t}", 10, 4 if t < 190 else 0)]
    report = answer(counts_of(cells), "pass@1,pass@5")
    assert named(report)["rank-flip"] == {
        "first": "a", "where": "T 0.2 (k = 1, 5), T 0.8 (k = 1)", "second": "b",
        "elsewhere": "T 0.8 (k = 5)", "more": 0,
    }  # fmt: skip
    table = report.tables[-1]
    assert table.rows == (
        ("a", "better than", "b", "T 0.2 (k = 1, 5), T 0.8 and own T* (k = 1)"),
        ("b", "better than", "a", "T 0.8 and own T* (k = 5)"),
    )
    own_values = [
        r for r in facts(report, "models") if r["temperature"] != r["temperature_against"]
    ]
    assert [(r["temperature"], r["temperature_against"], r["metric"]) for r in own_values] == [
        ("0.2", "0.8", "pass@1"), ("0.2", "0.8", "pass@5"),
    ]  # fmt: skip


def test_equal_temperatures_tie() -> None:
    cells = [
        ("m", heat, f"t{t}", 4, t % 5) for heat in ("0.2", "0.5", "10", "2") for t in range(40)
    ]
    report = answer(counts_of(cells), "pass@1")
    table = next(t for t in report.tables if t.title.startswith("Best temperature"))
    row = dict(zip([c.header for c in table.columns], table.rows[0], strict=True))
    assert (row["T*"], row["first in resamples"], row["tied with T*"]) == (
        "0.2", 0.25, "0.5, 2, 10",
    )  # fmt: skip
    heats = [r["temperature"] for r in facts(report, "estimate")]
    assert heats == ["0.2", "0.5", "2", "10"], "in the order of numbers, not of text"
    assert {r["verdict"] for r in facts(report, "temperatures")} == {"tied"}
    assert len(facts(report, "temperatures")) == 6


def test_more_attempts_at_one_temperature_are_no_lead() -> None:
    """Fifty tasks with the same success rates at both; 100 attempts against 10."""
    rng = np.random.default_rng(0)
    cells = []
    for t, p in enumerate(rng.beta(9, 1, 50)):
        cells += [("m", "0.2", f"t{t}", 100, int(rng.binomial(100, p)))]
        cells += [("m", "0.8", f"t{t}", 10, int(rng.binomial(10, p)))]
    report = answer(counts_of(cells), "pass@10")
    (row,) = facts(report, "temperatures")
    assert (row["test"], row["verdict"]) == ("guarded-t", "tied")
    assert [r["leads"] for r in facts(report, "estimate")] == [None, None]
    assert named(report)["unequal-temperatures"] == {"models": ["m"]}
    assert report.signature["test"] == "guarded-t"


def test_shares_of_the_lead_are_those_of_resampled_tasks() -> None:
    """Two temperatures: P(mean difference > 0), nearly normal."""
    rng = np.random.default_rng(0)
    c = rng.binomial(20, 0.5, (2, 300))
    cells = [("m", h, f"t{t:03}", 20, int(c[i, t])) for i, h in enumerate("01") for t in range(300)]
    report = answer(counts_of(cells), "pass@1", Confidence())
    d = (c[1] - c[0]) / 20
    expected = 0.5 * math.erfc(-d.mean() / (d.std() / math.sqrt(300)) / math.sqrt(2))
    actual = {r["temperature"]: r["leads"] for r in facts(report, "estimate")}
    assert actual["1"] == pytest.approx(expected, abs=0.02)
    assert sum(map(float, actual.values())) == pytest.approx(1.0)  # type: ignore[arg-type]


@pytest.mark.long
def test_power_law_of_the_toy_model_is_found_from_attempts() -> None:
    """2,000 Gaussian tasks, 64 attempts, seven temperatures: the exponent between k = 2 and 64."""
    counts = toy_counts([6.0, 11.0, 20.0, 36.0, 65.0, 117.0, 210.0], 64, 2000, seed=1)
    report = answer(counts, "pass@1,pass@64")
    first, last = best_temperatures(gaussian_tasks(16.0), [2, 64])
    true = math.log(last.temperature / first.temperature) / math.log(32)
    (law,) = facts(report, "power law")
    assert law["low"] < true < law["high"]  # type: ignore[operator]
    assert law["estimate"] == pytest.approx(true, rel=0.25)
    assert law["note"] == ""
    assert any(table.title == "T* = factor · k^exponent" for table in report.tables)


def test_no_power_law_without_three_temperatures_or_where_chance_makes_one() -> None:
    cold_and_warm = toy_counts([4.0, 60.0], 20, 2000, 0)
    two = answer(cold_and_warm, "pass@1")
    (law,) = facts(two, "power law")
    assert law["estimate"] is None
    reason = "not fitted: T* has 2 values (4, 60); a power law needs 3 values above 0"
    assert law["note"] == reason
    laws = next(table for table in two.tables if table.title == "T* = factor · k^exponent")
    assert [row[-1] for row in laws.rows] == [reason]
    few = toy_counts([6.0, 11.0, 20.0, 36.0, 65.0, 117.0], 16, 60, seed=2)
    report = answer(few, "pass@1")
    (law,) = facts(report, "power law")
    assert law["estimate"] is not None
    assert (law["low"], law["high"]) == (None, None)
    assert str(law["note"]).startswith("without an interval: in ")


@given(st.integers(0, 10**6), st.integers(3, 6), st.integers(4, 30), st.booleans())
def test_power_laws_against_a_plain_loop(seed: int, heats: int, width: int, zero: bool) -> None:
    rng = np.random.default_rng(seed)
    temperatures = np.sort(rng.uniform(0.1, 2, heats))
    temperatures[0] *= not zero
    ks = np.arange(1, width + 1)
    values = rng.random((1, heats, width))
    star = [temperatures[max(range(heats), key=lambda t: values[0, t, k])] for k in range(width)]
    points = [
        (math.log(ks[i] * ks[i + 1]) / 2, math.log(star[i] * star[i + 1]) / 2)
        for i in range(width - 1)
        if star[i] != star[i + 1] and star[i] * star[i + 1] > 0
    ]
    (exponent,), (factor,) = fit_power_law_to_switches(temperatures, ks, values)
    if len({t for t in star if t > 0}) < 3 or len(points) < 2:
        assert math.isnan(exponent)
        return
    slope, start = np.polyfit(*zip(*points, strict=True), 1)
    assert exponent == pytest.approx(slope, rel=1e-8, abs=1e-10)
    assert math.log(factor) == pytest.approx(start, rel=1e-8, abs=1e-9)


def test_ties_go_to_the_lowest_temperature() -> None:
    assert best_temperature_index_by_k(np.array([[0.3, 0.1 + 0.2], [0.1 + 0.2, 0.3]])).tolist() == [
        0,
        0,
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gpt-4@T1.0.csv", ("{model}@T{temperature}.csv", "1.0")),
        ("codellama-7b_temp0.2_input.jsonl", ("{model}_temp{temperature}_input.jsonl", "0.2")),
        ("runs_T0.8/gpt-4-turbo+cot_temp0.8.json.gz", ("{model}_temp{temperature}.json.gz", "0.8")),
        ("llama.temperature=0.7", ("{model}.temperature={temperature}", "0.7")),
        ("x TEMP-1.csv", ("{model} TEMP-{temperature}.csv", "1")),
        ("qwen_t.7_n10.csv", ("{model}_t{temperature}_n10.csv", ".7")),
        ("flan-t5_temp0.csv", ("{model}_temp{temperature}.csv", "0")),
        *((name, None) for name in (
            "T0.2.csv", "qwen_T1.csv", "t5-v1.1.csv", "model-t5.1.1.csv", "qwen_T0.2_temp0.2.csv",
            "flan-T5.csv", "attempt0.5.csv", "T")),
    ],
)  # fmt: skip
def test_templates_from_names(name: str, expected: tuple[str, str] | None) -> None:
    assert template_and_temperature(name) == expected
    if expected:
        columns = PathTemplate(expected[0]).column_values(name)
        assert columns is not None
        assert columns["temperature"] == expected[1]


def test_files_of_two_temperatures_are_not_pooled_in_silence(passk: Passk, write: Write) -> None:
    text = "model,task,passed\nm,a,1\nm,a,0\n"
    files = [write("m_T0.2.csv", text), write("m_T0.8.csv", text + "m,b,1\n")]
    result = passk("estimate", *files, "-k", "1")
    assert "warning[pooled-temperatures]" in result.err
    settle = ["--path", "{model}_T{temperature}.csv", "--by", "temperature"]
    assert f"{settle[0]} '{settle[1]}' --by temperature keeps them apart" in result.err
    separate = passk("estimate", *files, "-k", "1", *settle, "-f", "csv")
    assert {row["temperature"] for row in records(separate.out)} == {"0.2", "0.8"}
    plain = [write("part1.csv", text), write("part2.csv", text + "m,b,1\n")]
    assert "note[pooled-files]" in passk("estimate", *plain, "-k", "1").err


def test_a_refusal_proposes_the_template_of_the_names(passk: Passk, write: Write) -> None:
    files = [write(f"m_T{heat}_all.csv", "task,passed\na,1\nb,0\n") for heat in ("0.2", "0.8")]
    template = "{model}_T{temperature}_all.csv"
    for command in (["temperature"], ["estimate", "--by", "temperature"]):
        refused = passk(*command, *files, "-k", "1")
        assert refused.code == 2
        assert f"--path '{template}'  # reads it from names" in refused.err
        result = passk(*command, *files, "-k", "1", "--path", template)
        assert (result.code, "m" in result.out) == (0, True)


def test_models_come_best_first() -> None:
    cells = [(m, t, "a", 4, c) for m, t, c in (("a", "0.2", 1), ("a", "1", 1), ("b", "10", 0),
             ("b", "9", 3))]  # fmt: skip
    report = answer(counts_of(cells), "pass@1")
    assert [row[0] for row in report.tables[0].rows] == ["b", "a"]
    assert [row[:2] for row in report.tables[1].rows] == [
        ("b", "9"), ("b", "10"), ("a", "0.2"), ("a", "1"),
    ]  # fmt: skip


def test_flips_of_many_pairs_are_counted() -> None:
    # The first and the last of nine models change places, and so each with those between them.
    cells = []
    for m in range(9):
        for heat in (0.2, 0.8):
            rate = 8 - m if heat > 0.5 and m in (0, 8) else m
            cells += [(f"m{m}", str(heat), f"t{t}", 8, rate) for t in range(60)]
    report = answer(counts_of(cells), "pass@1")
    pairs = report.tables[-1]
    assert pairs.title.startswith("Models against each other")
    assert pairs.visibility == "full"
    better = {(row[0], row[2]) for row in pairs.rows if row[1] == "better than"}
    flips = {pair for pair in better if pair[::-1] in better}
    assert named(report)["rank-flip"]["more"] == len(flips) // 2 - 1
    assert len({frozenset((row[0], row[2])) for row in pairs.rows}) == 36


def test_the_table_has_the_best_temperature_and_its_lead() -> None:
    """A row per model; every other table is for --full, and every column has a meaning."""
    clear, weak = rates("a", ("0.2", 30), ("0.8", 10)), rates("b", ("0.2", 20), ("0.8", 19))
    report = answer(counts_of(clear + weak), "pass@1,pass@2,pass@4")
    first, *rivals = report.tables
    assert [column.header for column in first.columns] == [
        "model", "pass@1: best", "ahead by", "pass@4: best", "ahead by",
    ]  # fmt: skip
    assert {table.visibility for table in rivals} == {"full"}
    assert all(column.meaning for table in report.tables for column in table.columns)
    a, b = first.rows
    assert a[1] == PhraseCell((Estimate(0.75), " at 0.2"))
    assert [
        cell.tie_or_equivalence_sign for cell in (a[2], b[2]) if isinstance(cell, Estimate)
    ] == ["", "~"]
    assert "~: not significant" in report.context


@pytest.mark.long
def test_names_and_column_say_the_same(passk: Passk) -> None:
    """A file per temperature, by its name, and the column: the same rows."""
    few = ["-k", "1", "--resamples", "200", "-f", "csv"]
    files = [CRUXEVAL / f"codellama-7b_temp{t}.json.gz" for t in (0.2, 0.8)]
    column = passk(
        "temperature", SAMPLES / "cruxeval.jsonl.gz", "--model", "codellama-7b", *few
    ).out
    assert (
        passk("temperature", *files, "--path", "{model}_temp{temperature}.json.gz", *few).out
        == column
    )


def test_equal_numbers_are_one_temperature() -> None:
    cells = [("m", "0.2", "a", 4, 1), ("m", "0.20", "b", 4, 2), ("m", "1.0", "a", 4, 1)]
    split = regrouped_by_temperature(counts_of(cells), "temperature")
    assert split.series == (("m", "0.2"), ("m", "1"))
    assert format_temperature(1e-3) == "0.001"


def test_clusters_and_other_groups_survive() -> None:
    cells = [("m", h, f"t{t}", 4, t % 3) for h in ("0.2", "0.8") for t in range(6)]
    clustered = counts_of(cells).with_clusters({f"t{t}": f"r{t % 2}" for t in range(6)})
    split = regrouped_by_temperature(clustered, "temperature")
    assert split.clusters == ("r0", "r1", "r0", "r1", "r0", "r1")
    grouped = Counts.from_columns(
        [("m", "easy", "0.8"), ("m", "hard", "0.2")], ["a", "b"], np.array([2, 2]),
        np.array([1, 1]), ("kind", "temperature"),
    )  # fmt: skip
    split = regrouped_by_temperature(grouped, "temperature")
    assert split.group_names == ("temperature", "kind")
    assert split.series == (("m", "0.2", "hard"), ("m", "0.8", "easy"))


@pytest.mark.parametrize("text", ["", "hot", "-1", "inf", "nan"])
def test_temperatures_must_be_numbers(text: str) -> None:
    with pytest.raises(DataError, match="must be a number of at least 0"):
        regrouped_by_temperature(counts_of([("m", text, "a", 1, 1)]), "temperature")


def test_nothing_to_compare() -> None:
    first = counts_of([("m", "0.2", "a", 2, 1), ("n", "0.2", "a", 2, 1)])
    with pytest.raises(ParameterError, match=r"the only temperature is 0\.2"):
        answer(first, "pass@1")
    short = counts_of([("m", "0", "a", 1, 1), ("m", "0.8", "a", 4, 2)])
    with pytest.raises(ParameterError, match="n=1 < k=4"):
        answer(short, "pass@4")


def test_greedy_attempts_take_part_where_they_can() -> None:
    """T = 0 with one attempt has no pass@4; at k = 1 it is compared."""
    cells = [("m", "0", f"t{t}", 1, int(t < 30)) for t in range(40)]
    cells += [("m", h, f"t{t}", 8, int(t < 20) * 8) for h in ("0.5", "1") for t in range(40)]
    cells += [("n", "1", f"t{t}", 8, 4) for t in range(40)]
    report = answer(counts_of(cells), "pass@1,pass@4")
    table = next(t for t in report.tables if t.title.startswith("Best temperature"))
    assert [row[1:3] for row in table.rows] == [("pass@1", "0"), ("pass@4", "0.5")]
    assert "pass@4 of m 0" in " ".join(sentence.text for sentence in report.messages)
    assert named(report)["no-best-temperature"] == {"models": ["n"]}


def test_tasks_that_one_temperature_lacks_are_left_out_of_its_choice() -> None:
    cells = [("m", "0.2", f"t{t}", 4, 4 * (t < 5)) for t in range(10)]
    cells += [("m", "0.8", f"t{t}", 4, 4 * (t < 5)) for t in range(4, 14)]
    report = answer(counts_of(cells), "pass@1")
    (pair,) = facts(report, "temperatures")
    assert (pair["tasks"], pair["estimate"]) == (6, 0.0)
    assert named(report)["best-on-part-of-tasks"] == {"parts": ["m 6 of 14"]}
    second = [("n", "0.8", f"t{t}", 4, 2) for t in range(8)]
    both = answer(counts_of(cells + second), "pass@1")
    assert named(both)["models-lack-tasks"] == {"lacking": ["n 0.8 6 of 14", "m 0.8 4 of 14"]}


def said(cells: list[tuple[str, str, str, int, int]], metrics: str = "pass@1") -> str:
    return style.answer_text(answer(counts_of(cells), metrics), style.Style())


def rates(model: str, *passes: tuple[str, int], tasks: int = 40) -> list[
    tuple[str, str, str, int, int]
]:  # fmt: skip
    """Tasks of four attempts each: at each temperature so many pass whole tasks."""
    return [(model, h, f"t{t:02}", 4, 4 * (t < c)) for h, c in passes for t in range(tasks)]


def test_the_answer_names_the_best_temperatures_and_their_significance() -> None:
    clear, weak = rates("a", ("0.2", 30), ("0.8", 10)), rates("b", ("0.2", 20), ("0.8", 19))
    assert said(clear) == "T 0.2 is best at k = 1; the lead is significant."
    assert said(weak, "pass@1,pass@4") == ("T 0.2 is best at k = 1 and 4; no lead is significant.")
    assert said(clear + weak) == (
        "T 0.2 is best at k = 1 for both models; 1 of 2 leads is significant."
    )
    second = rates("c", ("0.2", 10), ("0.8", 30))
    assert said(clear + second + rates("d", ("0.2", 12), ("0.8", 28))) == (
        "T 0.8 is best at k = 1 for 2 of 3 models; all 3 leads are significant."
    )
    assert said(clear + second, "pass@1,pass^2").startswith("T 0.2 is best at pass@1 and")


def test_the_answer_names_equal_temperatures() -> None:
    equal = [("a", h, f"t{t}", 4, c) for h, c in (("0.2", 4), ("0.8", 4)) for t in range(20)]
    assert said(equal) == "T 0.2 and 0.8 are best at k = 1; no lead is significant."
    turned = [("a", h, f"t{t}", 4, c) for h, c in (("0.2", 2), ("0.8", 4)) for t in range(9)]
    turned += [("a", "0.2", "t9", 4, 4), ("a", "0.8", "t9", 4, 4)]
    assert said(turned, "pass@1,pass@4").startswith("T 0.8 is best at k = 1 and T 0.2 or 0.8 at k")
    greedy = [("b", "0", f"t{t:02}", 1, int(t < 40)) for t in range(40)]
    clear = rates("b", ("0.2", 30), ("0.8", 10))
    assert said([*clear, *greedy], "pass@1,pass@4").startswith(
        "T 0 is best at k = 1 and T 0.2 at k = 4;"
    )


def test_toy_answers() -> None:
    def said(*families: str, spreads: tuple[float, ...], ks: tuple[int, ...]) -> str:
        return style.answer_text(toy_report(families, spreads, 2.0, ks), style.Style())

    assert said("gaussian", spreads=(16.0,), ks=(2, 64)) == (
        "T* is 11.50 at k = 2 and 188.2 at k = 64 for gaussian tasks with spread 16."
    )
    assert said("gaussian", "exponential", spreads=(16.0,), ks=(4,)) == (
        "At k = 4, T* is 6.521 (exponential, spread 16) to 23.73 (gaussian, spread 16)."
    )


def test_toy_points() -> None:
    """STATISTICS: T*(2) = 11.50, T*(8) = 41.78, T*(64) = 188.2 for Gaussian tasks, s = 16."""
    report = toy_report(("gaussian",), (16.0,), 2.0, (2, 8, 64))
    assert [column.header for column in report.tables[0].columns][2:] == [
        "T* at k = 2", "T* at k = 8", "T* at k = 64",
    ]  # fmt: skip
    stars = report.tables[0].rows[0][2:]
    assert [f"{star:.4g}" for star in stars] == ["11.5", "41.78", "188.2"]
    assert report.signature == {
        "passk": report.signature["passk"], "toy": "gaussian", "spread": "16", "k": "2,8,64",
    }  # fmt: skip
    assert len(report.plots) == 2
    for plot in report.plots:
        assert (len(plot.rows), len(plot.points)) == (3, 3)
        assert plot.subtitle == "s = 16"


def test_the_toy_chart_says_what_it_cannot_show() -> None:
    report = toy_report(("gaussian",), (16.0,), 2.0, (1, 2))
    assert report.tables[0].rows[0][2] == 0
    star, value = report.plots
    assert star.subtitle == "s = 16 · T* = 0 at 1 point, which a logarithmic axis cannot show"
    assert value.subtitle == "s = 16"


def test_toy_says_where_nothing_is_left_to_choose() -> None:
    report = toy_report(("gaussian", "power-law"), (4.0,), 1.5, DEFAULT_KS)
    names = [column.header for column in report.data_table.columns]
    rows = [dict(zip(names, row, strict=True)) for row in report.data_table.rows]
    lost = [r for r in rows if r["temperature"] is None]
    assert lost
    assert all(r["note"] and r["pass_at_k"] > 1 - 2e-12 for r in lost)
    assert all((r["largest"] is None) == (r["family"] == "gaussian") for r in rows)
    assert named(report)["cut-power-law"] == {"gamma": "1.5", "largest": "14", "spreads": "4.187"}
    fields = named(report)["nothing-to-choose"]
    assert (fields["lost"], fields["points"]) == (len(lost), 2 * len(DEFAULT_KS))


def test_fit_report_stands_beside_the_article() -> None:
    report = fit_report(("gaussian",), 2.0)
    exact, article = report.tables[0].rows
    assert exact[2:6] == pytest.approx((0.2637, 0.7286, 1.2814, 0.9996), rel=5e-3)
    assert article == ("gaussian", "article", 0.264, 0.728, 1.283, 0.9996, None)
    assert report.tables[1].visibility == "full"
    remaining = [row for row in facts(report, "point") if row["kept"]]
    assert len(remaining) == exact[6] == len(report.tables[1].rows)
    assert all(0.03 < row["pass_at_k"] < 0.98 for row in remaining)  # type: ignore[operator]
    assert len(facts(report, "point")) == 250


@pytest.mark.long
def test_power_law_tasks_scale_from_k_20_on() -> None:
    """The article: no scaling below k ≈ 20; T* grows faster with k the fatter the tail."""
    report = fit_report(("power-law",), 1.5)
    ((_, source, _, k_power, s_power, r2, _),) = report.tables[0].rows
    assert source == "exact sums"
    assert k_power > 1.5  # type: ignore[operator]
    assert abs(s_power) < 0.1  # type: ignore[arg-type]
    assert r2 > 0.99  # type: ignore[operator]
    assert min(r["k"] for r in facts(report, "point") if r["kept"]) == 32  # type: ignore[type-var]


def test_what_leaves_rows_without_a_temperature_out_does(passk: Passk, write: Write) -> None:
    rows = [
        {"task": f"t{t}", "temperature": heat, "passed": (t + i) % 3 > 0}
        for t in range(12)
        for i, heat in enumerate((0.2, 0.8, 0.8, None, ""))
    ]
    for missing in (rows, [row for row in rows if row["temperature"] != ""]):
        path = write("h.jsonl", jsonl(missing))
        result = passk("temperature", path)
        (remedy,) = commands(result.err)
        assert passk(*remedy).code == 0
