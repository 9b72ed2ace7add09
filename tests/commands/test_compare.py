"""Comparisons on real data and on data whose answer is known."""

from __future__ import annotations

import json
import random
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import passk_cli
from passk_cli import limits
from passk_cli.errors import ParameterError
from passk_cli.inference.discordance import score_limits, suissa_shuster
from passk_cli.inference.ranking import (
    compact_letters,
    first_k_of_lead_change,
    lead_shares,
    rank_limits,
)
from passk_cli.study import rank_resampling
from tests.conftest import CRUXEVAL, SAMPLES, Passk, Write, records

SEVEN = ["phi-2", "codellama-7b", "deepseek-base-6.7b", "codellama-13b", "deepseek-base-33b",
         "gpt-3.5-turbo-0613", "gpt-4-0613"]  # fmt: skip
FILES = [f"{m}={CRUXEVAL / f'{m}_temp0.2.json.gz'}" for m in SEVEN]


def pairs(text: str) -> dict[tuple[str, str, str], dict[str, str]]:
    return {(r["model"], r["against"], r["metric"]): r for r in records(text)}


@pytest.mark.long
def test_seven_cruxeval_models(passk: Passk) -> None:
    actual = pairs(passk("compare", *FILES, "-m", "pass@1", "-f", "csv").out)
    assert len(actual) == 21
    better = actual["gpt-4-0613", "gpt-3.5-turbo-0613", "pass@1"]
    assert (better["verdict"], better["letters"], better["leads"]) == ("better", "a", "1.0")
    close = actual["codellama-13b", "deepseek-base-6.7b", "pass@1"]
    assert close["verdict"] == "tied"
    assert float(close["estimate"]) == pytest.approx(0.424875 - 0.418625, abs=1e-12)
    assert float(close["p"]) == pytest.approx(0.63, abs=0.02)
    assert set(close["letters"]) & set(close["letters_against"])


@pytest.mark.long
def test_baseline_numbers_as_computed_elsewhere(passk: Passk) -> None:
    """Differences, limits (normal, elsewhere) and p-values of 20,000 sign flips."""
    base = ["compare", *FILES, "--baseline", "codellama-13b", "-k", "1,10", "-f", "csv"]
    two = ["--model", "gpt-4-0613", "--model", "phi-2"]
    actual = pairs(passk(*base, *two, "--adjust", "none").out)
    adjusted = pairs(passk(*base).out)
    for model, metric, difference, low, high in (
        ("gpt-4-0613", "pass@1", 0.273, 0.237, 0.309),
        ("phi-2", "pass@1", -0.109, -0.137, -0.080),
        ("gpt-4-0613", "pass@10", 0.194, 0.155, 0.232),
        ("phi-2", "pass@10", -0.105, -0.142, -0.068),
    ):
        row = actual[model, "codellama-13b", metric]
        assert float(row["estimate"]) == pytest.approx(difference, abs=6e-4)
        assert float(row["low"]) == pytest.approx(low, abs=2e-3)
        assert float(row["high"]) == pytest.approx(high, abs=2e-3)
    for metric, p in (("pass@1", 0.63), ("pass@10", 0.82), ("pass^10", 0.044)):
        row = adjusted["deepseek-base-6.7b", "codellama-13b", metric]
        assert float(row["p"]) == pytest.approx(p, abs=0.02)
        assert row["verdict"] == "tied"


def test_margin_makes_equivalent(passk: Passk) -> None:
    two = [f for f in FILES if "deepseek-base-6.7b" in f or "codellama-13b" in f]
    result = passk("compare", *two, "-m", "pass@1", "--margin", "0.05", "-f", "csv")
    assert records(result.out)[0]["verdict"] == "equivalent"


def test_one_attempt_per_task_is_suissa_and_shuster(passk: Passk, write: Write) -> None:
    text = "model,task,passed\n" + "".join(
        f"{m},t{t},{int(t < (12 if m == 'a' else 5) or (m == 'b' and t == 15))}\n"
        for m in "ab" for t in range(20)
    )  # fmt: skip
    path = write("x.csv", text)
    row = records(passk("compare", path, "-f", "csv").out)[0]
    # 7 tasks only a passes, 1 only b does
    assert (row["test"], row["interval"]) == ("suissa-shuster", "paired-score")
    assert float(row["p"]) == suissa_shuster(20, 7, 1)
    assert (float(row["low"]), float(row["high"])) == score_limits(20, 7, 1)
    assert float(row["low"]) > 0
    row = records(passk("compare", path, "--test", "sign-flip", "-f", "csv").out)[0]
    # 2 (C(8,0) + C(8,1)) / 2⁸
    assert row["test"] == "mcnemar"
    assert float(row["p"]) == pytest.approx(2 * 9 / 256, rel=1e-12)


