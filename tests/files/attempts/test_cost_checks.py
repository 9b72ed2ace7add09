"""Costs of attempts: numbers of real files, units and sums, missing and suspicious amounts, prices.

The expected numbers in tests/data/cost/numbers.json are exact fractions, computed by plain Python
without this package.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import passk_cli
from passk_cli import DataError, ParameterError, PasskWarning, read
from passk_cli.diagnostic import Diagnostic
from passk_cli.metrics.budget import pass_within_budget_limits
from passk_cli.outcomes.counts import Counts
from tests.conftest import Write, jsonl

DATA = Path(__file__).parents[2] / "data"
COST = DATA / "cost"
NUMBERS = json.loads((COST / "numbers.json").read_text())
HARBOR = {
    "2026-05-28-claude-opus-4-8": "anthropic/claude-opus-4-8",
    "2026-07-24-gpt-5-6-luna-codex": "openai/gpt-5.6-luna",
    "chi-bench-leaderboard-2026-05-15-openai-agents-x-ai-grok-4-3": "x-ai/grok-4.3",
    "chi-bench-leaderboard-2026-05-15-openclaw-openrouter-z-ai-glm-5-1": "openrouter/z-ai/glm-5.1",
}
ROWS = [
    {"task": "a", "passed": True, "cost": 1.0},
    {"task": "a", "passed": False, "cost": None},
    {"task": "a", "passed": False, "cost": 3.0},
    {"task": "b", "passed": False, "cost": 2.0},
]


def write_harness_files(name: str, folder: Path) -> Path:
    """The files of a harness in their usual folders."""
    with gzip.open(COST / name, "rt") as lines:
        for line in lines:
            file = json.loads(line)
            path = folder / file["path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(file["document"]))
    return folder


@pytest.fixture(scope="module")
def harbor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_harness_files("harbor.jsonl.gz", tmp_path_factory.mktemp("harbor"))


@pytest.fixture(scope="module")
def tau2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_harness_files("tau2.jsonl.gz", tmp_path_factory.mktemp("tau2"))


def require(counts: Counts, role: str, model: str, want: Mapping[str, Any], task: str = "") -> None:
    """Check total, means, cost per success and both ends of pass@$ against an independent program.

    task : whether tasks have other names there, so that the mean of tasks is different.
    """
    amounts, cells = counts.attempts[role], len(counts.n)
    names = [" ".join(series) for series in counts.series]
    rows_of_model = counts.series_codes == names.index(model)
    amount_counts = np.bincount(amounts.row_cell_indices, amounts.count, cells)
    expected_cells = rows_of_model & (amount_counts > 0)
    totals = np.bincount(amounts.row_cell_indices, amounts.count * amounts.value, cells)[
        expected_cells
    ]
    n, c = (
        amount_counts[expected_cells],
        np.bincount(amounts.row_cell_indices, amounts.pass_count, cells)[expected_cells],
    )
    assert counts.n[rows_of_model].sum() - n.sum() == want["without_cost"]
    sums = {
        "total_cost": totals.sum(),
        "mean_cost_per_attempt": totals.sum() / n.sum(),
        "mean_cost_task_mean": (totals / n).mean(),
    }
    key = "cost_per_success" + "_on_attempts_with_cost" * bool(want["without_cost"])
    if want.get(key) is not None:
        sums[key] = (totals / n).sum() / (c / n).sum()
    for name, number in sums.items():
        if not task or name in ("total_cost", "mean_cost_per_attempt"):
            assert number == pytest.approx(want[name], rel=1e-9, abs=1e-12), (model, name)
    selection = amounts.take_cells(np.flatnonzero(expected_cells))
    for budget, ends in want.get("pass@$", {}).items():
        within = pass_within_budget_limits(
            selection.cell_offsets,
            selection.value,
            selection.count,
            selection.pass_count,
            float(budget),
        )
        means = [float(end.mean()) for end in within]
        assert means == pytest.approx([ends["lower"], ends["upper"]], abs=1e-12), (model, budget)


def messages_by_name(counts: Counts) -> dict[str, Diagnostic]:
    return {message.name: message for message in counts.read_facts.messages}


@pytest.mark.parametrize(
    ("unit", "role"), [("usd", "cost"), ("tokens", "tokens"), ("seconds", "duration")]
)
def test_amounts_of_harbor_are_dollars_tokens_and_seconds(
    harbor: Path, unit: str, role: str
) -> None:
    counts = read(harbor, attempts=role, missing="fail", missing_cost="drop")
    expected = NUMBERS["harbor"][unit]
    for folder, model in HARBOR.items():
        require(counts, role, model, expected[folder])
    lost = sum(want["without_cost"] for want in expected.values())
    message = messages_by_name(counts).get("missing-costs-dropped")
    assert (
        (message.fields["attempts"] if message else 0)
        == lost
        == {"usd": 29, "tokens": 1}.get(unit, 0)
    )


def test_a_timeout_without_a_cost_is_reported_as_a_timeout(harbor: Path) -> None:
    options = {"models": "*grok*", "attempts": "cost", "missing": "fail"}
    with pytest.raises(
        DataError, match=r"no cost .1 attempt.*grok.* 1 of 75 .1 failed; timeout 1."
    ) as refused:
        read(harbor, **options)
    assert refused.value.name == "missing-cost"
    assert "missing_cost=" in refused.value.remedy
    assert refused.value.place.endswith("__H4JepPu/result.json: attempt 1")
    counts = read(harbor, **options, missing_cost="mean")
    want = NUMBERS["harbor"]["usd"][list(HARBOR)[2]]
    amounts = counts.attempts["cost"]
    totals = np.bincount(amounts.row_cell_indices, amounts.count * amounts.value)
    ratio = (totals / counts.n).sum() / (counts.c / counts.n).sum()
    assert ratio == pytest.approx(want["cost_per_success_all_outcomes_known_costs"], rel=1e-9)


def test_a_task_without_costs_does_not_have_a_mean_cost(harbor: Path) -> None:
    text = 'has a cost; 2 tasks have none; .*missing_cost="drop" uses only'
    with pytest.raises(DataError, match=text):
        read(harbor, models="*glm*", attempts="cost", missing="fail", missing_cost="mean")


# Those of v2 were run again.
@pytest.mark.filterwarnings("ignore:the harness rather than the model may have caused 7 failures")
@pytest.mark.parametrize(("version", "repeated"), [("v1", 0), ("v2", 7)])
def test_costs_of_repairs_are_summed(version: str, repeated: int) -> None:
    file = COST / f"claude-dispatch-{version}.jsonl.gz"
    fields = {"model": "model_id", "cost": "iterations[].cost_usd"}
    fields |= {"tokens_out": "tokens_subagent_out", "duration": "wall_clock_subagent_s"}
    roles = {"usd": "cost", "tokens_out": "tokens_out", "seconds": "duration"}
    counts = read(file, fields=fields, attempts=[*roles.values()], duplicates="keep")
    for name, units in NUMBERS["claude-dispatch"].items():
        for unit, models in units.items() if f"-{version}" in name else ():
            for model, want in models.items():
                require(counts, roles[unit], model, want)
    assert (
        messages_by_name(counts)["amount-read"].text
        == "passk reads cost as the sum of iterations[].cost_usd, in dollars"
    )
    zero = messages_by_name(counts).get("zero-costs")
    assert (zero is None) == (version == "v1")
    if zero is not None:
        # Some runs crashed and were repeated. The cost of the crashed runs is left out.
        assert zero.fields["attempts"] == 4
        assert "claude-sonnet-5 2 of 42 (2 failed; error 2)" in zero.text
        with pytest.warns(PasskWarning, match='left out: .*; duplicates="keep" counts them'):
            last = read(file, fields=fields | {"attempt": "n"}, attempts="cost", duplicates="last")
        assert last.read_facts.duplicate_count == repeated
        omitted_costs = messages_by_name(last)["left-out-costs"].text
        assert "claude-opus-4-8 6.199 of 101 dollars" in omitted_costs


def test_a_list_of_costs_is_offered_if_a_column_is_missing() -> None:
    file = COST / "claude-dispatch-v1.jsonl.gz"
    options: dict[str, Any] = {"attempts": "cost", "duplicates": "keep"}
    with pytest.raises(DataError, match="no cost column; ") as error:
        read(file, fields={"model": "model_id"}, **options)
    (deeper,) = error.value.fixes
    assert deeper.options == {"fields": {"cost": "iterations.cost_usd"}}
    totals = [
        float((costs.value * costs.count).sum())
        for path in ("iterations.cost_usd", "iterations[].cost_usd")
        for fields in [{"model": "model_id", "cost": path}]
        for costs in [read(file, fields=fields, **options).attempts["cost"]]
    ]
    assert totals == pytest.approx([71.0930931, 71.0930931])


def test_a_nested_cost_is_offered(write: Write) -> None:
    rows = [{"task": f"t{i % 5}", "passed": i % 2 == 0, "usage": {"cost_usd": 0.1, "calls": i}}
            for i in range(20)]  # fmt: skip
    path = write("m.jsonl", jsonl(rows))
    for attempts, offered in (("cost", [{"cost": "usage.cost_usd"}]), ("tokens", ["COLUMN"])):
        with pytest.raises(DataError) as error:
            read(path, attempts=attempts)
        settles = [settle.options["fields"] for settle in error.value.fixes]
        assert [s if s in offered else s["tokens"] for s in settles] == offered


@pytest.mark.parametrize("name", ["performance", "hallucination"])
def test_answers_of_a_cache_repeat_their_price(name: str) -> None:
    file = COST / f"promptfoo-{name}.json.gz"
    with (
        pytest.warns(PasskWarning, match="costs 0, .*; price=FILE computes costs from tokens"),
        pytest.warns(PasskWarning, match='cached answer .*"billed_cost"} counts them as 0'),
    ):
        cost = read(file, attempts=("cost", "tokens"), pool="cached")
    with pytest.warns(PasskWarning, match="costs 0, "):
        billed = read(file, attempts="cost", fields={"cost": "billed_cost"}, pool="cached")
    ways = next(ways for key, ways in NUMBERS["promptfoo"].items() if key.lower().startswith(name))
    for way, units in ways.items():
        for unit, models in units.items():
            for model, want in models.items():
                role = "tokens" if unit == "tokens" else "cost"
                counts = billed if "cached" in unit else cost
                # Every test is a task there. Tests with the same question are one task here.
                require(counts, role, model, want, "" if way == "task=vars.input" else way)
    cached = {"performance": 4, "hallucination": 5}[name]
    assert messages_by_name(cost)["repeated-prices"].fields["attempts"] == cached
    assert "openai:chat:qwen3-1.7b costs 0" in messages_by_name(cost)["unpriced-models"].text
    assert "repeated-prices" not in messages_by_name(billed)
    assert "zero-costs" not in messages_by_name(billed)


@pytest.mark.parametrize("unit", ["agent_cost", "agent_cost+user_cost", "duration"])
def test_the_cost_of_the_simulated_user_is_a_separate_component(tau2: Path, unit: str) -> None:
    role = "duration" if unit == "duration" else "cost"
    fields = {"cost": unit} if "+" in unit else {}
    counts = read(tau2, fields=fields, attempts=role, by="suite", missing_cost="drop")
    for series, want in NUMBERS["tau2"][unit].items():
        require(counts, role, series, want)
    words = {
        "agent_cost": "passk reads cost from agent_cost, which does not include user_cost; --field"
        " cost=agent_cost+user_cost adds all columns",
        "agent_cost+user_cost": "passk reads cost as agent_cost + user_cost, in dollars",
    }
    texts = {m.text for m in counts.read_facts.messages if m.name != "missing-costs-dropped"}
    assert texts == ({words[unit]} if unit in words else set())


def test_amounts_of_further_harnesses_and_tables_are_read() -> None:
    lines = COST / "latitude.jsonl.gz"
    counts = read(lines, attempts=("cost", "duration", "tokens"))
    for model, want in NUMBERS["../latitude"]["costUsd"].items():
        require(counts, "cost", model, want)
    text = messages_by_name(counts)["amount-read"].text
    assert text == "passk reads duration as wallMs / 1000, in seconds"
    inspect = read(COST / "docent_intercode_ctf.eval", attempts="tokens")
    require(inspect, "tokens", "openai/gpt-4o", NUMBERS["../inspect docent"])


@pytest.mark.parametrize(
    ("columns", "fields", "role", "value"),
    [
        ({"cost_cents": 250}, {}, "cost", 2.5),
        ({"costUsd": "$0.25"}, {}, "cost", 0.25),
        ({"price": 5}, {"cost": "price:cents"}, "cost", 0.05),
        ({"agent_cost": 1, "judge_cents": 50}, {"cost": "agent_cost+judge_cents"}, "cost", 1.5),
        ({"usage": {"cost": 0.5}}, {"cost": "usage.cost"}, "cost", 0.5),
        ({"calls": [{"usd": 1}, {"usd": 2}]}, {"cost": "calls[].usd"}, "cost", 3.0),
        ({"costs": [0.5, 0.25]}, {"cost": "costs"}, "cost", 0.75),
        ({"calls": [{"usd": 1}, {"usd": None}]}, {"cost": "calls[].usd"}, "cost", math.nan),
        ({"calls": []}, {"cost": "calls[].usd"}, "cost", math.nan),
        ({"agent_cost": 1, "b": None}, {"cost": "agent_cost+b"}, "cost", math.nan),
        ({"latencyMs": 1500}, {}, "duration", 1.5),
        ({"wall_time": 90}, {}, "duration", 90.0),
        ({"t": 2}, {"duration": "t:minutes"}, "duration", 120.0),
        ({"prompt_tokens": 10, "completion_tokens": 5}, {}, "tokens", 15.0),
        ({"num_turns": 7}, {}, "turns", 7.0),
        ({"cost": "n/a"}, {}, "cost", math.nan),
    ],
)  # fmt: skip
def test_units_are_converted_and_parts_are_summed(
    columns: dict[str, Any], fields: dict[str, str], role: str, value: float
) -> None:
    rows = [{"task": "a", "passed": True, **columns}]
    counts = read(rows, fields=fields, attempts=role, missing_cost="bounds")
    assert counts.attempts[role].value.tolist() == pytest.approx([value], nan_ok=True)


def test_costs_of_several_attempts_in_one_record_need_a_list() -> None:
    rows = [{"task": "a", "passed": [True, False], "costs": [1, 2]}]
    counts = read(rows, fields={"cost": "costs"}, attempts="cost")
    assert counts.attempts["cost"].value.tolist() == [1.0, 2.0]
    record = [{"task": "a", "passed": [True, False], "cost": 3}]
    with pytest.raises(DataError, match="'cost' contains one cost for a list of outcomes"):
        read(record, attempts="cost")


@pytest.mark.parametrize(
    ("cost", "problem"),
    [(-1, "cost below 0"), ("dear", "are not numbers"), ("inf", "infinite cost")],
)
def test_impossible_costs_are_refused(cost: object, problem: str) -> None:
    rows = [{"task": "a", "passed": True, "cost": cost}, {"task": "b", "passed": True, "cost": "1"}]
    with pytest.raises(DataError, match=problem):
        read(rows, attempts="cost", missing_cost="bounds")


def test_several_possible_cost_columns_lead_to_a_question() -> None:
    rows = [{"task": "a", "passed": True, "cost": 1, "total_cost": 2}]
    with pytest.raises(DataError, match=r"2 columns could be the cost: cost, total_cost"):
        read(rows, attempts="cost")


def test_a_missing_cost_is_never_0() -> None:
    with pytest.raises(DataError, match=r"no cost .1 attempt in all: .*1 of 4 .1 failed"):
        read(ROWS, attempts="cost")
    dropped = read(ROWS, attempts="cost", missing_cost="drop")
    mean = read(ROWS, attempts="cost", missing_cost="mean")
    assert (dropped.n.tolist(), dropped.c.tolist()) == (mean.n.tolist(), mean.c.tolist())
    assert dropped.attempts["cost"].value.tolist() == [1.0, 3.0, 2.0]
    assert mean.n.tolist() == [3, 1]
    assert mean.attempts["cost"].value.tolist() == [
        1.0,
        2.0,
        3.0,
        2.0,
    ]
    bounds = read(ROWS, attempts="cost", missing_cost="bounds").attempts["cost"]
    assert bounds.value.tolist() == pytest.approx([1.0, 3.0, math.nan, 2.0], nan_ok=True)
    assert bounds.count.tolist() == [1, 1, 1, 1]
    assert bounds.pass_count.tolist() == [1, 0, 0, 0]


def test_a_gap_in_one_amount_leaves_other_amounts_complete() -> None:
    rows = [{**row, "tokens": None if i == 0 else 10} for i, row in enumerate(ROWS)]
    counts = read(rows, attempts=("cost", "tokens", "score"), missing_cost="drop")
    all_counts = read(rows, attempts="score")
    assert (counts.n.tolist(), counts.c.tolist()) == (all_counts.n.tolist(), all_counts.c.tolist())
    assert [a.count.sum() for a in counts.attempts.values()] == [3, 3, 4]


def test_a_task_that_has_no_cost_keeps_its_outcomes() -> None:
    rows = [*ROWS, {"task": "c", "passed": True, "cost": None}]
    counts = read(rows, attempts="cost", missing_cost="drop")
    assert counts.tasks == ("a", "b", "c")
    assert np.diff(counts.attempts["cost"].cell_offsets).tolist() == [2, 1, 0]
    text = messages_by_name(counts)["missing-costs-dropped"].text
    assert text.startswith(
        "only 3 of 5 attempts are used for cost, because 2 attempts have no cost: "
    )
    with pytest.raises(DataError, match="no attempt has this amount, so check the column"):
        read(rows[-1:], attempts="cost", missing_cost="drop")


def test_a_missing_outcome_keeps_its_cost() -> None:
    rows = [{"task": "a", "passed": None, "cost": 5}, {"task": "a", "passed": True, "cost": 1}]
    failed = read(rows, attempts="cost", missing="fail").attempts["cost"]
    assert failed.value.tolist() == [1.0, 5.0]
    assert failed.pass_count.tolist() == [1, 0]
    with pytest.raises(DataError, match="no cost"):
        read([{**rows[0], "cost": None}, rows[1]], attempts="cost", missing="fail")
    either = read(rows, attempts="cost", missing="bounds")
    assert either.missing is not None
    assert either.attempts["cost"].value.tolist() == [1.0, 5.0]


def test_a_mean_of_unknown_costs_is_refused() -> None:
    with pytest.raises(ParameterError, match="the mean has no upper limit"):
        passk_cli.estimate(ROWS, "cost", missing_cost="bounds")


def test_equal_nan_values_merge_into_one_row() -> None:
    rows = [
        {"task": "a", "passed": True, "cost": None, "kind": kind, "model": "m"} for kind in "xy"
    ]
    split = read(rows, attempts="cost", by="kind", missing_cost="bounds")
    together = split.merged_over_group_column("kind").attempts["cost"]
    assert together.count.tolist() == [2]
    assert np.isnan(together.value).all()


PRICES: dict[str, dict[str, float]] = {
    "m-*": {"input": 2.0, "output": 10.0, "cached": 0.5}, "m-2": {"input": 1.0, "output": 1.0}
}  # fmt: skip


def tokens(model: str, into: int | None, out: int, cached: int = 0) -> dict[str, Any]:
    usage = {"input_tokens": into, "output_tokens": out, "cached_tokens": cached}
    return {"model": model, "task": "a", "passed": True, "cost": 99, **usage}


def test_prices_make_costs_of_tokens(write: Write) -> None:
    rows = [tokens("m-1", 1_000_000, 100_000, 500_000), tokens("m-2", 10, 20)]
    file = write(
        "prices.toml",
        '["m-*"]\ninput = 2\noutput = 10\ncached = 0.5\n[m-2]\ninput = 1\noutput = 1\n',
    )
    for price in (PRICES, file):
        counts = read(rows, attempts="cost", price=price)
        # Its own name comes before a pattern.
        assert counts.attempts["cost"].value.tolist() == pytest.approx([2.25, 30e-6])
    assert messages_by_name(counts)["priced-tokens"].text.endswith(
        "cached tokens of m-2 are charged at the input price"
    )
    with pytest.raises(ParameterError, match=r"no price for o-1; there are prices for m-"):
        read([*rows, tokens("o-1", 1, 1)], attempts="cost", price=PRICES)
    with pytest.raises(DataError, match=r"no tokens to compute a cost from .1 attempt"):
        read([*rows, tokens("m-1", None, 1)], attempts="cost", price=PRICES)
    with pytest.raises(DataError, match="more cached tokens than input: 1, first of m-1 at task a"):
        read([*rows, tokens("m-1", 1, 1, 9)], attempts="cost", price=PRICES)
    with pytest.raises(ParameterError, match="this command computes no costs"):
        read(rows, price=PRICES)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[m]\ninput = 1\n", r"\[m\]: no output"),
        ("[m]\ninput = 1\noutput = -2\n", "output = -2; write prices in dollars per million"),
        ("[m]\ninput = 1\noutput = 2\nprompt = 3\n", "prompt = 3"),
        ("m = 3\n", r"\[m\]"),
        ("", "the file contains no prices"),
        ("[gpt*]\n", "this is not TOML"),
    ],
)
def test_invalid_prices_are_refused(write: Write, text: str, problem: str) -> None:
    file = write("prices.toml", text)
    with pytest.raises(ParameterError, match=problem):
        read([tokens("m", 1, 1)], attempts="cost", price=file)


@pytest.mark.long
@pytest.mark.parametrize(
    "form",
    [
        "csv",
        "every-eval-ever",
        *(pytest.param(f, marks=pytest.mark.long) for f in ("jsonl", "parquet")),
    ],
)
def test_a_converted_table_has_the_same_amounts(harbor: Path, tmp_path: Path, form: str) -> None:
    harbor = harbor / list(HARBOR)[2]
    file = tmp_path / f"table.{'jsonl' if form == 'every-eval-ever' else form}"
    roles = ("cost", "tokens_in", "tokens_out", "tokens", "duration")
    passk_cli.convert(harbor, output=file, columns=roles, form=form, missing="fail")
    options: dict[str, Any] = {"attempts": roles, "missing": "fail", "missing_cost": "drop"}
    before, after = read(harbor, **options), read(file, **options)
    for role in roles:
        # Every Eval Ever has milliseconds.
        values_before, values_after = before.attempts[role].value, after.attempts[role].value
        assert values_before.tolist() == pytest.approx(values_after.tolist(), rel=1e-12)
    if form == "csv":
        header, first, *_ = file.read_text().splitlines()
        assert header.endswith(",cost,tokens_in,tokens_out,tokens,tokens_cached,duration")
        assert first.endswith(",1.273049,1005007,6716,1011723,871872,266.967678")


def test_a_table_with_impossible_costs_is_not_written(tmp_path: Path) -> None:
    rows = [{"task": "a", "passed": True, "cost": -1}]
    with pytest.raises(DataError, match="cost below 0 in 'cost'"):
        passk_cli.convert(rows, output=tmp_path / "out.csv", columns="cost")
    assert not (tmp_path / "out.csv").exists()


FORMATS: dict[str, set[str]] = {
    "every_eval_ever/*.jsonl": set(),
    "harbor/trials": {"tokens", "tokens_in", "tokens_out", "tokens_cached", "duration"},
    "helm/*/per_instance_stats.json": {"tokens_in", "tokens_out", "tokens", "duration"},
    "inspect/data_intercode_ctf_local_path.json": {"duration"},
    "mcpmark/results": {"tokens", "tokens_in", "tokens_out", "turns", "duration"},
    "nemo_evaluator/stub-a": {"tokens", "duration"},
    "phoenix/stub-a.json": {"duration"},
    "promptfoo/out.json": {"cost", "tokens", "tokens_in", "tokens_out", "duration"},
    "pytest_report/.report.json": {"duration"},
    "tau2/airline.json": {"duration"},
    "terminal_bench/2025-09-02__10-00-00": {"tokens_in", "tokens_out", "tokens"},
}  # fmt: skip


@pytest.mark.parametrize(
    "pattern",
    [pytest.param(name, marks=pytest.mark.long if name[0] in "hmn" else ()) for name in FORMATS],
)
def test_describe_lists_the_amounts_of_files(pattern: str) -> None:
    options = {"outcome": "only"} if pattern.startswith(("helm", "phoenix")) else {}
    ids = "quasi_exact_match" if pattern.startswith("helm") else "exact"
    options = {"outcome": ids} if options else {}
    if pattern.startswith("promptfoo"):
        options = {"pool": "prompt"}
    counts = read(str(DATA / pattern), missing="fail", duplicates="keep", **options)
    offered = {
        role
        for source in counts.read_facts.file_readings
        for role in source.command_data_column_by_role
    }
    assert offered - {"score", "answer", "solution"} == FORMATS[pattern]


def test_uncounted_tokens_are_reported() -> None:
    files = str(DATA / "terminal_bench/2025-09-02__10-00-00")
    counts = read(files, missing="fail", attempts="tokens")
    assert messages_by_name(counts)["uncounted-amounts"].text.startswith(
        "the files contain 0 as the tokens of"
    )


@pytest.mark.parametrize(("column", "unit"), [
    ("took_s", "seconds"), ("Tok Count", "tokens"), ("n_tokens", "tokens"), ("steps", "turns"),
    ("fee", ""), ("token_cost", ""), ("usd_of_tokens", ""),
])  # fmt: skip
def test_an_amount_of_another_unit_read_as_dollars_is_reported(
    write: Write, column: str, unit: str
) -> None:
    data = write("took.csv", f"task,passed,{column}\n1,1,2\n2,0,3\n")
    counts = read(data, fields={"cost": column}, attempts="cost")
    texts = [m.text for m in counts.read_facts.messages if m.name in ("other-unit", "amount-read")]
    assert texts == [
        f"the name of {column} suggests {unit}, but passk reads its values as dollars"
    ] * bool(unit)


@pytest.mark.parametrize("column", ["calls[].cost_usd", "calls.cost_usd"])
def test_the_sum_of_list_entries_is_reported(column: str) -> None:
    rows = [{"task": task, "passed": True, "calls": [{"cost_usd": 0.5}] * 2} for task in "ab"]
    counts = read(rows, fields={"cost": column}, attempts="cost")
    assert (
        messages_by_name(counts)["amount-read"].text == f"passk reads cost as the sum of {column},"
        " in dollars"
    )


@pytest.mark.parametrize(("column", "text"), [
    ("cost_eur", "the name of cost_eur suggests EUR, so each $ in the output means EUR"),
    ("europe_cost", ""),
])  # fmt: skip
def test_another_currency_is_reported(column: str, text: str) -> None:
    rows = [{"task": task, "passed": True, column: 0.5} for task in "ab"]
    counts = read(rows, fields={"cost": column}, attempts=("cost",))
    messages = {message.name: message.text for message in counts.read_facts.messages}
    assert messages.get("other-currency", "") == text
