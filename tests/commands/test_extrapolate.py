"""passk extrapolate: what is asked, shown, drawn and refused; goldens."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import passk_cli
from passk_cli.charts.picture import picture_bytes
from passk_cli.commands.extrapolate.view import ExtrapolateRunner
from passk_cli.errors import DataError
from passk_cli.inference.extrapolation import Extrapolation
from passk_cli.metrics.pass_k import pass_hat_k_per_pair
from passk_cli.outcomes.counts import Counts
from passk_cli.render import style
from passk_cli.report.data_types import ALWAYS, Estimate, Limits, Report
from passk_cli.study.analysis import Analysis
from passk_cli.study.confidence import Confidence
from tests.conftest import SAMPLES, Golden, Passk, Write, long_cases, mark_long, records

COUNTS, TAU, CRUX = (SAMPLES / f for f in ("counts.csv", "tau_airline.csv", "cruxeval.jsonl.gz"))
HOT = [CRUX, "--where", "temperature > 0.5"]
BOTH = ("pass@k", "pass^k")
COMMANDS: dict[str, list[object]] = {
    "extrapolate-models": ["extrapolate", *HOT, "--target", "0.75"],
    "extrapolate-line": ["extrapolate", COUNTS, "--fit", "log-logit", "--to", "40,1000"],
    "extrapolate-these-tasks": ["extrapolate", COUNTS, "--population", "these-tasks"],
    "extrapolate-both": ["extrapolate", COUNTS, "-m", "pass@k,pass^k", "--full"],
    "extrapolate-few-attempts": ["extrapolate", TAU],
}


# What was computed of the same counts, for all tests of this file.
KNOWN: dict[tuple[object, ...], object] = {}


@pytest.fixture(scope="module", autouse=True)
def ranges_and_averages_are_computed_once() -> Iterator[None]:
    """Most tests look at the same file, and each range takes a tenth of a second."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("range", "model_average"):
            patch.setattr(Extrapolation, name, kept(getattr(Extrapolation, name)))
        yield


def kept(method: Callable[[Extrapolation, Any], object]) -> Callable[[Extrapolation, Any], object]:
    """A method that looks first whether it was asked the same of the same attempts."""

    def known(of: Extrapolation, at: Any) -> object:
        codes = None if of.clusters is None else of.clusters.tobytes()
        key = (method.__name__, of.n.tobytes(), of.c.tobytes(), of.for_pass_hat_k, of.level, codes,
               np.asarray(at).tobytes())  # fmt: skip
        if key not in KNOWN:
            KNOWN[key] = method(of, at)
        return KNOWN[key]

    return known


def report_of(counts: Counts, to: tuple[int, ...] = (), **options: Any) -> Report:
    return ExtrapolateRunner(to=to, **options).report(Analysis(counts, (), Confidence()))


def counts_of(seed: int = 0, tasks: int = 60, n: int = 20, models: int = 1) -> Counts:
    rng = np.random.default_rng(seed)
    cells = []
    for model in range(models):
        passes = rng.binomial(n, rng.beta(0.4 + model, 2.0, tasks))
        cells += [(f"m{model}", f"t{t}", n, int(c)) for t, c in enumerate(passes)]
    return Counts.from_cells(cells)


def column(report: Report, name: str, table: int = 0) -> list[object]:
    names = [c.header for c in report.tables[table].columns]
    return [row[names.index(name)] for row in report.tables[table].rows]


def facts(report: Report) -> list[dict[str, object]]:
    names = [c.header for c in report.data_table.columns]
    return [dict(zip(names, row, strict=True)) for row in report.data_table.rows]


def first_sentence(report: Report) -> str:
    return style.answer_text(report, style.Style())


@pytest.mark.parametrize("name", mark_long(COMMANDS, "extrapolate-models"))
def test_golden(golden: Golden, name: str) -> None:
    golden(name, COMMANDS[name])


