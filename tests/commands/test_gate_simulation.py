"""A gate rehearsed: the same verdicts as the gate, rates that are right, and what it says."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import passk_cli
from passk_cli.commands.gate.baseline_match import BaselineMatch
from passk_cli.commands.gate.context import GateContext
from passk_cli.commands.gate.rules import GateRule, verdicts_by_judgement_per_context
from passk_cli.commands.gate.runner import GateRunner
from passk_cli.commands.gate.simulation import VerdictRates, false_alarm_rate, simulation_setup
from passk_cli.metrics.registry import parse_metric
from passk_cli.outcomes.counts import Counts
from passk_cli.study.analysis import Analysis
from passk_cli.study.confidence import Confidence
from passk_cli.study.significance_options import ComparisonOptions
from tests.conftest import SAMPLES, Passk, Write, long_cases

pytestmark = pytest.mark.usefixtures("few")
TAU = SAMPLES / "tau_airline.csv"
ASK = ["--max-drop", "pass@1=0.02", "--no-regression", "-m", "pass@1", "--min", "pass^4=0.1"]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer rehearsals than users get."""
    monkeypatch.setattr("passk_cli.commands.gate.simulation._UNCHANGED", 100)
    monkeypatch.setattr("passk_cli.commands.gate.simulation._PLANTED", 60)


def trial(
    n: Sequence[int], rates: Sequence[float], **options: Any
) -> tuple[GateContext, list[GateRule]]:
    """Two models of these attempts and success rates against themselves, and rules."""
    generator = np.random.default_rng(len(n))
    cells = [
        (model, f"t{t:03d}", size, int(generator.binomial(size, rate)))
        for model in ("a", "b")
        for t, (size, rate) in enumerate(zip(n, rates, strict=True))
    ]
    counts = Counts.from_cells(cells)
    gate = GateRunner(
        max_drop={parse_metric("pass@1"): 0.1}, minimum={parse_metric("pass@1"): 0.5},
        no_regression=True,
        **options,
    )  # fmt: skip
    metrics = gate.metrics_of_all_rules((parse_metric("pass@1"),))
    study = Analysis(counts, metrics, Confidence(resamples=200), ComparisonOptions())
    return GateContext(
        study, BaselineMatch.from_two_files(counts, counts, "itself"), metrics, "fail"
    ), gate.active_rules


@pytest.mark.parametrize("min_by", ["interval", *long_cases("estimate", "lower")])
@pytest.mark.parametrize("tasks", [3, 12, 40])
def test_outcomes_are_the_verdicts_of_the_gate(tasks: int, min_by: str) -> None:
    """Many trials at once come to the verdicts of each by itself."""
    generator = np.random.default_rng(tasks)
    full, rules = trial(
        generator.integers(1, 5, tasks).tolist(), generator.random(tasks).tolist(), min_by=min_by
    )
    setting = simulation_setup(full, rules, "pass")
    trials = [setting.simulate_run_context(0.3, run) for run in range(15)]
    for place, rule in enumerate(rules):
        for first, output in zip(
            trials, verdicts_by_judgement_per_context(rules, trials, [place]), strict=True
        ):
            (lines,) = rule.judge([first])
            verdicts = {
                (place, line.result.series, line.result.name): line.verdict for line in lines
            }
            assert output == (verdicts if rule.can_simulate else {})


def test_false_alarms_and_power_by_enumeration() -> None:
    """A minimum on tasks that all have the same rate: sums of passes are binomial."""
    from scipy.stats import binom

    full, rules = trial([50] * 40, [0.52] * 40, min_by="estimate")
    minimum = [rule for rule in rules if rule.option_metrics and not rule.compares_with_baseline]
    setting = simulation_setup(full, minimum, "pass")
    setting = replace(
        setting, new_run_rates=np.full_like(setting.new_run_rates, setting.new_run_rates[0].mean())
    )
    odds, _ = setting.verdict_rates_and_gate_failures
    (first, *_) = odds
    rate = setting.new_run_rates[0, 0]
    exact = binom.cdf(np.ceil(0.5 * 2000 - 1e-9) - 1, 2000, rate)
    alarm = false_alarm_rate(odds[first], VerdictRates(0, 0, 200, 0.0))
    assert (alarm.low or 0.0) <= exact <= (alarm.high or 1.0)
    power = binom.cdf(999, 2000, rate - (setting.detectable_drop(first).drop.value or 0.0))
    assert power == pytest.approx(0.8, abs=0.2)