def test_p_decides_where_the_interval_disagrees(passk: Passk, write: Write) -> None:
    """7 against 1 of 20: Tango's interval leaves out 0, McNemar's p is 0.07."""
    text = "model,task,passed\n" + "".join(
        f"{m},t{t},{int(t < (12 if m == 'a' else 5) or (m == 'b' and t == 15))}\n"
        for m in "ab" for t in range(20)
    )  # fmt: skip
    path = write("x.csv", text)
    assert "verdicts-by-p" not in passk("compare", path).err
    words = (
        "[verdicts-by-p]: 1 interval disagrees with the verdict, which follows p (a − b at pass@1)"
    )
    assert words in passk("compare", path, "--test", "sign-flip").err
    more = text.replace("model,task,passed\n", "").replace("a,t", "c,t")
    path = write("y.csv", text + "".join(f"{line}\n" for line in more.split() if line[0] == "c"))
    holm = passk("compare", path, "--adjust", "holm").err
    assert "note[verdicts-by-p]: 2 intervals disagree with the verdict, which follows p\n" in holm


def test_suissa_and_shuster_needs_values_of_0_and_1(passk: Passk) -> None:
    refused = passk("compare", *FILES[:2], "-m", "pass@1", "--test", "suissa-shuster")
    assert refused.code == 2
    assert "values of pass@1 can lie between 0 and 1 (neither n = 1 nor k = n)" in refused.err
    result = passk("compare", *FILES[:2], "-m", "pass@1,pass@10", "-f", "csv").out
    assert [row["test"] for row in records(result)] == ["guarded-t", "suissa-shuster"]


def test_many_models_have_a_line_each_and_pairs_are_full(passk: Passk, write: Write) -> None:
    """Thirty models make 435 pairs; the best one differs from 29."""
    draw = random.Random(1)
    rows = [
        f"m{i},t{t},10,{10 if i == 0 else draw.randrange(3, 7)}"
        for i in range(30)
        for t in range(30)
    ]
    path = write("many.csv", "\n".join(["model,task,n,c", *rows]))
    lines = passk("compare", path, "-m", "pass@1").out.splitlines()
    assert lines[0].startswith("m0 leads at pass@1 by 0.5")
    assert "; 406 of the other 434 pairs tie." in lines[0]
    assert [line.split()[0] for line in lines[3:33]] == ["1", *["2–30"] * 29]
    assert (lines[33], "pairs: --full" in lines[34], len(lines)) == ("", True, 35)
    full = passk("compare", path, "-m", "pass@1", "--full").out
    table = full.split("\nPairs\n")[1].split("\n\n")[0].splitlines()
    assert len(table) == 1 + 435
    assert table[0].split() == [
        "model", "against", "metric", "estimate", "of", "other", "difference", "p", "verdict",
    ]  # fmt: skip
    few = write("few.csv", "\n".join(["model,task,n,c", *rows[:90]]))
    assert len(passk("compare", few, "-m", "pass@1").out.splitlines()) == 8


def test_unpaired_tasks(passk: Passk, write: Write) -> None:
    text = "model,task,passed\na,1,1\na,2,0\na,3,1\nb,2,1\nb,3,0\nb,4,0\n"
    path = write("x.csv", text)
    result = passk("compare", path, "-f", "csv")
    row = records(result.out)[0]
    assert (row["tasks"], row["only_model"], row["only_against"]) == ("2", "1", "1")
    lacking = "models lack tasks that other models have (a 1 of 4, b 1 of 4): "
    assert f"warning[models-lack-tasks]: {lacking}" in result.err
    refused = passk("compare", path, "--unpaired", "error")
    assert (refused.code, "only the first model has 1 of the tasks" in refused.err) == (3, True)


def test_tasks_that_models_lack_stand_beside_their_numbers(passk: Passk, write: Write) -> None:
    baseline_rows = "".join(f"old,t{t:02},10,{10 - t}\n" for t in range(10))
    part = "".join(f"new,t{t:02},10,{10 - t}\n" for t in range(4))
    rivals = "".join(f"mid,t{t:02},10,{10 - (t ^ 1)}\n" for t in range(10))
    data = write("lost.csv", "model,task,n,c\n" + baseline_rows + part + rivals)
    against = passk("compare", data, "-m", "pass@1", "--baseline", "old").out.splitlines()[3:]
    # The baseline on its own ten tasks; the new run and the difference on the four shared ones.
    assert against[1].split() == ["old", "0.550", "baseline", "10"]
    assert against[3].split()[:3] == ["new", "~", "0.000"]
    assert against[3].split()[-1] == "4"
    ranking = [line.split() for line in passk("compare", data, "-m", "pass@1").out.splitlines()[2:]]
    # Equal on the tasks that two of them have, so by name.
    assert (ranking[1][1:3], ranking[1][-1]) == (["mid", "0.550"], "10")
    assert (ranking[2][1:3], ranking[2][-1]) == (["new", "0.850"], "4")


