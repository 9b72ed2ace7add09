"""A row per model and a column per number; sizes where they differ."""

from __future__ import annotations

import pytest

from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import Estimate
from passk_cli.study.analysis import Analysis
from passk_cli.study.result import Result, SampleSize
from passk_cli.study.section import SeriesMetricTable, rows_by_series


@pytest.mark.parametrize(
    ("second", "more"), [(SampleSize(3, 2, 4), []), (SampleSize(2, 4, 4), ["2–3", "2–4"])]
)
def test_sizes_are_columns_if_they_differ(second: SampleSize, more: list[str]) -> None:
    facts = [
        Result(("m",), "pass@1", 1, Estimate(0.5), size=SampleSize(3, 2, 4)),
        Result(("m",), "mean", None, Estimate(7.0, unit="score"), size=second),
    ]
    study = Analysis(Counts.from_cells([("m", "t", 2, 1)]))
    (table,) = SeriesMetricTable(study, rows_by_series(facts)).tables()
    kinds = [(column.header, column.kind) for column in table.columns]
    assert kinds[:3] == [("model", "text"), ("pass@1", "share"), ("mean", "score")]
    assert [name for name, _ in kinds[3:]] == ["tasks", "attempts"][: len(more)]
    assert table.rows == (("m", facts[0].estimate, facts[1].estimate, *more),)
