"""The panel of a leaderboard that lists submissions with irregular results."""

from __future__ import annotations

from collections.abc import Iterator

from passk_cli.commands.compare.integrity import IntegrityTable
from passk_cli.commands.report.page import PageAnalysis
from passk_cli.report.data_types import ALWAYS, Estimate, ReportPagePanel, Table
from passk_cli.study.integrity import Submission
from passk_cli.study.result import Result
from passk_cli.study.section import build_report

_INSTRUCTIONS = (
    "The models in this table agree, lack attempts or pass tasks in a way that the difficulty of"
    " the tasks does not explain. A remark is a reason to look closer, not a verdict."
)
_NO_REMARK_TEXT = "passk has no remark about any model."


class PageIntegrityTable(IntegrityTable):
    """The table of irregular submissions on a page, without the submissions that have no remark.

    The data for download has one row per submission and remark.
    """

    title = ""
    visibility = ALWAYS

    def tables(self) -> Iterator[Table]:
        if remarkable := [record for record in self.records if record.remarks]:
            yield self.table(remarkable)

    def results_of(self, record: Submission) -> Iterator[Result]:
        for name, figure in record.remarks_by_name.items():
            share = Estimate(figure.observed_count / figure.total)
            more = {"number": figure.observed_count, "of": figure.total,
                "expected": figure.expected,
                    "remark": figure.words if figure.is_remarkable else ""}  # fmt: skip
            yield Result(
                record.series, name, None, share, against=figure.other_submission,
                p_adjusted=figure.p,
                extra_fields=more,
            )  # fmt: skip


def integrity_panel(page: PageAnalysis) -> ReportPagePanel | None:
    section = PageIntegrityTable.from_study(page)
    if not section.records:
        return None
    text = _INSTRUCTIONS if any(row.remarks for row in section.records) else _NO_REMARK_TEXT
    return ReportPagePanel("integrity", "Integrity", text, build_report(page, [section]))