def test_models_rank_by_what_they_share(passk: Passk, write: Write) -> None:
    """The one that lacks the difficult tasks has the highest rate, and passes fewest of each."""
    rates = {"a": (16, 10), "b": (18, 12), "c": (15,)}
    cells = [(m, f"{hard}{t}", 20, c) for m, entry in rates.items()
             for hard, c in enumerate(entry) for t in range(9)]  # fmt: skip
    data = write("x.csv", "\n".join(["model,task,n,c", *(",".join(map(str, r)) for r in cells)]))
    result = passk("compare", data, "-m", "pass@1")
    ranking = [line.split() for line in result.out.splitlines()[2:6]]
    assert [line[1:3] for line in ranking[1:]] == [["b", "0.750"], ["a", "0.650"], ["c", "0.750"]]
    best = passk("estimate", data, "-m", "pass@1")
    words = "b scores highest on the 9 tasks that all models have: pass@1 0.900"
    assert best.out.startswith(words)
    assert ". The rows of the table use all tasks of each model.\n" in best.out
    assert (
        "warning[models-lack-tasks]: models lack tasks that other models have (c 9 of 18)"
        in best.err
    )
    pairs = passk("compare", data, "-m", "pass@1", "--model", "a", "--model", "c", "-f", "csv")
    assert [(row["model"], row["against"]) for row in records(pairs.out)] == [("a", "c")]


def test_crossing_of_the_article(passk: Passk, write: Write) -> None:
    """65 % at k=1 and 90 % at k=10 against 70 % and 75 %: the first overtakes."""
    lines = ["model,task,n,c"]
    for t in range(100):
        lines.append(f"wide,t{t},10,{(10 if t < 35 else 5 if t < 92 else 0)}")
        lines.append(f"sure,t{t},10,{(10 if t < 68 else 2 if t < 76 else 0)}")
    path = write("x.csv", "\n".join(lines))
    result = passk("compare", path, "-k", "1,10", "--crossings", "-f", "json")
    row = json.loads(result.out)["rows"][0]
    assert row["crosses_at"] == 2
    assert row["crosses_low"] <= 2
    assert row["crosses_high"] is None or row["crosses_high"] >= 2
    assert "k = 2" in passk("compare", path, "--crossings").out
    two = [
        "--model",
        "codellama-7b",
        "--model",
        "gpt-4-0613",
        "-m",
        "pass@1",
        "--pool",
        "temperature",
    ]
    never = passk("compare", SAMPLES / "cruxeval.jsonl.gz", *two, "--crossings").out
    assert "none up to k = 20" in never


def test_curves_of_metrics_without_values_do_not_cross(passk: Passk, write: Write) -> None:
    """Two attempts are too few for pass@4: its curve is not there, those of the others are."""
    draws = [(m, t, n, t % 3) for m, n in (("a", 2), ("b", 4), ("c", 4)) for t in range(6)]
    path = write("x.csv", cells(draws))
    result = passk("compare", path, "-m", "pass@4", "--crossings")
    assert (result.code, result.out.count("none up to k = 4")) == (0, 2)


def test_groups_and_sensitivity(passk: Passk, write: Write) -> None:
    rng = np.random.default_rng(0)
    lines = ["model,task,kind,n,c"]
    for t in range(60):
        kind = "easy" if t < 30 else "hard"
        for model, lift in (("a", 0.4 if kind == "easy" else 0.0), ("b", 0.0)):
            lines.append(f"{model},t{t},{kind},8,{rng.binomial(8, 0.4 + lift)}")
    path = write("x.csv", "\n".join(lines))
    result = passk("compare", path, "-m", "pass@1", "--by", "kind")
    assert (result.err, "min-P over 2 tests" in result.out) == ("", True)
    result = passk("compare", path, "-m", "pass@1", "--by", "kind", "--adjust", "none")
    assert "note[unadjusted-groups]: 2 groups are compared without adjustment" in result.err
    result = passk("compare", path, "-m", "pass@1", "--sensitivity", "kind")
    assert "Verdicts without each kind, and with half of the attempts" in result.out
    line = next(x for x in result.out.splitlines() if "easy (" in x)
    assert line.split()[:4] == ["a", "b", "pass@1", "better"]
    assert "1 of 2" in line
    assert "easy (tied)" in line


def test_half_of_unequal_attempts_is_tested_as_such(passk: Passk, unequal: Path) -> None:
    """100 against 10 halves to 50 against 5: no verdict may come of that."""
    kinds = unequal.with_name("kinds.csv")
    head, *lines = unequal.read_text().splitlines()
    of = [f"{line},{'xy'[i // 2 % 2]}" for i, line in enumerate(lines)]
    kinds.write_text("\n".join([f"{head},kind", *of]))
    result = passk("compare", kinds, "-m", "pass@5", "--sensitivity", "kind")
    line = next(x for x in result.out.splitlines() if "2 of 2" in x)
    assert line.split()[3:] == ["tied", "2", "of", "2", "none", "tied"]