@pytest.mark.long
def test_false_alarms_are_those_of_the_estimated_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    """A minimum 1.63 standard errors below the run: 5 % fail, not the 12 % of uncertain rates."""
    from scipy.special import ndtr

    monkeypatch.setattr("passk_cli.commands.gate.simulation._UNCHANGED", 500)
    n, c = 5, np.random.default_rng(0).binomial(5, np.random.default_rng(1).beta(0.5, 0.5, 200))
    spread = np.sqrt((c / n * (1 - c / n)).sum() / (n - 1)) / len(c)
    counts = Counts.from_cells([("m", f"t{t:03d}", n, int(x)) for t, x in enumerate(c)])
    pass_1 = parse_metric("pass@1")
    gate = GateRunner(minimum={pass_1: float((c / n).mean() - 1.63 * spread)}, min_by="estimate")
    study = Analysis(counts, (pass_1,), Confidence(), ComparisonOptions())
    first, rules = (
        GateContext(study, BaselineMatch.without_baseline(counts), (pass_1,), "fail"),
        [r for r in gate.active_rules if r.option_metrics],
    )
    (odds,), (predicted,) = (
        simulation_setup(first, rules, "pass", predictive=item)
        .verdict_rates_and_gate_failures[0]
        .values()
        for item in (False, True)
    )
    truth, uncertain = (float(ndtr(-1.63 / root)) for root in (1.0, np.sqrt(2.0)))
    assert odds.failing_share == pytest.approx(truth, abs=0.05)
    assert predicted.failing_share == pytest.approx(uncertain, abs=0.05)
    alarm = false_alarm_rate(odds, predicted)
    # At rates two standard errors away the share would be 0.0001, or 0.64.
    assert (alarm.low or 0.0) < 0.01
    assert 0.35 < (alarm.high or 0.0) < 0.85


@pytest.mark.parametrize(
    ("failing", "both", "low", "high"),
    [(0, 0.0, 0.0, 0.11283), (10, 0.01, 0.01643, 0.17622), (100, 1.0, 0.01643, 1.0)],
)
def test_limits_without_a_spread_of_the_rates_are_those_of_both_simulations(
    failing: int, both: float, low: float, high: float
) -> None:
    """Clopper and Pearson's of 5 in 100, and of the rates that are drawn."""
    limits = false_alarm_rate(VerdictRates(5, 0, 100, 0.0), VerdictRates(failing, 0, 100, both))
    assert (limits.low, limits.high) == (
        pytest.approx(low, abs=1e-5),
        pytest.approx(high, abs=1e-5),
    )


def test_the_spread_of_the_rates_is_taken_a_standard_error_larger_than_it_was_seen() -> None:
    """Two sets of rates, one of which fails twice in ten: 1 of 90 pairs, and √1 + 1 more."""
    assert VerdictRates.from_runs(
        [True, False, True, False, *[False] * 16], 0, 2
    ).both_of_pair_failing_share == pytest.approx(3 / 90)


def document(passk: Passk, *arguments: object) -> dict[str, Any]:
    result = passk("gate", *arguments, "--rehearse", "-f", "json")
    assert result.code == 0
    output: dict[str, Any] = json.loads(result.out)
    return output


def test_a_rehearsal_exits_with_0_and_says_the_verdict(passk: Passk) -> None:
    output = document(passk, TAU, *ASK)
    assert output["result"] == "rehearsal"
    rows = {row["rule"]: row for row in output["rows"]}
    drop = rows["pass@1 drop ≤ 0.02"]
    assert drop["false_alarm"] < 0.05
    assert 0.1 < drop["drop"] < 0.25
    assert (drop["if_all_pass"], drop["if_all_fail"]) == ("pass", "fail")
    assert rows["the whole gate"]["false_alarm"] >= rows["pass^4 ≥ 0.1"]["false_alarm"]
    result = passk("gate", TAU, "--min", "pass@1=0.9", "--rehearse", "-f", "github")
    assert result.code == 0
    # Nothing is asked of this run: no rule is judged.
    assert result.out.startswith("::notice title=passk%3A pass@1 ≥ 0.9::not judged: fail on ")
    assert "passk: REHEARSAL: with nothing changed, the whole gate fails in " in result.err
    assert result.err.endswith("; this run would FAIL\n")
    result = passk("gate", TAU, "--min", "pass@1=0.9", "--rehearse", "-f", "junit")
    assert ElementTree.fromstring(result.out).get("failures") == "0"
    result = passk("gate", TAU, "--min", "pass@1=0.9", "--rehearse", "-f", "markdown")
    assert (result.code, "false alarms" in result.out) == (0, True)


@pytest.mark.long
def test_undecided_counts_as_the_gate_counts_it(passk: Passk) -> None:
    ask = ["gate", TAU, "--baseline", TAU, "--max-drop", "pass@1=0.05", "--rehearse", "-f", "json"]
    lenient, strict = (
        json.loads(passk(*ask, "--on-undecided", verdict).out)["rows"][2:]
        for verdict in ("pass", "fail")
    )
    assert lenient[0]["undecided"] == strict[0]["undecided"] > 0.5
    for before, after in zip(lenient, strict, strict=True):
        expected = before["false_alarm"] + lenient[0]["undecided"]
        assert after["false_alarm"] == pytest.approx(expected)
        assert after["predicted_failure"] > before["predicted_failure"]


