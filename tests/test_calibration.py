"""Stated rates, in docs, outputs and README, against the tables that they are read off."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from passk_cli.commands.cost.view import FEW_TASKS_COST_WARNING
from passk_cli.commands.gate.view import FEW_HISTORY_RUNS_WARNING
from passk_cli.commands.horizon.view import FEW_FAMILIES_WARNING
from passk_cli.commands.trend.view import CORRELATED_RUNS_WARNING

ROOT = Path(__file__).parent.parent
BENCHMARKS = ROOT / "benchmarks"
CLAIMS = (BENCHMARKS / "calibration.md").read_text()


def rows(name: str) -> list[dict[str, str]]:
    with (BENCHMARKS / "rows" / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def section(file: str, name: str) -> list[list[str]]:
    """The rows of a table between its marks, or below a heading."""
    text = (BENCHMARKS / file).read_text()
    marked = re.search(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", text, re.S)
    part = marked[1] if marked else text.partition(f"## {name}\n")[2].partition("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def number(cell: str) -> float:
    match = re.match(r"[\d.]+", cell)
    assert match, cell
    return float(match[0])


def column(table: Iterable[dict[str, str]], name: str) -> list[float]:
    return [number(row[name]) for row in table if row[name] not in ("", "–")]


def families_of_horizon() -> Iterable[str]:
    for rate in ("50 %", "80 %"):
        table = [row for row in rows("horizon-coverage") if row["tasks"] == "40"]
        table = [row for row in table if int(row["families"]) <= 10 and row["rate"] == rate]
        yield f"{rate} horizon in {to(100 * share for share in column(table, 'coverage'))}"


def to(values: Iterable[float]) -> str:
    low, high = min(values := list(values)), max(values)
    return f"{low:.0f} to {high:.0f} %"


def steady() -> Iterable[str]:
    alarms = column(rows("trend-steady"), "false alarms")
    few = [alarm for alarm in alarms if alarm <= 4]
    yield f"at most {max(few):.0f} % (± 2) in {len(few)} of {len(alarms)} situations"
    yield to(alarm for alarm in alarms if alarm > 4)


def correlated() -> Iterable[str]:
    by = {lag: [number(r[2]) for r in section("trend.md", "Correlated runs") if r[0] == lag]
          for lag in ("0.3", "0.5", "0.7", "0.8", "0.9")}  # fmt: skip
    yield (
        f"correlation 0.3: {by['0.3'][0]:.0f} %, 0.5: {by['0.5'][0]:.0f} %, 0.7: {to(by['0.7'])}"
    )
    yield f"0.8: {by['0.8'][0]:.0f} %, 0.9: {to(by['0.9'])}"


def correlated_message() -> Iterable[str]:
    for lag, sentence in (
        ("0.7", "{} of the years had a false alarm at a correlation of 0.7"),
        ("0.9", "At a correlation of 0.9, {} of the years had a false alarm"),
    ):
        rates = [number(r[2]) for r in section("trend.md", "Correlated runs") if r[0] == lag]
        yield sentence.format(to(rates))


def history(least: int, most: int, effects: str) -> list[float]:
    return [
        100 * float(row["gate"])
        for row in rows("trend-coverage")
        if least <= int(row["runs of the history"]) <= most and row["effect"][0] in effects
    ]


def few_runs() -> Iterable[str]:
    yield f"With two or three runs, 95 % intervals contained the truth in {to(history(2, 3, '4'))}"
    yield f"With twenty runs, 95 % intervals contained the truth in {to(history(20, 20, '024'))}"


def gate_of_history() -> Iterable[str]:
    yield f"{to(history(5, 20, '024'))} (± 0.6) with five runs or more"


def decided() -> Iterable[str]:
    shares = [number(row[5]) for row in section("gate.md", "decided") if row[0] != "3 × 4"]
    yield f"{to(shares)} (± 2) of runs of N tasks decide"


def unlike() -> Iterable[str]:
    table = rows("cost-unlike")
    yield f"up to {max(column(table, 'rejects %')):g} %"
    many = [row for row in table if row["tasks"] == "200"]
    yield f"up to {max(column(many, 'rejects %')):g} % with 200 tasks"


def lumps() -> Iterable[str]:
    for tasks, words in (("20", "{} with 20 tasks"), ("60", "{} with 60")):
        table = [row for row in rows("cost-lumps") if row["tasks"] == tasks]
        yield words.format(to(column(table, "covers %")))


def lumps_message() -> Iterable[str]:
    for tasks, words in (
        ("20", "With 20 tasks, intervals of costs contained the true cost in {}"),
        ("60", "With 60 tasks, intervals contained the true cost in {}"),
        ("100", "with 100 tasks in {}"),
    ):
        kinds = "5 % × 50", "2 % × 100"
        table = [row for row in rows("cost-lumps")
                 if row["tasks"] == tasks and row["dear tasks"] in kinds]  # fmt: skip
        yield words.format(to(column(table, "covers %")))


def missing_costs() -> Iterable[str]:
    for policy in ("bounds", "mean", "drop"):
        policy_rows = [row for row in rows("cost-missing") if row["--missing-cost"] == policy]
        usual = [row for row in policy_rows if "dearest" not in row["missing costs"]]
        dearest = [
            round(x) for x in column((row for row in policy_rows if row not in usual), "covers %")
        ]
        yield f"`{policy}` {to(column(usual, 'covers %'))}"
        if policy != "bounds":
            yield f"`{policy}` {min(dearest)} and {max(dearest)} %"


def order_power() -> Iterable[str]:
    table = rows("order-detectable")
    trend, neighbours = (to(column(table, name)) for name in ("found %", "found % 2"))
    yield f"trend {trend}, neighbours {neighbours}"


def families() -> Iterable[str]:
    rates = [number(row[5]) for row in section("difference.md", "chosen")]
    coverage = column(rows("difference-unseen"), "all intervals hold %")
    most = [x for x in coverage if x > 92]
    yield f"{to(rates)} (± 1.6) in {len(rates)} situations"
    yield f"held out {to(most)} in {len(most)} of {len(coverage)}"
    yield f"{min(coverage):.0f} and {max(x for x in coverage if x <= 92):.0f} %"


def near_bounds() -> Iterable[str]:
    alarms = column(rows("trend-bounds"), "years with a false alarm")
    yield f"at most {max(alarms):g} % (± 1.2) in {len(alarms)} situations with effects of the run"


def plans() -> Iterable[str]:
    plan_rows, coverage_rows = (section("plan.md", name) for name in ("alike", "alike-held"))
    coverage = to([number(row[6]) for row in coverage_rows][1:])
    yield f"{to(number(row[6]) for row in plan_rows)} (± 1), held out {coverage}"
    yield f"3 pilot tasks: {coverage_rows[0][6]} %"
    middle = [[float(row[3]) for row in table] for table in (plan_rows, coverage_rows)]
    yield (f"{min(middle[0]):.2f} to {max(middle[0]):.2f} times the true one in the median, held"
           f" out {min(middle[1]):.2f} to {max(middle[1]):.2f}")  # fmt: skip


def equal_costs() -> Iterable[str]:
    equal_rows = [row for row in rows("cost-pairs") if float(row["θ₁/θ₂"]) == 1]
    yield f"at most {max(column(equal_rows, 'rejects %')):g} % in"


def looks() -> Iterable[str]:
    all_rows = [*section("watch.md", "size"), *section("watch.md", "bar")]
    wrong, once, ordinary = (
        [100 * number(row[at]) for row in all_rows] for at in (1, 2, 3)
    )  # fmt: skip
    yield f"{min(wrong):.1f} to {max(wrong):.1f} % (± 0.6) in ten situations"
    yield f"one look at the end {min(once):.1f} to {max(once):.1f} %"
    yield f"an ordinary interval at each look {to(ordinary)}"


def plan_used() -> Iterable[str]:
    shares = [100 * number(row[7]) for row in section("watch.md", "size")]
    yield f"if there is something to find (`watch.md`) | | {to(shares)}"


def let_through() -> Iterable[str]:
    shares = {row[0]: [part.strip() for part in row[5].split("/")]
              for row in section("gate.md", "undecided") if row[1] == "0.05"}  # fmt: skip
    yield ", ".join(f"{size}: {number(group[0]):.1f} %" for size, group in shares.items())
    assert {group[1] for group in shares.values()} == {"0.0"}


def macro_averages() -> Iterable[str]:
    covered = [number(row[1]) for row in section("macro.md", "real")]
    yield f"real tasks {min(covered)} to {max(covered)} % (± 1.2)"
    ranked = [number(row[1]) for row in section("macro.md", "ranks")]
    yield f"some of four equal models (`macro.md`) | 5 % | {min(ranked)} to {max(ranked)} % (± 1.1)"


def honest_boards() -> Iterable[str]:
    table = [row for row in section("integrity.md", "honest") if row[1:3] == ["30", "4"]]
    rates = {row[0]: 100 * int(row[6]) / int(row[3]) for row in table}
    yield f"{rates['none']} to {rates['moderate']} % of boards of 30 × 4"
    yield f"strong families: {rates['strong']} %"


@pytest.mark.parametrize(
    ("sentence", "read_off"),
    [
        *((CLAIMS, item) for item in (
            steady, correlated, decided, unlike, lumps, missing_costs, order_power, families, plans,
            near_bounds,
            equal_costs, gate_of_history, looks, plan_used, let_through, macro_averages,
            honest_boards,
        )),
        (CORRELATED_RUNS_WARNING.why, correlated_message),
        (FEW_HISTORY_RUNS_WARNING.why, few_runs),
        (FEW_TASKS_COST_WARNING.why, lumps_message),
        (FEW_FAMILIES_WARNING.why, families_of_horizon),
    ],
)  # fmt: skip
def test_claims_are_in_the_tables_of_benchmarks(
    sentence: str, read_off: Callable[[], Iterable[str]]
) -> None:
    for claim in read_off():
        assert claim in sentence, claim


def test_the_guard_has_one_number_everywhere() -> None:
    lowest = {
        page: re.findall(r"94\.\d+ %(?= (?:\(± 0\.8\)|in 230))", (ROOT / page).read_text())
        for page in ("README.md", "docs/guard.md", "benchmarks/calibration.md")
    }
    assert all(set(numbers) == {"94.25 %"} for numbers in lowest.values()), lowest