def test_clusters_are_the_units(passk: Passk, write: Write) -> None:
    """Four clusters that all favour a by ½ or ¾: t with 3 degrees of freedom, whatever T is."""
    lines = ["model,task,repo,n,c"]
    for t in range(40):
        lines += [f"a,t{t},r{t % 4},4,{3 + t % 2}", f"b,t{t},r{t % 4},4,1"]
    path = write("x.csv", "\n".join(lines))
    base = ["compare", path, "-m", "pass@1", "-f", "csv"]
    # The lump that four clusters may have missed is 2/3 of a cluster's share.
    error = ((1 / 8) ** 2 * (4 / 3) / 4 + 2 * (2 / 3) / 16) ** 0.5
    expected = 2 * stats.t.sf(5 / 8 / error, 3)
    assert float(records(passk(*base, "--cluster", "repo").out)[0]["p"]) == pytest.approx(expected)
    flips = records(passk(*base, "--cluster", "repo", "--test", "sign-flip").out)
    assert float(flips[0]["p"]) == 2 / 16
    assert float(records(passk(*base).out)[0]["p"]) < 1e-6
    result = passk(*base)
    assert "told apart" not in result.err
    gate = ["gate", path, "--baseline", "a", "--no-regression", "-m", "pass@1"]
    assert passk(*gate).code == 1
    assert passk(*gate, "--cluster", "repo").code == 0


def cells(path_rows: list[tuple[str, int, int, int]]) -> str:
    return "\n".join(["model,task,n,c", *(f"{m},t{t},{n},{c}" for m, t, n, c in path_rows)])


@pytest.fixture
def unequal(write: Write) -> Path:
    """Fifty tasks with the same success rates for both, 100 attempts against 10."""
    rng = np.random.default_rng(0)
    draws = []
    for t, p in enumerate(rng.beta(9, 1, 50)):
        draws += [("A", t, 100, rng.binomial(100, p)), ("B", t, 10, rng.binomial(10, p))]
    return write("unequal.csv", cells(draws))


def test_attempts_that_differ_are_no_difference(passk: Passk, unequal: Path) -> None:
    result = passk("compare", unequal, "-m", "pass@10", "--crossings", "-v")
    assert " test=guarded-t " in result.out
    assert "–: different numbers of attempts" in result.out
    row = records(passk("compare", unequal, "-m", "pass@10", "--crossings", "-f", "csv").out)[0]
    assert (row["test"], row["verdict"]) == ("guarded-t", "tied")
    assert (row["letters"], row["letters_against"], row["leads"]) == ("a", "a", "")
    assert (row["rank_low"], row["rank_high"]) == ("1", "2")
    assert float(row["p"]) > 0.9
    assert row["crosses_low"] == row["crosses_high"] == ""
    gate = passk("gate", unequal, "--baseline", "A", "--no-regression", "-m", "pass@10")
    assert gate.code == 0
    gate = passk("gate", unequal, "--baseline", "B", "--no-regression", "-m", "pass@10")
    assert gate.code == 0


def test_bootstrap_names_no_best_where_attempts_differ(passk: Passk, unequal: Path) -> None:
    base = ["bootstrap", unequal, "-m", "pass@10", "--resamples", "200"]
    assert {row["leads"] for row in records(passk(*base, "-f", "csv").out)} == {""}
    assert 'column "first in resamples" is empty, because models' in passk(*base, "-v").err
    single = passk(*base, "--model", "A")
    assert "first in resamples" not in single.err


@pytest.mark.parametrize("test", ["sign-flip", "mid-p"])
def test_a_test_that_needs_equal_attempts_is_refused(
    passk: Passk, unequal: Path, test: str
) -> None:
    result = passk("compare", unequal, "-m", "pass@10", "--test", test)
    assert result.code == 2
    assert f"--test {test}: attempts differ at 50 of 50 shared tasks" in result.err
    assert "have different distributions\n" in result.err


def test_p_and_interval_agree(passk: Passk, write: Write) -> None:
    rng = np.random.default_rng(3)
    draws = []
    for model in range(6):
        for t, p in enumerate(rng.beta(2, 2, 25)):
            draws.append((f"m{model}", t, n := 4 + model, rng.binomial(n, p ** (1 + model / 3))))
    path = write("x.csv", cells(draws))
    for level, adjust in product(("0.8", "0.95"), ("none", "min-p")):
        result = passk(
            "compare", path, "-k", "1,4", "--adjust", adjust, "--level", level, "-f", "csv"
        )
        actual = records(result.out)
        for row in actual:
            separate = float(row["low"]) > 0 or float(row["high"]) < 0
            assert row["test"] in ("guarded-t", "suissa-shuster")
            assert (row["verdict"] in ("better", "worse")) == separate
        assert {row["verdict"] for row in actual} >= {"better", "tied"}


