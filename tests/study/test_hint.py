"""The word on the usual metrics that the data has too few attempts for."""

from __future__ import annotations

from passk_cli.metrics.registry import parse_metric_list
from passk_cli.outcomes.counts import Counts
from passk_cli.study.metric_selection import MetricOptions
from tests.conftest import Passk, Write


def test_the_hint_appears_only_without_a_metric() -> None:
    counts = Counts.from_cells([("m", "a", 2, 1), ("m", "b", 4, 1)])
    assert MetricOptions().unavailable_k_hint(counts) == "pass@10 needs 10 attempts per task"
    assert MetricOptions(k=(1,)).unavailable_k_hint(counts) == ""
    assert MetricOptions(metrics=parse_metric_list("pass@1")).unavailable_k_hint(counts) == ""
    enough = Counts.from_cells([("m", "a", 100, 1)])
    assert MetricOptions().unavailable_k_hint(enough) == ""


def test_a_larger_k_of_one_model_is_a_note(passk: Passk, write: Write) -> None:
    cells = [(m, t, 10 if m == "d" else 5, t % 5) for m in "abcd" for t in range(9)]
    assert {metric.k for metric in MetricOptions().choose(Counts.from_cells(cells))} == {1, 2, 4, 5}
    # A lost attempt of one model takes no column from the others.
    lost = [(m, t, 9 if (m, t) == ("a", 0) else 10, t % 5) for m in "abcd" for t in range(9)]
    assert {metric.k for metric in MetricOptions().choose(Counts.from_cells(lost))} == {1, 10}
    rows = "".join(f"{m},{t},{n},{c}\n" for m, t, n, c in cells)
    data = write("counts.csv", "model,task,n,c\n" + rows)
    result = passk("estimate", data)
    assert "pass@5" in result.out
    assert "pass@10" not in result.out
    assert "d has 10 attempts at every task, but most models have fewer attempts" in result.err
    assert "-k 10 shows pass@10" in result.err
    assert "more-attempts" not in passk("estimate", data, "-k", "1").err
