"""The curve of cover@τ, which is the share of tasks with a true success rate of at least τ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from passk_cli.metrics.registry import Metric
from passk_cli.report.data_types import ALWAYS, FULL, AnswerSentence, OptionHint, Report
from passk_cli.report.plot import Plot, curves
from passk_cli.study.analysis import Analysis
from passk_cli.study.cover_ranges import cover_range_sentences
from passk_cli.study.data_notes import lacking_tasks_message
from passk_cli.study.section import (
    MetricColumnItem,
    SeriesMetricTable,
    build_report,
    rows_by_series,
)

_TENTHS = range(1, 10)
# Without --full, the table of cover@τ shows only the thresholds in _BRIEF. The answer above the
# table uses the threshold _SAID.
_BRIEF, _SAID = ("cover@0.2", "cover@0.5", "cover@0.8", "cover@0.9"), "cover@0.8"


class CoverBySuccessRateTable(SeriesMetricTable):
    """One row per model and one column per threshold of cover@τ."""

    shown_when = "with -m cover"

    @property
    def metric_columns(self) -> list[MetricColumnItem]:
        """One column per threshold. Without `--full`, the table shows only some thresholds."""
        visibility = {True: ALWAYS, False: FULL}
        return [
            number._replace(visibility=visibility[number.name in _BRIEF])
            for number in super().metric_columns
        ]

    def answer(self) -> Iterator[AnswerSentence]:
        yield from cover_range_sentences(
            self.study, [fact for fact in self.results() if fact.name == _SAID]
        )

    def footer_parts(self) -> Iterator[str | OptionHint]:
        yield from self.study.sizes_and_intervals_text(self.results())
        yield OptionHint("further rates")

    def plots(self) -> tuple[Plot, ...]:
        rows = [
            fact.chart_point("share of tasks", rate=fact.values.metric.k_and_share_name_suffix)
            for fact in self.results() if fact.values is not None and fact.estimate.low is not None
        ]  # fmt: skip
        rows = [{**row, "rate": float(str(row["rate"]))} for row in rows]
        chart = curves(
            rows, x="rate", y="share of tasks", low="low", high="high", colour="model",
            keys={"line": "estimate", "band": "range"}, title="Tasks that reach a success rate",
            subtitle=" · ".join(self.study.sizes_and_intervals_text(self.results())),
            x_title="true success rate",
            y_title="share of tasks",
        )  # fmt: skip
        return (chart,) if rows else ()


def cover_by_success_rate_report(study: Analysis) -> Report:
    """The report of cover@τ for all thresholds. Models with the highest cover@0.8 come first."""
    metrics = [Metric("cover@", 1, Fraction(tenth, 10)) for tenth in _TENTHS]
    confidence = study.confidence.with_methods_for_metrics(metrics)
    study = replace(study, metrics=tuple(metrics), confidence=confidence)
    facts = study.results()
    best = {
        fact.series: -(fact.estimate.value_or_midpoint or 0.0)
        for fact in facts
        if fact.name == _SAID
    }
    facts.sort(key=lambda fact: (best[fact.series], fact.series))
    section = CoverBySuccessRateTable(study, rows_by_series(facts))
    messages = (*study.messages(facts), *lacking_tasks_message(study.counts))
    return build_report(study, [section], messages=messages)