def test_scores_without_bounds_where_attempts_differ(passk: Passk, write: Write) -> None:
    lines = ["model,task,score"]
    for t in range(6):
        lines += [f"a,t{t},0.{t}", f"a,t{t},0.5", f"b,t{t},0.2"]
    path = write("x.csv", "\n".join(lines))
    result = passk("compare", path, "-m", "mean", "-f", "csv")
    # Six tasks of which several carry the difference, and its tail is above: t.
    expected = stats.ttest_1samp([(t / 10 + 0.5) / 2 - 0.2 for t in range(6)], 0.0)
    (row,) = records(result.out)
    assert (row["test"], row["interval"]) == ("guarded-t", "guarded-t")
    carried = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3]
    square, fourth = sum(x**2 for x in carried), sum(x**4 for x in carried)
    (bounded,) = records(passk("compare", path, "-m", "mean", "--bounds", "0,1", "-f", "csv").out)
    assert float(bounded["p"]) == pytest.approx(expected.pvalue)
    # Without bounds a lump is as large as the largest difference; here it is not looked for below.
    assert float(row["p"]) == pytest.approx(expected.pvalue)
    upper = ((5 - square**2 / fourth) / 3 * 2 * 0.3**2 / 36 + expected._standard_error**2) ** 0.5
    assert float(row["high"]) == pytest.approx(0.175 + stats.t.ppf(0.975, 5) * upper)


def test_these_tasks_permute_attempts(passk: Passk, write: Write) -> None:
    """Four tasks, 40 attempts: too few for other tasks, and for these the difference is plain."""
    draws = [(m, t, 40, c + t) for t in range(4) for m, c in (("a", 30), ("b", 12))]
    path = write("x.csv", cells(draws))
    these_tasks = ["compare", path, "-m", "pass@1", "--population", "these-tasks"]
    row = records(passk(*these_tasks, "-f", "csv").out)[0]
    assert (row["test"], row["verdict"]) == ("within-tasks", "better")
    assert float(row["p"]) < 1e-6
    assert "for these tasks" in passk(*these_tasks).out
    assert "test: attempts permuted within tasks" in passk(*these_tasks, "--full").out
    assert row["interval"] == "hull"
    assert records(passk(*these_tasks[:4], "-f", "csv").out)[0]["verdict"] == "tied"
    refused = passk(*these_tasks, "--test", "sign-flip")
    assert (refused.code, "this test is about new tasks" in refused.err) == (2, True)
    refused = passk(*these_tasks[:4], "--test", "within-tasks")
    assert (refused.code, "--population these-tasks  # tests" in refused.err) == (2, True)


def test_these_tasks_permute_answers_and_scores(passk: Passk, write: Write) -> None:
    lines = ["model,task,answer,score,passed"]
    for t in range(4):
        for i in range(4):
            lines += [f"a,t{t},{i // 3},{i},{i // 3}", f"b,t{t},2,{i - 3},0"]
        lines.append(f"b,t{t},2,0,0")  # five attempts: the number may differ
    path = write("x.csv", "\n".join(lines))
    these_tasks = ["compare", path, "-m", "maj@1,best@2", "--population", "these-tasks"]
    result = passk(*these_tasks, "--bounds", "-5,5", "--full")
    assert "maj@1, best@2: equal models give every answer, score equally often" in result.out
    actual = records(passk(*these_tasks, "--bounds", "-5,5", "-f", "csv").out)
    assert [(r["test"], r["metric"]) for r in actual] == [
        ("within-tasks", "maj@1"), ("within-tasks", "best@2")
    ]  # fmt: skip
    # Two-sided: in every task the one right answer of nine is in the first model's hand of four.
    assert float(actual[0]["p"]) == pytest.approx(2 * (4 / 9) ** 4, rel=1e-9)
    assert actual[1]["verdict"] == "better"


def test_these_tasks_refuse_metrics_of_the_order(passk: Passk, write: Write) -> None:
    lines = ["model,task,attempt,passed"]
    lines += [f"{m},t{t},{i},{(i + t) % 2}" for m in "ab" for t in range(4) for i in range(4)]
    path = write("x.csv", "\n".join(lines))
    result = passk("compare", path, "-m", "first@2", "--population", "these-tasks")
    assert result.code == 2
    assert "first@2 depends on the order of attempts" in result.err


