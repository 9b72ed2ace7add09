"""Attempts and tasks that depend on each other get a message, and independent ones get none."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import passk_cli
from passk_cli.files.load import load
from passk_cli.files.request import Request
from passk_cli.outcomes.row_sample import OrderedAttempts
from passk_cli.study.dependence import _warn_of_dependent_attempts

Rows = list[dict[str, Any]]
COMMANDS = ("estimate", "compare", "curve", "extrapolate")


def numbered(sticky: float, models: str = "ab", tasks: int = 60, n: int = 10) -> Rows:
    """Attempts of which some of the first model's repeat the outcome before them."""
    rng, rows = np.random.default_rng(1), []
    for model in models:
        for task in range(tasks):
            rate = rng.beta(1, 1)
            passed = bool(rng.random() < rate)
            for attempt in range(n):
                if model != models[0] or rng.random() >= sticky:
                    passed = bool(rng.random() < rate)
                rows.append(
                    {"model": model, "task": f"t{task}", "attempt": attempt, "passed": passed}
                )
    # The numbers order attempts, and the rows do not.
    return [rows[i] for i in rng.permutation(len(rows))]


def clustered(effect: float, name: str = "repo", n: int = 1) -> Rows:
    """30 groups of 10 tasks, whose rates of passing differ by a normal effect on logits."""
    rng, rows = np.random.default_rng(1), []
    for group in range(30):
        rate = 1 / (1 + np.exp(-1.2 - rng.normal(0, effect)))
        for task in range(10):
            rows += [
                {"task": f"{group}-{task}", name: f"g{group}", "passed": bool(rng.random() < rate)}
                for _ in range(n)
            ]
    return rows


def messages(command: str, rows: Rows, **options: Any) -> Mapping[str, str]:
    """Name → text, of the messages of a command."""
    with warnings.catch_warnings(action="ignore", category=passk_cli.PasskWarning):
        result = getattr(passk_cli, command)(rows, **options)
    return {message.name: str(message) for message in result.messages}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_that_take_attempts_as_independent_warn_if_they_are_not(command: str) -> None:
    text = messages(command, numbered(0.6))["dependent-attempts"]
    assert (
        "attempts of a depend on each other: neighbouring attempts are alike (p < 0.0001)" in text
    )
    assert "order" in text
    assert "dependent-attempts" not in messages(command, numbered(0.0))


def test_a_trend_is_named() -> None:
    rows = [
        {"task": t, "attempt": a, "passed": (a + t % 3) < 5} for t in range(30) for a in range(8)
    ]
    assert "later attempts pass less often" in messages("estimate", rows)["dependent-attempts"]


def test_attempts_without_numbers_and_counts_are_not_tested() -> None:
    rows = numbered(0.6)
    unnumbered = [{k: v for k, v in row.items() if k != "attempt"} for row in rows]
    assert "dependent-attempts" not in messages("estimate", unnumbered)
    counts = [{"task": t, "n": 8, "c": t % 8} for t in range(30)]
    assert "dependent-attempts" not in messages("estimate", counts)


def test_models_that_files_name_are_named(tmp_path: Any) -> None:
    rows = numbered(0.6)
    for model in "ab":
        model_rows = [row for row in rows if row["model"] == model]
        text = "".join(f"{r['task']},{r['attempt']},{int(r['passed'])}\n" for r in model_rows)
        (tmp_path / f"{model}.csv").write_text("task,attempt,passed\n" + text)
    texts = messages("estimate", [tmp_path / "a.csv", tmp_path / "b.csv"])  # type: ignore[list-item]
    assert "attempts of a depend on each other" in texts["dependent-attempts"]


def test_independent_attempts_get_a_warning_in_at_most_one_of_a_thousand_data_sets() -> None:
    rng, warned, sets = np.random.default_rng(2), 0, 3000
    for number in range(sets):
        tasks, n = (20, 5) if number % 2 else (40, 10)
        models = 1 + number % 3
        passed = rng.random((models * tasks, n)) < rng.beta(0.6, 0.6, (models * tasks, 1))
        order = OrderedAttempts(
            tuple((f"m{m}",) for m in range(models)), np.repeat(np.arange(models), tasks),
            np.arange(models * tasks + 1) * n, passed.ravel().astype(np.int64),
        )  # fmt: skip
        warned += len([*_warn_of_dependent_attempts(order)])
    # At most 0.2 % are allowed; 0.1 % is the level, and 3 the expectation.
    assert warned <= 0.002 * sets


def test_a_column_that_explains_differences_between_tasks_is_proposed_as_clusters() -> None:
    rows = clustered(1.6)
    text = messages("estimate", rows)["possible-clusters"]
    assert "tasks with the same repo have similar pass rates (30 values for 300 tasks" in text
    assert "repo" in text.split(";")[1]
    with warnings.catch_warnings(action="ignore", category=passk_cli.PasskWarning):
        plain, grouped = (
            passk_cli.estimate(rows, "pass@1", **options).frame.iloc[0]
            for options in ({}, {"cluster": "repo"})
        )
    assert grouped["high"] - grouped["low"] > 1.5 * (plain["high"] - plain["low"])


@pytest.mark.parametrize(
    "options",
    [{"cluster": "repo"}, {"by": "repo"}, {"pool": "repo"}, {"population": "these-tasks"}],
)
def test_a_column_that_an_option_names_is_not_proposed(options: Mapping[str, Any]) -> None:
    assert "possible-clusters" not in messages("estimate", clustered(1.6), k=1, **options)


@pytest.mark.parametrize("name", ["dataset", "effort", "host", "run"])
def test_benchmarks_settings_and_what_happens_are_not_proposed(name: str) -> None:
    assert "possible-clusters" not in messages("estimate", clustered(1.6, name), k=1)


def test_numbers_of_single_attempts_are_not_proposed() -> None:
    rows = [{"task": t, "lines_read": t // 10, "passed": t // 10 % 3 > 0} for t in range(300)]
    assert "possible-clusters" not in messages("estimate", rows)
    renamed = [
        {"passage_id" if k == "lines_read" else k: v for k, v in row.items()} for row in rows
    ]
    assert "possible-clusters" in messages("estimate", renamed)


def test_groups_without_an_effect_are_not_proposed() -> None:
    assert "possible-clusters" not in messages("estimate", clustered(0.0))


def test_only_commands_that_report_it_keep_sampled_rows() -> None:
    rows = numbered(0.6)
    assert load(rows, Request()).read_facts.sampled_rows is None
    assert load(rows, Request(needs_independence_sample=True)).read_facts.sampled_rows is not None