def test_the_default_is_ten_times_the_attempts() -> None:
    report = report_of(counts_of())
    names = [c.header for c in report.tables[0].columns]
    assert names[1:4] == ["pass@20", "its interval", "pass@200"]
    assert report.signature["to"] == "200"
    assert "fit" not in report.signature


def test_models_are_ordered_by_the_value_at_the_largest_k() -> None:
    report = report_of(counts_of(models=3), (50,))
    values = [cell.value for cell in column(report, "pass@50") if isinstance(cell, Estimate)]
    assert values == sorted(values, reverse=True)
    assert len(values) == 3
    assert [table.title for table in report.tables if table.visibility == ALWAYS] == [""]


def test_a_wide_range_has_no_point_and_a_narrow_one_has() -> None:
    report = report_of(counts_of(tasks=20), (24, 2000))
    narrow, wide = column(report, "pass@24")[0], column(report, "pass@2000")[0]
    assert isinstance(narrow, Estimate)
    assert isinstance(wide, Limits)
    rows = {row["metric"]: row for row in facts(report)}
    assert rows["pass@2000"]["estimate"] is None
    assert rows["pass@2000"]["note"] == "20 attempts per task do not determine it"
    assert float(rows["pass@2000"]["high"]) - float(rows["pass@2000"]["low"]) > 0.4  # type: ignore[arg-type]
    assert (rows["pass@24"]["beyond"], rows["pass@20"]["beyond"]) == ("yes", "no")
    assert (rows["pass@24"]["interval"], rows["pass@20"]["interval"]) == ("range", "guard")
    average = rows["pass@2000 by average"]
    assert (average["k"], average["fit_k"], average["interval"]) == (None, 2000, "average")
    assert float(average["low"]) < float(average["estimate"]) < float(average["high"])  # type: ignore[arg-type]


def test_the_answer_says_which_attempts_would_do(passk: Passk) -> None:
    out = passk("extrapolate", COUNTS, "--to", "1000").out.splitlines()[0]
    assert out == (
        "With 20 attempts per task, passk can predict only a range for pass@1000 of"
        " starcoder-15b-racket: [0.102, 0.998]; with 200 attempts pass@490 could be predicted."
    )


def test_limits_do_not_turn_back_beyond_the_attempts() -> None:
    rows = facts(report_of(counts_of(), (10, 20, 21, 30, 1000), metrics=BOTH))
    for family, sign in (("pass@", 1), ("pass^", -1)):
        for limit in ("low", "high"):
            ks = [r for r in rows if str(r["metric"]).startswith(family) and r["k"]]
            values = [float(r[limit]) for r in ks]  # type: ignore[arg-type]
            assert np.all(sign * np.diff(values) >= -1e-9), (family, limit)


@pytest.mark.long
def test_a_target_within_the_attempts_is_read_off_the_data() -> None:
    counts = counts_of()
    target = float((counts.c / counts.n).mean()) / 2
    rows = facts(report_of(counts, (100,), metrics=BOTH, target=target))
    at, hat = (r for r in rows if str(r["metric"]).startswith("k for"))
    assert (at["estimate"], at["low"], at["high"], at["note"]) == (1, 1, 1, "")
    k = int(hat["estimate"])  # type: ignore[call-overload]
    assert 1 <= k < 20
    means = [float(pass_hat_k_per_pair(counts.n, counts.c, j).mean()) for j in (k, k + 1)]
    assert means[0] >= target > means[1]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--target", "0.5"],
         "k for pass@k = 0.500 of starcoder-15b-racket: not before 76; no k is certain."),
        *long_cases((["--target", "0.999", "-m", "pass^k"],
               "k up to which pass^k ≥ 0.999 of starcoder-15b-racket: 0 [0, 0].")),
        (["--to", "10"],
         "pass@10 of starcoder-15b-racket is 0.179 [0.081, 0.315]."
         " This k is not larger than the number of attempts made."),
        (["--to", "1000", "-m", "pass^k"],
         "pass^1000 of starcoder-15b-racket is 0.035 [0.000, 0.147]."),
    ],
)  # fmt: skip
def test_the_answer_comes_first(passk: Passk, options: list[object], sentence: str) -> None:
    assert passk("extrapolate", COUNTS, *options).out.splitlines()[0] == sentence