def test_pairs_that_cannot_differ_do_not_count(passk: Passk) -> None:
    """Seven models that pass everything and one that does not: 21 pairs cannot differ."""
    agents = ["compare", SAMPLES / "agents.jsonl", "-m", "pass@1,pass^3", "--adjust", "holm"]
    agents += ["--test", "sign-flip"]
    assert "· Holm over 7 of 28 tests ·" in passk(*agents).out
    result = passk(*agents, "--full", "-v")
    assert "Holm over the 7 of 28 tests of pass@1 that could reject" in result.out
    assert " adjust=holm tests=7/28 family=primary " in result.out
    actual = records(passk(*agents, "-f", "csv").out)
    weak = [r for r in actual if r["against"] == "claude-fable-5" and r["metric"] == "pass@1"]
    assert {(r["p"], r["verdict"], r["family"]) for r in weak} == {
        ("0.0009765625", "better", "primary")
    }
    assert {float(r["p_adjusted"]) for r in weak} == {7 * 2**-10}
    assert {r["family"] for r in actual if r["metric"] == "pass^3"} == {"secondary"}
    together = records(passk(*agents, "--family", "all", "-f", "csv").out)
    assert {r["family"] for r in together} == {"all"}
    assert {float(r["p_adjusted"]) for r in together if r["p"] == "0.0009765625"} == {14 * 2**-10}


def test_shared_signs_cost_less_than_holm(passk: Passk) -> None:
    """Seven pairs have one difference in common, and the other 21 none."""
    agents = ["compare", SAMPLES / "agents.jsonl", "-m", "pass@1,pass^3"]
    assert "· min-P over 28 tests ·" in passk(*agents).out
    result = passk(*agents, "--full", "-v")
    assert "min-P over 28 tests of pass@1" in result.out
    assert " adjust=min-p tests=28 family=primary " in result.out
    weak = [
        r for r in records(passk(*agents, "-f", "csv").out)
        if r["against"] == "claude-fable-5" and r["metric"] == "pass@1"
    ]  # fmt: skip
    ((p, adjusted),) = {(float(r["p"]), float(r["p_adjusted"])) for r in weak}
    assert p < adjusted < 7 * p
    assert {r["adjustment"] for r in weak} == {"min-p"}
    pair = passk("compare", *FILES[:2], "-m", "pass@1")
    assert "min-P" not in pair.out
    assert "level, one test ·" in passk("compare", *FILES[:2], "-m", "pass@1", "--full").out


@pytest.mark.long
def test_signs_are_about_new_tasks(passk: Passk) -> None:
    base = ["compare", *FILES[:3], "-m", "pass@1"]
    these_tasks = [*base, "--population", "these-tasks"]
    refused = passk(*these_tasks, "--adjust", "min-p")
    assert (refused.code, "--adjust holm\n" in refused.err) == (2, True)
    assert "Holm over 3 tests" in passk(*these_tasks).out
    assert "min-P over 3 tests" in passk(*base, "--test", "t").out


def test_each_metric_is_adjusted_as_its_own_models_allow(passk: Passk, write: Write) -> None:
    """A model with too few attempts for pass@10 does not change the p-values of pass@10."""
    rng = np.random.default_rng(1)
    long = [(m, t, 10, rng.binomial(10, p)) for m, p in (("A", 0.1), ("B", 0.2), ("C", 0.3))
            for t in range(30)]  # fmt: skip
    short = [("D", t, 5, rng.binomial(5, 0.3)) for t in range(30)]
    file = write("short.csv", cells(long + short))
    result = passk("compare", file, "-m", "pass@1,pass@10", "--full")
    words = "min-P over 6 tests of pass@1 and their intervals; other metrics are secondary, each"
    assert words in result.out
    options = ["compare", file, "-m", "pass@10", "-f", "csv"]
    single = [r["p_adjusted"] for r in records(passk(*options, "--exclude-model", "D").out)]
    many = records(passk(*options, "-m", "pass@1").out)
    assert single == [r["p_adjusted"] for r in many if r["metric"] == "pass@10" and r["p"]]


def test_pairs_with_other_tasks_and_clusters(passk: Passk, write: Write) -> None:
    text = "model,task,passed,repo\n" + "".join(
        f"{m},t{t},{int((t * 7 + i * 5) % 11 < 3 + 3 * i)},r{t // 3}\n"
        for i, m in enumerate("abc") for t in range(4 * (m == "c"), 30)
    )  # fmt: skip
    path = write("x.csv", text)
    assert " adjust=min-p tests=3 " in passk("compare", path, "-v").out
    for row in records(passk("compare", path, "--cluster", "repo", "-f", "csv").out):
        assert float(row["p_adjusted"]) >= min(1, 3 * float(row["p"])) - 1e-9
    same = write("y.csv", "".join(line for line in text.splitlines(True) if line[0] != "c"))
    rivals = same.read_text().replace("\na,", "\nd,").replace("\nb,", "\ne,")
    third = write("z.csv", rivals.replace(",t1,", ",t31,"))
    result = passk("compare", same, third, "--cluster", "repo", "-f", "csv")
    assert result.code == 0
    for row in records(result.out):
        assert float(row["p_adjusted"]) >= float(row["p"])


