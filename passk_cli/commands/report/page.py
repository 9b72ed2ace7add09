"""The data and the options that commands use to compute the parts of a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from passk_cli.commands.command import load_command
from passk_cli.commands.runner import CommandRunner, SharedOptions, command_report
from passk_cli.errors import DataError
from passk_cli.files.request import Request
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import Report
from passk_cli.study.analysis import Analysis


@dataclass(frozen=True, kw_only=True)
class PageAnalysis(Analysis):
    """An analysis that can run other commands on its data.

    counts_by_command : maps each command to the counts that passk read only for this command, or to
        the reason why passk could not read the counts.
    absent_parts : maps each absent part (title and reason) to the sections that lack this part.
    """

    shared_options: SharedOptions
    counts_by_command: Mapping[str, Counts | str]
    baseline_name: str | None
    absent_parts: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    @property
    def models(self) -> list[str]:
        """The models, sorted by pass rate or, with several groups, by their best pass rate."""
        return list(
            dict.fromkeys(self.counts.series[s][0] for s in self.series_indices_by_pass_rate)
        )

    def command_report(
        self, command: str | type[CommandRunner], counts: Counts, **command_options: Any
    ) -> Report:
        """Run a command on counts and return its report."""
        options = replace(self.shared_options, source=counts)
        if "metrics" in command_options:
            metrics = replace(options.metric_options, k=(), metrics=command_options.pop("metrics"))
            options = replace(options, metric_options=metrics)

        def read(request: Request, source: Any = None) -> Counts:
            for column in request.by:
                if column not in counts.group_names and column not in self.counts.group_names:
                    raise DataError("Counts", f"no column {column!r}", name="no-such-column")
            return counts

        question = load_command(command).runner_class if isinstance(command, str) else command
        return command_report(question(**command_options), options, read)

    def counts_of_group(self, values: tuple[str, ...], counts: Counts) -> Counts:
        if not self.counts.group_names:
            return counts
        places = [1 + counts.group_names.index(name) for name in self.counts.group_names]
        other_places = [
            place for place in range(1, 1 + len(counts.group_names)) if place not in places
        ]
        series = [
            (name[0], *(name[place] for place in other_places))
            if tuple(name[place] for place in places) == values
            else None
            for name in counts.series
        ]
        return counts.with_renamed_series(
            series, tuple(counts.group_names[place - 1] for place in other_places)
        )