def test_the_ends_of_a_targets_k_are_where_the_limits_reach_it() -> None:
    counts = counts_of(tasks=200)
    target = 0.9
    row = next(
        r for r in facts(report_of(counts, (100,), target=target)) if "k for" in str(r["metric"])
    )
    low, high = int(row["low"]), int(row["high"] or 0)  # type: ignore[call-overload]
    assert low > 20
    ks = (low - low // 10 - 1, low)
    limits = {r["k"]: r for r in facts(report_of(counts, ks))}
    assert float(limits[ks[0]]["high"]) < target <= float(limits[low]["high"])  # type: ignore[arg-type]
    assert high == 0 or float(facts(report_of(counts, (high,)))[1]["low"]) >= target  # type: ignore[arg-type]


def test_the_answer_of_several_models() -> None:
    alike = Counts.from_cells([(m, f"t{t}", 20, t % 6) for m in ("a", "b") for t in range(60)])
    assert first_sentence(report_of(alike, (40,))).endswith(" for both models.")
    separate = Counts.from_cells(
        [("a", f"t{t}", 20, t % 2) for t in range(90)] + [("b", f"t{t}", 20, 9) for t in range(90)]
    )
    assert first_sentence(report_of(separate, (30,))).startswith("pass@30 is highest for b: ")
    assert "of 2 of 2 models" not in first_sentence(report_of(separate, (30,)))
    near = Counts.from_cells(
        [("a", f"t{t}", 20, t % 5) for t in range(90)]
        + [("b", f"t{t}", 20, (t % 5) * (t % 17 > 0)) for t in range(90)]
    )
    assert first_sentence(report_of(near, (30,))).startswith("pass@30 ranges from ")
    wide = counts_of(tasks=20, models=2)
    assert first_sentence(report_of(wide, (10_000,))).startswith(
        "With 20 attempts per task, passk can predict only a range for pass@10000 of "
    )


def test_a_refusal_is_an_error_for_all_models_and_a_row_for_some(
    passk: Passk, write: Write
) -> None:
    cells = [(10, 1 + t % 3) for t in range(30)] + [(30, t % 9 * (t % 2)) for t in range(24)]
    path = write("x.csv", "model,task,n,c\n" + rows_of("a", cells))
    result = passk("extrapolate", path)
    assert (result.code, result.out) == (3, "")
    assert result.err == (
        "error[unusable-data]: a: sampling seems to have stopped"
        " when a task passed (30 of 54 tasks have fewer"
        " than 30 attempts), so the number of attempts depends on the outcomes; use only the"
        " first 10 attempts at every task, or make 30 attempts at every task\n"
    )
    good = rows_of("good", [(20, t % 7) for t in range(30)])
    pair = write("both.csv", "model,task,n,c\n" + rows_of("a", cells) + good)
    result = passk("extrapolate", pair, "--target", "0.9")
    assert result.code == 0
    assert (
        "[no-prediction]: there is no prediction for a: sampling seems to have stopped"
        in result.err
    )
    assert [line.split()[0] for line in result.out.splitlines()[3:5]] == ["good", "a"]
    assert "1 of 2 models have a prediction" in result.out
    first = [(10, c if n == 10 else 0) for n, c in cells]
    path = write("y.csv", "model,task,n,c\n" + rows_of("a", first))
    assert passk("extrapolate", path).code == 0
    with pytest.raises(DataError, match="sampling seems to have stopped"):
        report_of(Counts.from_cells([("a", f"t{t}", *cell) for t, cell in enumerate(cells)]))


def rows_of(model: str, cells: list[tuple[int, int]]) -> str:
    return "".join(f"{model},{t},{n},{c}\n" for t, (n, c) in enumerate(cells))


@pytest.mark.parametrize("passes", [0, 20, 1])
def test_counts_that_no_curve_fits_still_have_a_range(passes: int) -> None:
    counts = Counts.from_cells([("m", f"t{t}", 20, passes) for t in range(30)])
    row = next(r for r in facts(report_of(counts, (200,))) if r["k"] == 200)
    low, high = float(row["low"]), float(row["high"])  # type: ignore[arg-type]
    # Without a pass, 30 tasks at 1 in 240 attempts would still be no surprise.
    assert {0: low < 0.001 and 0.2 < high < 0.7, 20: low > 0.9 and high == 1,
            1: low > 0.7 and high == 1}[passes]  # fmt: skip


def test_attempts_that_differ_have_a_column() -> None:
    cells = [("few", f"t{t}", 10, t % 6) for t in range(30)]
    cells += [("many", f"t{t}", 40, t % 6) for t in range(30)]
    report = report_of(Counts.from_cells(cells), (100,))
    assert sorted(column(report, "n")) == [10, 40]  # type: ignore[type-var]
    assert report.tables[0].columns[2].header == "pass@n"


def test_within_the_attempts_it_says_what_estimate_says(passk: Passk) -> None:
    ahead = passk("extrapolate", COUNTS, "--to", "10,100", "--full").out
    now = passk("estimate", COUNTS, "-k", "10,20").out
    for number_text in ("0.179 [0.081, 0.315]", "[0.091, 0.355]"):
        assert number_text in now
        assert number_text in ahead


def test_the_log_logit_line_is_named_a_heuristic(passk: Passk) -> None:
    result = passk("extrapolate", COUNTS, "--to", "10,200", "--fit", "log-logit")
    assert result.out.splitlines()[2].split("  ")[-1].strip() == "pass@200 by log-logit"
    assert "warning[heuristic-fit]: the log-logit line is a heuristic" in result.err
    rows = records(passk("extrapolate", COUNTS, "--fit", "log-logit", "-f", "csv").out)
    line = next(row for row in rows if row["metric"] == "pass@200 by log-logit")
    assert (line["low"], line["high"], line["k"], line["fit_k"]) == ("", "", "", "200")
    signature = json.loads(passk("extrapolate", COUNTS, "--fit", "log-logit", "-f", "json").out)
    assert signature["signature"]["fit"] == "log-logit"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--fit", "beta"],
            "--fit beta: this fit was removed; passk now extrapolates a range without a fit",
        ),
        (
            ["--fit", "weighed"],
            "--fit weighed: this fit was removed; passk now extrapolates a range without a fit",
        ),
        (["--fit", "gamma"], "--fit gamma: passk has only one fit, log-logit"),
        (
            ["--resamples", "100"],
            "no such option: --resamples; the range is computed without resampling",
        ),
        (["--seed", "1"], "no such option: --seed; the range is computed without resampling"),
        (["--to", "0"], "--to 0: write a whole number, at least 1"),
        (["--to", "1e4"], "--to 1e4: write a whole number"),
        (["--to", "2000000000"], "--to 2000000000: write a whole number, at least"),
        (["--to", ""], "--to: the value is empty"),
        (["--target", "90"], "--target 90: the value must be above 0 and below 1"),
        (["--target", "nan"], "--target nan: write a number"),
        (["-m", "maj@3"], "-m maj@3: only pass@k and pass^k can be extrapolated"),
        (["--bounds", "0,1"], "no such option: --bounds"),
        (["--level", "2"], "--level 2: the value must be above 0 and below 1, for example 0.95"),
    ],
)
def test_usage(passk: Passk, options: list[str], message: str) -> None:
    result = passk("extrapolate", COUNTS, *options)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_charts(passk: Passk, tmp_path: Path) -> None:
    lone = tmp_path / "a.svg"
    base = ["extrapolate", COUNTS, "--target", "0.25"]
    assert passk(*base, "--chart", lone).code == 0
    for text in (
        "pass@k beyond the attempts made", "target 0.25", "attempts made", ">measured<",
        ">average of models<", ">range<",
    ):  # fmt: skip
        assert text in lone.read_text()
    pair = picture_bytes(report_of(counts_of(tasks=9, n=6), metrics=BOTH), ".svg").decode()
    assert pair.count(">pass^k<") == 1


