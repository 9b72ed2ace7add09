"""passk extrapolate: what is asked, shown, drawn and refused; goldens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import passk_cli
from passk_cli.commands.extrapolate.prediction import two_digits
from passk_cli.commands.extrapolate.view import Extrapolate
from passk_cli.errors import DataError
from passk_cli.inference.futures import MODELS
from passk_cli.metrics.pass_k import hat_pairs
from passk_cli.outcomes.counts import Counts
from passk_cli.render import style
from passk_cli.report.model import ALWAYS, Estimate, Report
from passk_cli.study.confidence import Confidence
from passk_cli.study.study import Study
from tests.conftest import SAMPLES, Golden, Passk, Write, but, records

COUNTS, TAU, CRUX = (SAMPLES / f for f in ("counts.csv", "tau_airline.csv", "cruxeval.jsonl.gz"))
HOT = [CRUX, "--where", "temperature > 0.5"]
FEW = ["--resamples", "100"]
BOTH = ("pass@k", "pass^k")
COMMANDS: dict[str, list[object]] = {
    "extrapolate-models": ["extrapolate", *HOT, "--target", "0.75", *FEW],
    "extrapolate-weighed": [
        "extrapolate",
        COUNTS,
        "--fit",
        "weighed",
        "--to",
        "100,1000",
        "--target",
        "0.3",
        *FEW,
    ],
    "extrapolate-fit": ["extrapolate", COUNTS, "--fit", "beta", "-m", "pass^k", *FEW],
    "extrapolate-these-tasks": ["extrapolate", COUNTS, "--population", "these-tasks", *FEW],
    "extrapolate-both": ["extrapolate", COUNTS, "-m", "pass@k,pass^k", *FEW],
    "extrapolate-refused": ["extrapolate", TAU],
}


def report_of(counts: Counts, to: tuple[int, ...] = (), **asked: Any) -> Report:
    return Extrapolate(to=to, **asked).report(Study(counts, (), Confidence(resamples=100)))


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
    names = [c.header for c in report.data.columns]
    return [dict(zip(names, row, strict=True)) for row in report.data.rows]


def test_ten_times_the_attempts_by_default() -> None:
    report = report_of(counts_of(), fit="beta")
    names = [c.header for c in report.tables[0].columns]
    assert names[1:5] == ["pass@20", "its interval", "pass@200", "lower bound"]
    assert report.signature["to"] == "200"


def test_the_most_at_the_farthest_k_comes_first() -> None:
    report = report_of(counts_of(models=3), (50,), fit="beta")
    values = [cell.value for cell in column(report, "pass@50") if isinstance(cell, Estimate)]
    assert values == sorted(values, reverse=True)
    assert len(values) == 3
    assert [table.title for table in report.tables if table.shown == ALWAYS] == [""]


def test_each_law_alone_is_a_table_and_drawn_of_a_lone_series() -> None:
    report = report_of(counts_of(), (100,), fit="weighed")
    assert column(report, "prediction", 1) == [f"pass@100 by {name}" for name in MODELS]
    weights = [float(w) for w in column(report, "weight", 1)]  # type: ignore[arg-type]
    assert sum(weights) == pytest.approx(1.0)
    plot = report.plots[0]
    assert {row["kind"] for row in plot.rows} >= {"weighed", "smooth"}
    assert max(point["x"] for point in plot.points) == 20
    assert max(row["x"] for row in plot.rows) == 100
    several = report_of(counts_of(models=2), (100,), fit="beta")
    assert {row["series"] for row in several.plots[0].rows} == {"m0", "m1"}


def test_limits_do_not_turn_back_beyond_the_attempts() -> None:
    rows = facts(report_of(counts_of(), (20, 21, 30, 1000), metrics=BOTH, fit="beta"))
    for family, sign in (("pass@", 1), ("pass^", -1)):
        for limit in ("estimate", "low", "high"):
            values = [float(r[limit]) for r in rows if str(r["metric"]).startswith(family)]  # type: ignore[arg-type]
            if limit != ("high" if sign > 0 else "low"):  # that one is simulated beyond n = 20
                assert np.all(sign * np.diff(values) >= -1e-9), (family, limit)


def test_a_target_within_the_attempts_is_read_off_the_data() -> None:
    counts = counts_of()
    target = float((counts.c / counts.n).mean()) / 2
    rows = facts(report_of(counts, (100,), metrics=BOTH, target=target, fit="beta"))
    at, hat = (r for r in rows if str(r["metric"]).startswith("k for"))
    assert (at["estimate"], at["low"], at["high"], at["note"]) == (1, 1, 1, "")
    k = int(hat["estimate"])  # type: ignore[call-overload]
    assert 1 <= k < 20
    means = [float(hat_pairs(counts.n, counts.c, j).mean()) for j in (k, k + 1)]
    assert means[0] >= target > means[1]


def test_refusal_of_all_is_an_error_and_of_some_a_row_with_a_reason() -> None:
    never = Counts.from_cells([("m0", f"t{t}", 20, 0) for t in range(30)])
    with pytest.raises(DataError, match="m0: no attempt passed"):
        report_of(never)
    cells = [("none", f"t{t}", 20, 0) for t in range(30)]
    cells += [("some", f"t{t}", 20, t % 6) for t in range(30)]
    report = report_of(Counts.from_cells(cells), (100,), fit="beta")
    none = next(r for r in facts(report) if r["model"] == "none")
    assert (none["estimate"], none["metric"], none["tasks"]) == (None, "pass@100", 30)
    assert str(none["note"]).startswith("no attempt passed")
    # The picture says how many it lacks, as the line below the table does.
    assert "1 of 2 models: no prediction of the others" in report.plots[0].subtitle


def test_attempts_that_differ_have_a_column() -> None:
    cells = [("few", f"t{t}", 10, t % 6) for t in range(30)]
    cells += [("many", f"t{t}", 40, t % 6) for t in range(30)]
    report = report_of(Counts.from_cells(cells), (100,), fit="beta")
    assert sorted(column(report, "n")) == [10, 40]  # type: ignore[type-var]
    assert report.tables[0].columns[2].header == "pass@n"
    assert "k = 10–40 predicted from 4–7 attempts" in " · ".join(report.explain())


def test_a_prediction_of_zero_stands_before_those_that_are_none() -> None:
    cells = [("never", f"t{t}", 20, 0) for t in range(30)]
    cells += [("some", f"t{t}", 20, t % 6) for t in range(30)]
    report = report_of(Counts.from_cells(cells), (10,), metrics=("pass^k",), fit="beta")
    assert [row[0] for row in report.tables[0].rows] == ["some", "never"]
    some = column(report, "pass^10")[0]
    assert isinstance(some, Estimate)
    assert some.value == 0.0


@pytest.mark.parametrize("name", but(COMMANDS, "extrapolate-models"))
def test_golden(golden: Golden, name: str) -> None:
    golden(name, COMMANDS[name])


def test_tidy_rows_tell_every_model(passk: Passk) -> None:
    base = ["extrapolate", COUNTS, "--to", "20,100", "--target", "0.3", "--fit", "weighed", *FEW]
    rows = records(passk(*base, "-f", "csv").out)
    by_fit = {(r["metric"].split(" by ")[0], r["fit"]): r for r in rows}
    assert {f for m, f in by_fit if m == "pass@100"} == {"weighed", *MODELS}
    # A k, and a metric, has one answer; the rows of single fits have names of their own.
    assert [r["k"] for r in rows if r["k"]] == ["20", "100"]
    assert [r["metric"] for r in rows if r["fit_k"] == "100"] == [
        f"pass@100 by {m}" for m in MODELS
    ]
    weights = [float(by_fit["pass@100", name]["weight"]) for name in MODELS]
    assert sum(weights) == pytest.approx(1.0)
    mean = sum(
        w * float(by_fit["pass@100", name]["estimate"])
        for w, name in zip(weights, MODELS, strict=True)
    )
    whole = by_fit["pass@100", "weighed"]
    assert float(whole["estimate"]) == pytest.approx(mean)
    assert (whole["beyond"], by_fit["pass@20", "weighed"]["beyond"]) == ("yes", "no")
    assert (whole["backtest_k"], whole["backtest_from"]) == ("20", "5")
    target = by_fit["k for pass@k = 0.3", "weighed"]
    assert int(target["low"]) < int(target["estimate"])
    assert (target["high"], target["note"]) == ("", "high: more than 10⁶")
    document = json.loads(passk(*base, "-f", "json").out)
    assert len(document["rows"]) == len(rows)
    assert document["signature"]["resamples"] == 100


def test_within_the_attempts_it_says_what_estimate_says(passk: Passk) -> None:
    ahead = passk("extrapolate", COUNTS, "--to", "10,100", "--fit", "beta", *FEW, "--full").out
    now = passk("estimate", COUNTS, "-k", "10,20").out
    for shown in ("0.179 [0.081, 0.315]", "[0.091, 0.355]"):
        assert shown in now
        assert shown in ahead


def test_charts(passk: Passk, tmp_path: Path) -> None:
    lone, both = tmp_path / "a.svg", tmp_path / "b.svg"
    base = ["extrapolate", COUNTS, "--target", "0.25", *FEW]
    assert passk(*base, "--chart", lone).code == 0
    for text in (
        "pass@k beyond the attempts made",
        "target 0.25",
        "attempts made",
        ">assumption-free bound<",
        ">measured<",
        ">prediction<",
        ">its interval<",
    ):
        assert text in lone.read_text()
    assert passk(*base, "-m", "pass@k,pass^k", "--fit", "beta", "--chart", both).code == 0
    assert both.read_text().count(">pass^k<") == 1


def test_the_bound_is_drawn_beyond_the_attempts_alone() -> None:
    (plot,) = report_of(counts_of(), fit="beta").plots
    bound = [row for row in plot.rows if row["kind"] == "assumption-free bound"]
    curve = {row["x"]: row["y"] for row in plot.rows if row["kind"] == "beta"}
    assert min(row["x"] for row in bound) == 20
    assert all(row["y"] <= curve[row["x"]] for row in bound)
    # It is of all attempts, so it is drawn where all of them are counted.
    cells = [("m", f"t{t}", 40 if t % 8 else 5, (40 if t % 8 else 5) * (t % 3) // 8)
             for t in range(80)]  # fmt: skip
    (plot,) = report_of(Counts.from_cells(cells), fit="beta", to=(50,)).plots
    bound = [row for row in plot.rows if row["kind"] == "assumption-free bound"]
    curve = {row["x"]: row["y"] for row in plot.rows if row["kind"] == "beta"}
    assert min(row["x"] for row in bound) >= 40
    assert all(row["y"] <= curve[row["x"]] for row in bound)


def test_the_answer_is_about_tasks_that_all_models_have() -> None:
    solved = {"a": [1, 2, 3] * 8 + [0] * 36, "b": [1, 2, 3] * 6 + [0] * 22}
    cells = [(m, f"t{t}", 20, c) for m, every in solved.items() for t, c in enumerate(every)]
    report = report_of(Counts.from_cells(cells), fit="beta")
    alone = report_of(Counts.from_cells([c for c in cells if int(c[1][1:]) < 40]), fit="beta")
    assert column(report, "model")[0] == "b"
    (words, *_, number, _), (*_, expected, _) = report.answer[0], alone.answer[0]
    assert words == "pass@200 by the beta fit on the 40 tasks that all models have ranges from "
    assert number.value == pytest.approx(expected.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--fit", "gamma"],
            "--fit gamma: choose one of ex-gaussian, weighed, smooth, beta, beta+0",
        ),
        (["--to", "0"], "--to 0: write a whole number, at least 1"),
        (["--to", "1e4"], "--to 1e4: write a whole number"),
        (["--to", "2000000000"], "--to 2000000000: write a whole number, at least"),
        (["--to", ""], "--to: it is empty"),
        (["--target", "90"], "--target 90: it must lie between 0 and 1"),
        (["--target", "nan"], "--target nan: write a number"),
        (["-m", "maj@3"], "-m maj@3: pass@k and pass^k can be extrapolated"),
        (["--bounds", "0,1"], "no such option: --bounds"),
        (["--level", "2"], "--level 2: it must lie between 0 and 1, as 0.95"),
    ],
)
def test_usage(passk: Passk, options: list[str], message: str) -> None:
    done = passk("extrapolate", COUNTS, *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_the_help_names_every_model(passk: Passk) -> None:
    assert ", ".join(MODELS) in " ".join(passk("extrapolate", "--help").out.split())


def rows_of(model: str, cells: list[tuple[int, int]]) -> str:
    return "".join(f"{model},{t},{n},{c}\n" for t, (n, c) in enumerate(cells))


def test_sampling_in_batches_that_end_with_a_pass_is_refused(passk: Passk, write: Write) -> None:
    cells = [(10, 1 + t % 3) for t in range(30)] + [(30, t % 9 * (t % 2)) for t in range(24)]
    path = write("x.csv", "model,task,n,c\n" + rows_of("a", cells))
    done = passk("extrapolate", path, "--fit", "beta", *FEW)
    assert (done.code, done.out) == (3, "")
    assert done.err == (
        "error[unusable-data]: a: sampling seems to have stopped"
        " when a task passed (30 of 54 tasks have fewer"
        " than 30 attempts), so the number of attempts depends on the outcomes; usable are the"
        " first 10 attempts at every task: keep these alone, or make 30 at every task\n"
    )
    first = [(10, c if n == 10 else 0) for n, c in cells]
    path = write("y.csv", "model,task,n,c\n" + rows_of("a", first))
    assert passk("extrapolate", path, "--fit", "beta", *FEW).code == 0


def test_models_that_cannot_be_predicted_stand_aside(passk: Passk, write: Write) -> None:
    good = [(20, t % 7) for t in range(30)]
    text = (
        rows_of("good", good) + rows_of("never", [(20, 0)] * 30) + rows_of("brief", [(3, 1)] * 30)
    )
    path = write("x.csv", "model,task,n,c\n" + text)
    done = passk("extrapolate", path, "--fit", "beta", "--target", "0.9", *FEW)
    assert done.code == 0
    assert "[no-prediction]: no prediction for never: no attempt passed" in done.err
    assert "no prediction for brief: 3 attempts per task are too few to fit" in done.err
    assert [line.split()[0] for line in done.out.splitlines()[3:6]] == ["good", "brief", "never"]
    alone = passk("extrapolate", path, "--model", "never")
    assert (alone.code, alone.out) == (3, "")
    assert alone.err.startswith("error[unusable-data]: never: no attempt passed")


@pytest.mark.parametrize(
    ("options", "sentences"),
    [
        (
            ["--to", "1000", "--target", "0.3", "--percent"],
            "k for pass@k = 30.0 % of starcoder-15b-racket: 130 [8, 3,400] by the ex-gaussian fit.",
        ),
        (
            ["--to", "1000", "-m", "pass^k", "--fit", "beta"],
            "pass^1000 of starcoder-15b-racket: 0.014 [0.000, 0.101] by the beta fit.",
        ),
        (
            ["--to", "10", "--fit", "beta"],
            "pass@10 of starcoder-15b-racket: 0.179 [0.081, 0.315], within the attempts made.",
        ),
        (
            ["-m", "pass^k", "--fit", "beta", "--target", "0.9"],
            "k up to which pass^k ≥ 0.900 of starcoder-15b-racket: 0 [0, 0]; at k = 1 it is less"
            " already.",
        ),
    ],
)
def test_the_answer_comes_first(passk: Passk, options: list[object], sentences: str) -> None:
    assert passk("extrapolate", COUNTS, *options, *FEW).out.splitlines()[0] == sentences


def test_the_answer_of_several_models() -> None:
    def said(models: int, **asked: Any) -> str:
        report = report_of(counts_of(models=models), (100,), fit="beta", **asked)
        return style.answer(report, style.Style(digits=1))

    assert said(2) == "pass@100 is highest for m1: 1.0 by the beta fit."
    assert said(4) == (
        "pass@100 by the beta fit ranges from 0.9 (m0) to 1.0 (m2); the interval of m2"
        " overlaps with those of m3, m1."
    )
    assert said(4, target=0.9).endswith("; its interval overlaps with that of m2.")
    assert said(4, target=0.3).startswith(
        "k for pass@k = 0.3 is lowest for m2, m3, m1: 1 [1, 1], within the attempts made."
    )


def test_a_law_that_counts_contradict_is_not_assumed_in_silence() -> None:
    report = report_of(lumps(), (1_000,))
    (row,) = report.tables[0].rows
    assert "weighed" in row
    assert style.answer(report, style.Style()).endswith(" by the weighed fit.")
    (warning,) = (said for said in report.warnings if said.name == "contradicted-law")
    assert warning.fields["weighed"]


def test_what_qualifies_the_numbers_is_said(passk: Passk, write: Write) -> None:
    cells = [(20, 1 + t % 19) for t in range(27)] + [(8, 3)] * 3
    path = write("x.csv", "model,task,n,c\n" + rows_of("a", cells))
    both = ["-m", "pass@k,pass^k", "--fit", "beta"]
    done = passk("extrapolate", path, "--to", "100000", *both, *FEW, "-v")
    assert "[fewer-attempts]: 3 tasks of a have fewer attempts than the others" in done.err
    assert "every task of a has passed; pass@k stays" in done.err
    assert "every task of a has failed; pass^k stays" in done.err
    assert done.err.count("beyond 1,000 times the attempts of a,") == 1
    assert done.err.count("one fit, beta: intervals hold only if success rates follow this") == 1


def test_python_gives_what_the_command_line_prints(passk: Passk) -> None:
    done = passk("extrapolate", COUNTS, "--to", "10,100", "-m", "pass^k", "--target", "0.1", *FEW)
    findings = passk_cli.extrapolate(
        passk_cli.read(COUNTS), to=[100, np.int64(10)], metrics="pass^k", target=0.1, resamples=100
    )
    assert f"{findings}\n" == done.out.replace("--full", ".tables")
    assert findings.signature["to"] == "10,100"
    rows = findings.frame.set_index("metric")
    assert rows.interval["pass^10"] == "guard"
    assert rows.interval["pass^100"] == "refits"
    assert findings.frame.dropna(subset="k").set_index("k").loc[100, "interval"] == "refits"
    assert set(rows.interval[rows.fit_k == 100]) == {"none"}
    estimated = passk_cli.estimate(COUNTS, "pass^10").frame
    for name in ("estimate", "se", "low", "high"):
        assert rows[name]["pass^10"] == estimated[name][0]
    with pytest.raises(TypeError, match="has no option 'interval'"):
        passk_cli.extrapolate(COUNTS, interval="none")


def test_clusters_and_seeds(passk: Passk, write: Write) -> None:
    cells = "".join(f"a,{t},20,{t % 5},{t // 6}\n" for t in range(36))
    path = write("x.csv", "model,task,n,c,repo\n" + cells)
    base = ["extrapolate", path, "--fit", "beta", *FEW, "-f", "csv"]
    plain, clustered = passk(*base).out, passk(*base, "--cluster", "repo").out
    assert plain == passk(*base).out
    assert plain != passk(*base, "--seed", "5").out
    assert plain != clustered


def lumps(tasks: int = 90) -> Counts:
    """Rates of 0.6, 0.02 and 0.0003 in turn: nothing that an ex-Gaussian law could give."""
    passes = np.random.default_rng(0).binomial(100, np.tile([0.6, 0.02, 0.0003], tasks // 3))
    return Counts.from_cells([("m", f"t{t}", 100, int(c)) for t, c in enumerate(passes)])


def test_rates_spread_otherwise_widen_the_interval_and_say_so() -> None:
    report = report_of(lumps(), (1_000,))
    assert [said.name for said in report.warnings] == ["contradicted-law"]
    whole, law, weighed = [r for r in facts(report) if "pass@1000" in str(r["metric"])][:3]
    assert (whole["k"], law["k"], law["fit_k"]) == (1000, None, 1000)
    assert [r["metric"] for r in (whole, law)] == ["pass@1000", "pass@1000 by ex-gaussian"]
    assert (whole["fit"], whole["interval"]) == ("weighed", "hull")
    assert (law["fit"], law["interval"]) == ("ex-gaussian", "posterior")
    assert whole["estimate"] == weighed["estimate"]
    assert (weighed["fit"], weighed["interval"]) == ("weighed", "refits")
    lows, highs = ([float(r[x]) for r in (whole, law, weighed)] for x in ("low", "high"))  # type: ignore[arg-type]
    assert (lows[0], highs[0]) == (min(lows[1:]), max(highs[1:]))
    assert float(whole["misfit"]) > float(whole["misfit_limit"])  # type: ignore[arg-type]
    assert column(report, "prediction", 1)[:2] == [
        "pass@1000 by ex-gaussian", "pass@1000 by weighed",
    ]  # fmt: skip


def test_the_interval_for_any_rare_tasks_starts_where_the_attempts_end(passk: Passk) -> None:
    asked = ["estimate", COUNTS, "-m", "pass@20,pass^20", "-f", "csv"]
    now = {r["metric"]: r for r in records(passk(*asked).out)}
    done = passk("extrapolate", COUNTS, "-m", "pass@k,pass^k", "--to", "100", *FEW, "-f", "csv")
    read = records(done.out)
    rows = {r["metric"]: r for r in read if r["fit"] in ("ex-gaussian", "weighed")}
    at, hat = rows["pass@100"], rows["pass^100"]
    assert (at["rare_low"], at["rare_high"]) == (now["pass@20"]["low"], "1.0")
    assert hat["rare_low"] == "0.0"
    # Intervals made together differ in their last digit from those made one by one.
    assert float(hat["rare_high"]) == pytest.approx(float(now["pass^20"]["high"]), rel=1e-13)


def test_any_rare_tasks_with_unequal_attempts() -> None:
    """A task counts by its attempts, at most k of them: solved at all, or 1 − C(n−c,k)/C(n,k)."""
    cells = [("m", f"t{t}", 20, t % 5) for t in range(38)] + [("m", "x", 60, 4), ("m", "y", 8, 0)]
    counts = Counts.from_cells(cells)
    study = Study(counts, (), Confidence(resamples=100, population="these-tasks"))
    row = facts(Extrapolate(to=(40,), fit="beta").report(study))[-1]
    n, c = counts.n, counts.c
    by_hand = np.where(n >= 40, 1 - hat_pairs(n, n - c, 40), c > 0)
    by_hand = by_hand.mean()
    assert row["rare_low"] == pytest.approx(by_hand)
    assert row["rare_high"] == 1.0


@pytest.mark.parametrize(
    ("k", "up", "shown"),
    [(None, True, "more than 10⁶"), (17, True, 17), (21, True, 21), (514, True, 520),
     (514, False, 510), (123_456, True, 130_000), (995, True, 1_000), (0, False, 0)],
)  # fmt: skip
def test_a_targets_k_has_two_digits(k: float | None, up: bool, shown: object) -> None:
    assert two_digits(k, 20, up=up) == shown


def test_of_some_models_too_it_is_offered_with_their_number(passk: Passk, tmp_path: Path) -> None:
    """Of another model no task is flaky, or there are too few attempts."""
    path = tmp_path / "counts.csv"
    rows = [
        f"{model},t{t},{n},{t % (n + 1)}" for model, n in (("a", 8), ("b", 2)) for t in range(20)
    ]
    path.write_text("\n".join(["model,task,n,c", *rows]))
    done = passk("estimate", path, "-k", "20")
    line = f"extrapolate {path} --to 20"
    assert f"  passk {line}  # predicts k = 20 for 1 of 2 models\n" in done.err
    assert passk(*line.split()).code == 0


def test_a_bound_beyond_the_attempts_stands_beside_none_within(passk: Passk, write: Write) -> None:
    rows = "\n".join(f"a,t{t},8,{t % 9}" for t in range(12))
    path = write("counts.csv", f"model,task,n,c\n{rows}\n")
    assert "bound" not in passk("extrapolate", path, "--to", "4", "-q").out
    assert "bound" in passk("extrapolate", path, "--to", "20", "-q").out