def test_rules_that_decide_nothing_are_said(passk: Passk, write: Write) -> None:
    path = write("three.csv", "task,n,c\na,1,1\nb,1,0\nc,1,1\n")
    output = document(passk, path, "--no-regression", "-m", "pass@1", "--min", "pass@2=0.5")
    names = {message["name"]: message["fields"] for message in output["messages"]}
    assert names["rule-decides-nothing"]["rule"] == ["pass@1 no regression"]
    assert "one-attempt-rehearsed" in names
    rows = {row["rule"]: row for row in output["rows"]}
    assert rows["pass@2 ≥ 0.5"]["verdict"] == "error"
    assert rows["the whole gate"]["false_alarm"] == 1.0


@pytest.mark.parametrize("c", [0, 3])
def test_all_pass_and_all_fail(passk: Passk, write: Write, c: int) -> None:
    path = write("same.csv", "task,n,c\n" + "".join(f"t{t},3,{c}\n" for t in range(12)))
    output = document(passk, path, "--max-drop", "pass@1=0.05")
    row = output["rows"][2]
    assert row["false_alarm"] <= 0.02
    assert (row["drop"] is None) == (c == 0)


def test_other_metrics_are_not_rehearsed(passk: Passk) -> None:
    path = SAMPLES / "answers.csv"
    output = document(passk, path, "--min", "maj@1=0.1,pass@1=0.1")
    names = {message["name"]: message["fields"] for message in output["messages"]}
    assert names["not-rehearsed"] == {"metrics": ["maj@1"]}


@pytest.mark.long
def test_from_python() -> None:
    output, again = (
        passk_cli.gate(TAU, max_drop={"pass@1": 0.3}, minimum={"pass@1": 0.3}, rehearse=True)
        for _ in range(2)
    )
    assert output.frame.false_alarm.notna().sum() == 3
    assert output.frame.equals(again.frame)


@pytest.mark.long
def test_missing_outcomes_at_both_ends(passk: Passk, tmp_path: Path) -> None:
    path = tmp_path / "gaps.csv"
    cells = [(t, a, "" if a == 1 and t % 4 == 0 else (t * 7 + a) % 5 % 2)
             for t in range(40) for a in range(3)]  # fmt: skip
    path.write_text("task,attempt,passed\n" + "".join(f"t{t},{a},{x}\n" for t, a, x in cells))
    ask = [path, "--min", "pass@1=0.36", "--min-by", "estimate"]
    alarms = [
        document(passk, *ask, "--missing", policy)["rows"][0]["false_alarm"]
        for policy in ("drop", "bounds")
    ]
    assert alarms[0] < alarms[1]
    path.write_text("task,attempt,passed\n" + "".join(f"t{t},0,{t % 2 or ''}\n" for t in range(9)))
    bounds = ["--min-by", "estimate", "--missing", "bounds"]
    output = document(passk, path, "--min", "pass@1=0.2", *bounds)
    assert output["rows"][0]["if_all_fail"] == "fail"


@pytest.mark.parametrize(
    ("most", "code", "word"), [("0", 1, "fail"), *long_cases(("0.9", 0, "pass"))]
)
def test_false_alarms_can_be_asked_for(passk: Passk, most: str, code: int, word: str) -> None:
    """The minimum lies near the run: some rehearsals with nothing changed fail it."""
    ask = ["gate", TAU, "--min", "pass@1=0.4", "--min-by", "estimate", "--rehearse"]
    ask += ["--max-false-alarms", most]
    result = passk(*ask, "-f", "json")
    output = json.loads(result.out)
    assert (result.code, output["exit"], output["result"]) == (code, code, word)
    full = output["rows"][-1]
    # It judges false alarms alone: this run passes or fails by other rules.
    name = f"the whole gate: false alarms ≤ {float(most):g}"
    assert (full["rule"], full["verdict"]) == (name, word)
    start = f"{word.upper()}: with nothing changed, the whole gate fails in "
    assert (output["answer"].startswith(start), output["answer"][-21:]) == (
        True, "; this run would PASS",
    )  # fmt: skip
    markdown = passk(*ask, "-f", "markdown").out
    assert name in markdown
    assert full["limit"] == float(most)
    assert 0 < full["false_alarm"] < 0.9
    assert output["signature"]["max-false-alarms"] == float(most)
    assert f"passk: {start}" in result.err
    suite = ElementTree.fromstring(passk(*ask, "-f", "junit").out)
    assert suite.get("failures") == str(code)
    github = passk(*ask, "-f", "github").out
    level = "error" if code else "notice"
    assert (
        f"::{level} title=passk%3A false alarms ≤ {float(most):g}::{word}: with nothing" in github
    )
    assert markdown.startswith(f"**{word.upper()}:** ")
    python = passk_cli.gate(
        TAU,
        minimum={"pass@1": 0.4},
        min_by="estimate",
        rehearse=True,
        max_false_alarms=float(most),
    )
    assert bool(python) == (code == 0)