def test_ranks_and_letters_agree_and_no_difference_is_hidden(passk: Passk, write: Write) -> None:
    """b is ahead in nearly all resamples, and three tasks are too few for a test."""
    draws = [(m, t, 8, c + t % 2) for t in range(3) for m, c in (("a", 2), ("b", 6))]
    path = write("x.csv", cells(draws))
    result = passk("compare", path, "-m", "pass@1")
    assert "~ +0.500 [" in result.out
    ranking = passk("compare", path, "-m", "pass@1", "--full").out.splitlines()[3:5]
    first, second = (line.split() for line in ranking)
    assert (first[:4], first[-1]) == (["1–2", "b", "0.792", "a"], "1.000")
    assert (second[:4], second[-1]) == (["1–2", "a", "0.292", "a"], "0.000")
    draws = [(m, t, 8, c + t % 2) for t in range(12) for m, c in (("a", 2), ("b", 6))]
    many = write("y.csv", cells(draws))
    margin = passk("compare", many, "-m", "pass@1", "--margin", "0.9")
    assert "= +0.500 [" in margin.out
    based = passk("compare", path, "-m", "pass@1", "--baseline", "a")
    assert "~ +0.500 [" in based.out


def test_one_model_is_nothing_to_compare(passk: Passk) -> None:
    result = passk("compare", SAMPLES / "tau_airline.csv")
    assert (result.code, "nothing to compare" in result.err) == (2, True)


@given(st.integers(1, 8), st.randoms(use_true_random=False))
def test_ranks_agree_with_letters(count: int, rng: object) -> None:
    better = np.zeros((count, count), dtype=bool)
    for i in range(count):
        for j in range(i):
            better[j, i] = rng.random() < 0.5  # type: ignore[attr-defined]
    actual, limits = compact_letters(better | better.T), rank_limits(better)
    assert np.all((limits[:, 0] >= 1) & (limits[:, 0] <= limits[:, 1]) & (limits[:, 1] <= count))
    for i in range(count):
        for j in range(count):
            if better[i, j]:
                # Significantly better: no letter in common, and both of its limits can be better.
                assert not set(actual[i]) & set(actual[j])
                assert limits[i, 1] < count
                assert limits[j, 0] > 1


@given(st.integers(1, 9), st.randoms(use_true_random=False))
def test_letters_say_exactly_what_the_tests_say(count: int, rng: object) -> None:
    different = np.zeros((count, count), dtype=bool)
    for i in range(count):
        for j in range(i):
            different[i, j] = different[j, i] = rng.random() < 0.5  # type: ignore[attr-defined]
    actual = compact_letters(different)
    for i in range(count):
        assert actual[i]
        for j in range(i):
            assert bool(set(actual[i]) & set(actual[j])) == (not different[i, j])


def test_ranks_and_best() -> None:
    draws = np.array([[3.0, 2.0, 1.0]] * 90 + [[2.0, 3.0, 1.0]] * 8 + [[1.0, 1.0, 1.0]] * 2)
    np.testing.assert_allclose(lead_shares(draws), [0.9 + 0.02 / 3, 0.08 + 0.02 / 3, 0.02 / 3])
    assert first_k_of_lead_change(np.zeros((1, 3))).tolist() == [np.inf]


def test_more_pairs_than_can_be_compared_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"model": list("abcd"), "task": ["t"] * 4, "n": [2] * 4, "c": [0, 1, 1, 2]}
    monkeypatch.setattr(limits, "MOST_MODEL_DIFFERENCES", 5)
    with pytest.raises(
        ParameterError,
        match=r"4 models have 6 pairwise differences, but passk compares at most 5; .*baseline",
    ):
        passk_cli.compare(rows, k=[1])
    assert len(passk_cli.compare(rows, k=[1], baseline="a").frame) == 3


def test_a_model_that_is_compared_with_none_has_no_rank(passk: Passk, write: Write) -> None:
    """Without a task of the others it ties with nobody, and its place is open."""
    cells = "".join(f"{m},t{t},4,{c}\n" for m, c in (("a", 4), ("b", 0)) for t in range(9))
    single = "".join(f"x,u{t},4,2\n" for t in range(9))
    result = passk("compare", write("x.csv", "model,task,n,c\n" + cells + single), "-m", "pass@1")
    ranking = [line.split() for line in result.out.splitlines()[3:6]]
    assert [line[:2] for line in ranking] == [["1", "a"], ["2", "b"], ["–", "x"]]
    assert [line[3:4] for line in ranking] == [["a"], ["b"], ["9"]]
    assert (
        "warning[pairs-not-compared]: 2 pairs cannot be compared at pass@1: the models"
        in result.err
    )


def test_groups_have_tasks_of_their_own(passk: Passk, write: Write) -> None:
    """Models of a group are asked for the tasks of that group, whatever other groups have."""
    lines = [f"{m},{level},{level}{t},{(t + len(m)) % 3 % 2}" for m in ("a", "bb")
             for level in ("easy", "hard") for t in range(9)]  # fmt: skip
    data = write("x.csv", "\n".join(["model,level,task,passed", *lines]))
    result = passk("estimate", data, "--by", "level")
    assert "all models have" not in result.out
    assert "models-lack-tasks" not in result.err


