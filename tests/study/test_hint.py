"""The word on the usual metrics that the data has too few attempts for."""

from __future__ import annotations

from passk_cli.metrics.registry import parse_list
from passk_cli.outcomes.counts import Counts
from passk_cli.study.metrics import Metrics


def test_only_where_no_metric_was_asked_for() -> None:
    counts = Counts.from_cells([("m", "a", 2, 1), ("m", "b", 4, 1)])
    assert Metrics().hint(counts) == "pass@10 needs 10 attempts per task"
    assert Metrics(k=(1,)).hint(counts) == ""
    assert Metrics(metrics=parse_list("pass@1")).hint(counts) == ""
    enough = Counts.from_cells([("m", "a", 100, 1)])
    assert Metrics().hint(enough) == ""