def test_false_alarms_are_about_a_rehearsal(passk: Passk) -> None:
    result = passk("gate", TAU, "--min", "pass@1=0.4", "--max-false-alarms", "0.02")
    assert (result.code, " --rehearse  # adds a rehearsal\n" in result.err) == (2, True)
    # A run that cannot pass is not what is asked here.
    low = ["--min", "pass@1=0.9", "--rehearse", "--baseline", TAU, "--max-false-alarms", "1"]
    assert passk("gate", TAU, *low).code == 0


def test_a_rehearsal_says_what_its_numbers_lack(passk: Passk, write: Write) -> None:
    path = write("uneven.csv", "task,n,c\n" + "".join(f"t{t},{2 + t % 3},1\n" for t in range(12)))
    output = document(passk, path, "--min", "pass@1=0.1")
    assert output["answer"].endswith("; this run would PASS; 2 to 4 attempts per task")


@pytest.mark.long
def test_of_suites_the_whole_gate_fails_where_one_does(
    passk: Passk, tmp_path: Path, write: Write
) -> None:
    """Two suites that fail independently: 1 − (1 − p)²; two of the same run fail together."""
    rows = "".join(f"t{t},5,{2 + t % 2}\n" for t in range(60))
    for name, prefix in (("a", "t"), ("b", "u")):
        text = "task,n,c\n" + rows.replace("t", prefix)
        (tmp_path / f"{name}.csv").write_text(text.replace("uask", "task"))
    (tmp_path / "b.csv").write_text((tmp_path / "b.csv").read_text().replace(",5,2", ",5,1", 1))
    single = '[[suite]]\nname = "{}"\nruns = "m={}.csv"\nmin = {{"pass@1" = 0.485}}\n'
    single += 'min-by = "estimate"\n'
    output = {}
    for second in ("a", "b"):
        path = write("passk.toml", single.format("one", "a") + single.format("two", second))
        rows_of = {row["suite"]: row for row in document(passk, "--rules", path)["rows"]}
        output[second] = [rows_of[name]["false_alarm"] for name in ("one", "two", "")]
    first, second, pair = output["a"]
    assert first == second == pair > 0.1
    first, second, pair = output["b"]
    assert pair == pytest.approx(1 - (1 - first) * (1 - second), abs=0.1)
    assert pair > max(first, second)


@pytest.mark.long
@pytest.mark.parametrize("spread", [0.8, 0.0])
def test_a_rehearsal_with_a_history_draws_the_effect_of_every_run(
    spread: float, tmp_path: Path
) -> None:
    """A rule by the estimate alone: the new run and the mean of four each have an effect, so that
    its error has the variance σ² + v, and limits with a history are wider by as much."""
    rng = np.random.default_rng(5)
    rates, history = np.linspace(0.1, 0.9, 50), str(tmp_path / "h.parquet")
    runs = []
    for _ in range(7):
        moved = 1 / (1 + np.exp(-np.log(rates / (1 - rates)) - spread * rng.standard_normal()))
        runs.append([{"task": f"t{t:02}", "n": 4, "c": int(c)}
                     for t, c in enumerate(rng.binomial(4, moved))])  # fmt: skip
    with warnings.catch_warnings(action="ignore"):
        for night, rows in enumerate(runs[:6]):
            passk_cli.record(rows, to=history, at=f"r{night}", date=f"2026-01-0{night + 1}")
        output = passk_cli.gate(
            runs[6], baseline=f"{history}:last4", minimum={"pass@1": 0.45}, min_by="estimate",
            max_drop={"pass@1": 0.0}, rehearse=True,
        )  # fmt: skip
    context = " · ".join(map(str, output.report.context))
    size = float(re.search(r"effect of a run: ([\d.]+) points", context)[1])  # type: ignore[index]
    assert (size < 3) if spread == 0 else (6 < size < 25)
    least, drop = (output.frame.query(f"rule.str.startswith('{rule}')").iloc[0]
                   for rule in ("pass@1 ≥", "pass@1 drop"))  # fmt: skip
    # About 0.5 ± 0.03 by chance within tasks alone.
    assert (least.false_alarm < 0.15) == (spread == 0)
    assert drop.false_alarm < 0.08
    assert (drop["drop"] < 0.15) == (spread == 0)
