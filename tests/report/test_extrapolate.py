"""The report of extrapolations: what is asked, what is shown, what is drawn."""

from __future__ import annotations

import numpy as np
import pytest

from passk_cli.errors import DataError, ParameterError
from passk_cli.metrics.pass_k import hat_pairs
from passk_cli.outcomes.counts import Counts
from passk_cli.report.extrapolate import Wanted, extrapolate_report, parse_to
from passk_cli.report.model import Estimate, Report
from passk_cli.report.samples import Uncertainty

FEW = Uncertainty(resamples=100)


def counts_of(seed: int = 0, tasks: int = 60, n: int = 20, models: int = 1) -> Counts:
    rng = np.random.default_rng(seed)
    cells = []
    for model in range(models):
        passes = rng.binomial(n, rng.beta(0.4 + model, 2.0, tasks))
        cells += [(f"m{model}", f"t{t}", n, int(c)) for t, c in enumerate(passes)]
    return Counts.from_cells(cells)


def column(report: Report, name: str, table: int = 0) -> list[object]:
    names = [c.name for c in report.tables[table].columns]
    return [row[names.index(name)] for row in report.tables[table].rows]


def facts(report: Report) -> list[dict[str, object]]:
    names = [c.name for c in report.data.columns]
    return [dict(zip(names, row, strict=True)) for row in report.data.rows]


def test_what_is_asked_is_checked() -> None:
    assert parse_to("1000, 100,100") == (100, 1000)
    for text in ("0", "", "1,", "-3", "1.5"):
        with pytest.raises(ParameterError, match="--to"):
            parse_to(text)
    for wanted in (Wanted(target=0.0), Wanted(target=1.0), Wanted(fit="x"), Wanted(to=(10**10,))):
        with pytest.raises(ParameterError):
            wanted.checked()


def test_ten_and_a_hundred_times_the_attempts_by_default() -> None:
    report = extrapolate_report(counts_of(), FEW, Wanted(fit="beta"))
    names = [c.name for c in report.tables[0].columns]
    assert names[1:4] == ["pass@20", "pass@200", "pass@2000"]
    assert report.signature["to"] == "200,2000"


def test_the_most_at_the_farthest_k_comes_first() -> None:
    report = extrapolate_report(counts_of(models=3), FEW, Wanted((50,), fit="beta"))
    values = [cell.value for cell in column(report, "pass@50") if isinstance(cell, Estimate)]
    assert values == sorted(values, reverse=True)
    assert len(values) == 3
    assert len(report.tables) == 1


def test_each_model_alone_is_told_of_few_series_and_drawn_of_a_lone_one() -> None:
    report = extrapolate_report(counts_of(), FEW, Wanted((100,)))
    assert column(report, "fit", 1)[0] == column(report, "fit")[0]
    weights = [w for w in column(report, "weight", 1) if isinstance(w, float)]
    assert weights == sorted(weights, reverse=True)
    plot = report.plots[0]
    assert {row["series"] for row in plot.rows} >= {"weighed", "smooth"}
    assert max(point["x"] for point in plot.points) == 20
    assert max(row["x"] for row in plot.rows) == 100
    several = extrapolate_report(counts_of(models=2), FEW, Wanted((100,), fit="beta"))
    assert {row["series"] for row in several.plots[0].rows} == {"m0", "m1"}


def test_limits_do_not_turn_back_beyond_the_attempts() -> None:
    wanted = Wanted((20, 21, 30, 1000), families=("pass@", "pass^"), fit="beta")
    rows = facts(extrapolate_report(counts_of(), FEW, wanted))
    for family, sign in (("pass@", 1), ("pass^", -1)):
        for limit in ("estimate", "low", "high"):
            values = [float(r[limit]) for r in rows if str(r["metric"]).startswith(family)]  # type: ignore[arg-type]
            if limit != ("high" if sign > 0 else "low"):  # that one is simulated beyond n = 20
                assert np.all(sign * np.diff(values) >= -1e-9), (family, limit)


def test_a_target_within_the_attempts_is_read_off_the_data() -> None:
    counts = counts_of()
    wanted = Wanted((100,), float((counts.c / counts.n).mean()) / 2, ("pass@", "pass^"), "beta")
    rows = facts(extrapolate_report(counts, FEW, wanted))
    at, hat = (r for r in rows if str(r["metric"]).startswith("k for"))
    assert (at["estimate"], at["low"], at["high"], at["note"]) == (1, 1, 1, "")
    k = int(hat["estimate"])  # type: ignore[call-overload]
    assert 1 <= k < 20
    means = [float(hat_pairs(counts.n, counts.c, j).mean()) for j in (k, k + 1)]
    assert means[0] >= wanted.target > means[1]  # type: ignore[operator]


def test_refusal_of_all_is_an_error_and_of_some_a_row_with_a_reason() -> None:
    never = Counts.from_cells([("m0", f"t{t}", 20, 0) for t in range(30)])
    with pytest.raises(DataError, match="m0: no attempt passed"):
        extrapolate_report(never, FEW, Wanted())
    cells = [("none", f"t{t}", 20, 0) for t in range(30)]
    cells += [("some", f"t{t}", 20, t % 6) for t in range(30)]
    report = extrapolate_report(Counts.from_cells(cells), FEW, Wanted((100,), fit="beta"))
    none = next(r for r in facts(report) if r["model"] == "none")
    assert none["estimate"] is None
    assert str(none["note"]).startswith("no attempt passed")


def test_attempts_that_differ_have_a_column() -> None:
    cells = [("few", f"t{t}", 10, t % 6) for t in range(30)]
    cells += [("many", f"t{t}", 40, t % 6) for t in range(30)]
    report = extrapolate_report(Counts.from_cells(cells), FEW, Wanted((100,), fit="beta"))
    assert sorted(column(report, "n")) == [10, 40]  # type: ignore[type-var]
    assert report.tables[0].columns[2].name == "pass@n"
    assert "k = 10–40 predicted from 4–7 attempts" in report.caption