def test_models_without_a_shared_task_are_not_compared(passk: Passk, write: Write) -> None:
    data = write("y.csv", "model,task,n,c\na,1,1,1\na,2,1,1\nb,01,1,1\nb,02,1,0\n")
    result = passk("compare", data)
    assert (result.code, result.out) == (2, "")
    assert result.err.endswith(
        "error[nothing-to-compare]: there is nothing to compare, because no two models share a"
        " task; a has 1, 2; b has 01, 02\n"
    )
    best = passk("estimate", data)
    assert best.out.split("\n")[0].endswith(" (a). No task is shared by all models.")
    assert "warning[similar-tasks]: '01' and '1' count as different tasks" in best.err


def test_tasks_with_too_few_attempts_are_not_called_lacking(passk: Passk, write: Write) -> None:
    lines = (f"{m},t{t},{2 if t == place else 4},2" for place, m in enumerate("ab")
             for t in range(9))  # fmt: skip
    data = write("z.csv", "\n".join(("model,task,n,c", *lines)))
    messages = passk("compare", data, "-k", "3", "--short-tasks", "drop").err
    assert "models-lack-tasks" not in messages
    words = "tasks are left out of pass@3, pass^3 of a, b: n=2 < k=3 on 1 of 9 tasks"
    assert f"warning[short-tasks-dropped]: {words}" in messages


@pytest.mark.parametrize(("lost", "severity"), [(1, "note"), (2, "warning")])
def test_a_few_lost_tasks_are_a_note(passk: Passk, write: Write, lost: int, severity: str) -> None:
    lines = [f"{m},t{t},{(t + len(m)) % 3 % 2}" for m in ("a", "bb") for t in range(25)]
    data = write("x.csv", "\n".join(["model,task,passed", *lines[: 50 - lost]]))
    messages = passk("estimate", data, "--full").err
    words = f"models lack tasks that other models have (bb {lost} of 25): "
    assert f"{severity}[models-lack-tasks]: {words}" in messages


@pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
def test_an_interval_of_another_law_is_not_called_unadjusted() -> None:
    """Sign flips at the family's level beside intervals at the family's level."""
    rng = np.random.default_rng(0)
    sentence = []
    for _ in range(10):
        rates = rng.beta(1, 1, 30)
        data = {
            "model": [m for m in "abc" for _ in rates],
            "task": [f"t{t}" for _ in "abc" for t in range(len(rates))],
            "n": [4] * 3 * len(rates),
            "c": [int(x) for shift in (0, 0.12, 0.3) for x in rng.binomial(4, rates * (1 - shift))],
        }
        arguments = {"test": "sign-flip", "baseline": "a", "resamples": 500}
        messages = passk_cli.compare(data, ["pass^4"], **arguments).report.messages
        sentence += [message for message in messages if message.name == "verdicts-by-p"]
    assert sentence
    assert all(message.fields["differences"] for message in sentence)


def test_crossings_are_drawn_on_the_curves(passk: Passk, tmp_path: Path, write: Write) -> None:
    rows = [("a", 1, 4), ("a", 2, 0), ("b", 1, 2), ("b", 2, 1)]
    data = write("counts.csv", "model,task,n,c\n" + "".join(f"{m},{t},4,{c}\n" for m, t, c in rows))
    picture = tmp_path / "x.svg"
    result = passk("compare", data, "--crossings", "-m", "pass@1", "-q", "--chart", picture)
    assert result.code == 0
    # pass@k of a is 1/2 at every k; b has 3/8 at k = 1 and (5/6 + 1/2) / 2 = 2/3 at k = 2.
    svg = picture.read_text()
    assert ">overtakes another<" in svg
    assert "− b" not in svg


def test_two_models_of_which_one_has_no_value_are_not_tested(passk: Passk, write: Write) -> None:
    few = write("few.csv", "model,task,passed\na,1,0\na,2,1\nb,1,1\nb,1,0\nb,2,1\nb,2,0\n")
    result = passk("compare", few, "-k", "2")
    assert (result.code, result.out.splitlines()[0]) == (
        0, "No test is possible: a: n=1 < k=2 on 2 of 2 tasks.",
    )  # fmt: skip


def test_what_is_not_shown_is_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    draws: list[object] = []
    means = rank_resampling.bootstrap_means
    monkeypatch.setattr(
        rank_resampling, "bootstrap_means", lambda *a, **k: draws.append(a) or means(*a, **k)
    )
    data = {"model": ["a", "a", "b", "b"], "task": ["s", "t"] * 2, "n": [4] * 4, "c": [1, 2, 3, 4]}
    actual = passk_cli.compare(data, ["pass@1"])
    assert "tie at pass@1" in str(actual)
    assert not draws
    assert set(actual.frame["leads"]) == {1.0}
    assert len(draws) == 1