def test_a_chart_has_no_line_where_nothing_is_determined() -> None:
    (plot,) = report_of(counts_of(tasks=20), (10_000,)).plots
    assert max(row["x"] for row in plot.rows) == 10_000
    assert max(point["x"] for point in plot.points) == 20
    lined = [row["x"] for row in plot.rows if row["y"] is not None]
    banded = [row["x"] for row in plot.rows if row["low"] is not None]
    assert max(lined) < max(banded) == 10_000


def test_the_answer_is_about_tasks_that_all_models_have() -> None:
    solved = {"a": [1, 2, 3] * 8 + [0] * 36, "b": [1, 2, 3] * 6 + [0] * 22}
    cells = [(m, f"t{t}", 20, c) for m, passes in solved.items() for t, c in enumerate(passes)]
    report = report_of(Counts.from_cells(cells), (30,))
    shared = report_of(Counts.from_cells([c for c in cells if int(c[1][1:]) < 40]), (30,))
    sentence, expected = report.answer[0].fields, shared.answer[0].fields
    assert (sentence["where"], expected["where"]) == ("the 40 tasks that all models have", "")
    assert sentence["highest"].value == pytest.approx(expected["highest"].value)


def test_python_gives_what_the_command_line_prints(passk: Passk) -> None:
    result = passk("extrapolate", COUNTS, "--to", "10,100", "-m", "pass^k", "--target", "0.1")
    findings = passk_cli.extrapolate(
        passk_cli.read(COUNTS), to=[100, np.int64(10)], metrics="pass^k", target=0.1
    )
    assert f"{findings}\n" == result.out.replace("--full", ".tables")
    assert findings.signature["to"] == "10,100"
    rows = findings.frame.set_index("metric")
    assert rows.interval["pass^10"] == "guard"
    assert rows.interval["pass^100"] == "range"
    estimated = passk_cli.estimate(COUNTS, "pass^10").frame
    for name in ("estimate", "se", "low", "high"):
        assert rows[name]["pass^10"] == estimated[name][0]
    with pytest.raises(TypeError, match="has no option 'interval'"):
        passk_cli.extrapolate(COUNTS, interval="none")


def test_clusters_widen_the_range(passk: Passk, write: Write) -> None:
    cells = "".join(f"a,{t},20,{t % 5},{t // 6}\n" for t in range(36))
    path = write("x.csv", "model,task,n,c,repo\n" + cells)
    widths = []
    for more in ([], ["--cluster", "repo"]):
        rows = records(passk("extrapolate", path, "--to", "60", *more, "-f", "csv").out)
        row = next(row for row in rows if row["metric"] == "pass@60")
        widths.append(float(row["high"]) - float(row["low"]))
    assert widths[1] > 1.3 * widths[0]


def test_a_hint_names_the_models_that_can_be_predicted(passk: Passk, tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    stopped = [("b", 10, 1 + t % 3) if t < 30 else ("b", 30, 0) for t in range(54)]
    rows = [f"a,t{t},8,{t % 9}" for t in range(20)]
    rows += [f"{model},t{t},{n},{c}" for t, (model, n, c) in enumerate(stopped)]
    path.write_text("\n".join(["model,task,n,c", *rows]))
    result = passk("estimate", path, "-k", "40")
    line = f"extrapolate {path} --to 40"
    assert f"  passk {line}  # predicts k = 40 for 1 of 2 models\n" in result.err
    assert passk(*line.split()).code == 0
