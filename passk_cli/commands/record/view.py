"""The report on a run that is added to a history."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from passk_cli.commands.record import RecordOptions
from passk_cli.commands.runner import CommandRunner, ReadCountsFunction, SharedOptions
from passk_cli.commands.written_counts import (
    CountsWrittenToFileTable,
    model_counts_written_to_file,
    refuse_reserved_columns,
)
from passk_cli.diagnostic import WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError, ParameterError, raise_parameter_error_if_any
from passk_cli.files.history import (
    PER_ATTEMPT_LIST_COLUMN_BY_ROLE,
    RESERVED_HISTORY_COLUMNS,
    RUN_DESCRIPTION_COLUMNS,
    SETTINGS_COLUMN,
    append_run_rows,
    is_folder_history,
)
from passk_cli.files.request import KEEP_MISSING, Request
from passk_cli.files.sources.arguments import paths_in_data, split_label
from passk_cli.files.sources.path_templates import is_date_name
from passk_cli.metrics.registry import AMOUNT_UNITS_AND_NOUNS, Metric
from passk_cli.option import split_at_commas
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import Report
from passk_cli.report.phrases import SeriesName, first_few, plural
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer
from passk_cli.study.duplicate_runs import DuplicateRun, copied_runs_warning, copies_in_other_counts
from passk_cli.study.history import (
    INCOMPLETE_RUN_SETTING_KEY,
    RecordedRunIdentity,
    drop_incomplete_and_skipped_runs,
    read_history_as_series_per_run,
    runs_by_suite_and_series,
)
from passk_cli.study.section import build_report
from passk_cli.study.signature import signature
from passk_cli.study.values import SeriesKey
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix
from passk_cli.text import printable_json

# A history stores the entries of the signature that _RECORDED_SETTINGS names as settings of a run.
_RECORDED_SETTINGS = ("missing", "duplicates", "skip-bad", "threshold", "outcome", "records")


def parse_date(text: Any) -> str:
    """Convert the value of --date to ISO 8601 in UTC, or raise a ParameterError.

    >>> parse_date("2026-11-23T06:00+02:00"), parse_date("2026-11-23")
    ('2026-11-23T04:00:00.000Z', '2026-11-23T00:00:00.000Z')
    """
    try:
        time = datetime.fromisoformat(text)
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        raise ParameterError(
            OptionWithValue("--date", text),
            "the date must be a day or a time, for example 2026-11-23 or 2026-11-23T04:00Z",
        ) from None
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_amount_names(value: Any) -> tuple[str, ...]:
    """Parse the value of --with, a list of amounts, or raise a ParameterError.

    >>> parse_amount_names(["cost,tokens"])
    ('cost', 'tokens')
    """
    names = split_at_commas(value)
    if wrong := [name for name in names if name not in AMOUNT_UNITS_AND_NOUNS]:
        problem = f"a history can record only {', '.join(AMOUNT_UNITS_AND_NOUNS)}"
        raise ParameterError(OptionWithValue("--with", wrong[0]), problem)
    return names


# RunsBySeries maps each series (a model with its groups) to the runs of the series. Each run is
# paired with the index that its series has in the counts of the history.
RunsBySeries = Mapping[SeriesKey, Sequence[tuple[RecordedRunIdentity, int]]]
NEW_MODEL_WARNING = DiagnosticType(
    "new-model", WARNING,
    "suite {suite} has no earlier run of {new:and}, but it has runs of {old:and}",
    SuggestedFix({"--alias": "{alias}"}, "counts both as one model, if it was renamed"),
    meaning="The history contains complete runs of the suite, but no run of a model in the new"
    " run.",
    why="In a history, runs with the same model name are runs of one model. If a model has a new"
    " name, passk gate finds no baseline, and passk trend finds no earlier runs.",
    advice="If the model was renamed, use `--alias NEW=OLD`. If the model is new, you do not need"
    " to do anything.",
    example="warning[new-model]: suite all has no earlier run of m2, but it has runs of m; --alias"
    " m2=m counts both as one model, if it was renamed",
)  # fmt: skip


@dataclass(frozen=True)
class RecordedCountsTable(CountsWrittenToFileTable):
    """One row per model, with the numbers of recorded tasks and attempts."""

    history_path: str = ""
    run_time_revision_and_suite: tuple[str, str, str, str] = ("", "", "", "")

    answers = (
        Answer("recorded", lambda _: True,
               "Recorded run {run}{?revision| of revision {revision}} of suite {suite} in {to}:"
               " {models:model} and {tasks:task}{?amounts|, with the {amounts:and} of each attempt}"
               "{?incomplete|, marked as incomplete}."),
    )  # fmt: skip

    @property
    def sentence_fields(self) -> Mapping[str, Any]:
        (run, _, revision, suite), counts = self.run_time_revision_and_suite, self.study.counts
        return {
            "run": run, "revision": revision if run != revision else "", "suite": suite,
            "models": len({record.series[0] for record in self.records}),
            "tasks": len(counts.tasks), "amounts": [AMOUNT_UNITS_AND_NOUNS[role][1]
                for role in counts.attempts],
            "incomplete": INCOMPLETE_RUN_SETTING_KEY in dict(self.study.signature_entries),
            "to": self.history_path,
        }  # fmt: skip

    def footer_parts(self) -> Iterator[str]:
        yield self.run_time_revision_and_suite[1]


class RecordRunner(CommandRunner, RecordOptions):
    """Reads the data of `passk record` and adds the run to a history."""

    sections = (RecordedCountsTable,)

    missing_bounds_refusal: ClassVar[str] = "a history contains one number of passes per task"

    def request(self, options: SharedOptions) -> Request:
        return replace(options.request, attempts=self.columns, missing_cost=KEEP_MISSING)

    def selected_metrics(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        return ()

    def read_analysis(self, options: SharedOptions, read: ReadCountsFunction) -> Analysis:
        if self.to is None or self.at is None:
            lacking = {} if self.to else {"--to": Placeholder("FILE")}
            lacking |= {} if self.at else {"--at": Placeholder("REV")}
            # Users may write the history as the last file, as they write the destination of `cp`.
            files = paths_in_data(options.source)
            last = [f for f in files if f.endswith(".parquet")] == files[-1:] != files
            today = {
                "--to": self.to or (files[-1] if last else "history.parquet"),
                "--at": self.at or str(datetime.now(UTC).date()),
                # -o does not name a history, so the suggested command leaves out -o.
                **({} if self.to else {"--output": None}),
            }
            settles = [
                SuggestedFix(lacking, "sets them" if len(lacking) > 1 else "sets it"),
                SuggestedFix(today, "records the run with today's date"),
            ]
            problem = "passk record needs a history and the revision of the run"
            raise ParameterError(problem, name="bad-output", settles=settles)
        if self.date is None and is_date_name(self.at):
            now = {str(datetime.now(zone).date()) for zone in (UTC, None)}
            if (day := parse_date(self.at)[:10]) not in now:
                raise ParameterError(
                    OptionWithValue("--at", self.at),
                    "this revision looks like a date, but does not set the date of the run",
                    settles=[
                        SuggestedFix({"--date": day}, "sets this date"),
                        SuggestedFix({"--date": max(now)}, "sets today's date"),
                    ],
                )  # fmt: skip
        raise_parameter_error_if_any("contradicting-options", (
            options.request.price and "cost" not in self.columns,
            OptionWithValue("--price"), "prices are used only for costs, but no costs are recorded",
            (SuggestedFix({"--with": ("cost",)}, "records costs"),
             SuggestedFix({"--price": None})),
        ))  # fmt: skip
        refuse_reserved_columns(options.request.by, RESERVED_HISTORY_COLUMNS, "a history")
        history_path = Path(self.to).resolve()
        for argument in paths_in_data(options.source):
            path = Path(split_label(argument)[1]).resolve()
            if history_path == path or (path.is_dir() and history_path.is_relative_to(path)):
                raise ParameterError(
                    OptionWithValue("--to", self.to),
                    f"the history is in {argument}, so the next command would read the history as"
                    " results; choose another folder", name="bad-output",
                )  # fmt: skip
        # Costs at different prices are not comparable, so the history records the prices.
        prices = [
            f"{name}: {price.input:g}, {price.output:g}"
            + ("" if price.cached is None else f", {price.cached:g} cached")
            for name, price in sorted(options.request.price.items())
        ]
        decided = {"price": "; ".join(prices)} if prices else {}
        study = super().read_analysis(options, read)
        messages = list[Diagnostic]()
        if (history := self._read_earlier_runs(study.counts, read)) is not None:
            runs = {series: rows for (suite, series),
                rows in runs_by_suite_and_series(history).items()
                    if suite == self.suite}  # fmt: skip
            losses = self._missing_attempt_problems(study.counts, history, runs)
            if losses and not self.incomplete:
                raise DataError(
                    OptionWithValue("--at", self.at), "; ".join(losses), name="run-lacks-attempts",
                    settles=[
                        SuggestedFix({"--incomplete": True},
                                     "records the run, but not for baselines"),
                        SuggestedFix({"--suite": Placeholder("NAME")},
                                     "starts a new suite, if you changed the benchmark"),
                    ],
                )  # fmt: skip
            messages += copied_runs_warning(self._copied_runs(study.counts, history, runs))
            messages += self._new_model_messages(study.counts, runs)
        if self.incomplete:
            decided[INCOMPLETE_RUN_SETTING_KEY] = "yes"
        return replace(study, signature_entries=decided, reading_messages=tuple(messages))

    def _read_earlier_runs(self, counts: Counts, read: ReadCountsFunction) -> Counts | None:
        path = str(self.to)
        is_folder = is_folder_history(path)
        files = glob.glob(f"{glob.escape(path)}/*.parquet") if is_folder else [path]
        if not any(map(os.path.isfile, files)):
            return None
        try:
            return drop_incomplete_and_skipped_runs(
                read_history_as_series_per_run(read, Request(by=counts.group_names), path)
            )
        except DataError:
            # If the file is not a history, `append_run_rows` raises an error when it adds a run.
            return None

    def _missing_attempt_problems(
        self, counts: Counts, history: Counts, runs: RunsBySeries
    ) -> list[str]:
        """One text per model with fewer tasks or attempts than in the model's last complete run."""
        words = []
        for s, series in enumerate(counts.series):
            if not runs.get(series):
                continue
            last, place = runs[series][-1]
            current, previous = (
                _attempt_count_by_task(counts, s),
                _attempt_count_by_task(history, place),
            )
            lost = [task for task in previous if task not in current]
            fewer = [task for task in previous if 0 < current.get(task, 0) < previous[task]]
            reference = f"that run {last.run} of {SeriesName(series)} has"
            if lost:
                tasks = plural(len(previous), "task")
                number, names = f"{len(lost):,} of {tasks}", first_few(lost)
                words.append(f"the run lacks {number} {reference} ({names})")
            elif fewer:
                missing = sum(previous[task] - current[task] for task in fewer)
                attempts = plural(sum(previous.values()), "attempt")
                number, names = f"{missing:,} of {attempts}", first_few(fewer)
                words.append(f"the run lacks {number} {reference} ({names})")
        return words

    def _copied_runs(
        self, counts: Counts, history: Counts, runs: RunsBySeries
    ) -> Iterator[DuplicateRun]:
        for place, series in enumerate(counts.series):
            for recorded_series, rows in runs.items():
                if series[1:] == recorded_series[1:]:
                    name = f"{self.run or self.at} of {SeriesName(series)}"
                    rivals = {run.run: code for run, code in rows}
                    yield from copies_in_other_counts(counts, place, history, rivals, name)

    def _new_model_messages(self, counts: Counts, runs: RunsBySeries) -> Iterator[Diagnostic]:
        models = sorted({model for model, *_ in runs})
        new = sorted({series[0] for series in counts.series})
        if models and not {*models} & {*new}:
            alias = [f"{new[0]}={models[0]}"] if len(models) == len(new) == 1 else []
            yield NEW_MODEL_WARNING(new=new, old=models, suite=self.suite, alias=alias)

    def report(self, study: Analysis) -> Report:
        import numpy as np

        counts = study.counts
        if counts.read_facts.unclear_outcome_count or len(counts.read_facts.thresholds) > 1:
            raise DataError(
                "record",
                "a history contains only passes and failures, but the data contains scores",
                name="bad-outcome",
                settles=[SuggestedFix({"--threshold": Placeholder("X")},
                                      "counts scores of at least X as passes")],
            )  # fmt: skip
        to, revision = str(self.to), str(self.at)
        at = self.date or parse_date(datetime.now(UTC).isoformat())
        entries = signature((), {}, counts)
        settings = {name: entries[name] for name in _RECORDED_SETTINGS if name in entries}
        settings |= dict(study.signature_entries)
        run = (self.run or revision, at, revision, self.suite)
        texts = dict(
            zip(
                (*RUN_DESCRIPTION_COLUMNS, SETTINGS_COLUMN),
                (*run, printable_json(settings)),
                strict=True,
            )
        )
        run_columns = {
            name: np.full(len(counts.n), text, dtype=object) for name, text in texts.items()
        }  # fmt: skip
        columns = (
            run_columns | replace(counts, clusters=None).columns | _attempt_list_columns(counts)
        )
        place = to.rstrip("/") + "/" if is_folder_history(to) else to
        added = RecordedCountsTable(
            study,
            model_counts_written_to_file(counts),
            history_path=place,
            run_time_revision_and_suite=run,
        )
        report = build_report(study, [added], messages=study.messages(()), interval=None)
        return replace(report, write_command_file=lambda: append_run_rows(to, columns))


def _attempt_count_by_task(counts: Counts, place: int) -> dict[str, int]:
    rows = counts.slice_of_series(place)
    tasks = [counts.tasks[code] for code in counts.task_codes[rows].tolist()]
    return dict(zip(tasks, counts.n[rows].tolist(), strict=True))


def _attempt_list_columns(counts: Counts) -> dict[str, Any]:
    """Map each column to lists of attempts, with one list per model and task.

    Passing attempts come first in each list.
    """
    import numpy as np

    def column(values: Any) -> Any:
        lists = np.empty(len(counts.n), dtype=object)
        lists[:] = [cell.tolist() for cell in np.split(values, np.cumsum(counts.n)[:-1])]
        return lists

    columns = {}
    for role, amounts in counts.attempts.items():
        times = np.concatenate([amounts.pass_count, amounts.count - amounts.pass_count])
        cells = np.repeat(np.tile(amounts.row_cell_indices, 2), times)
        values = np.repeat(np.tile(amounts.value, 2), times).astype(object)
        values[np.isnan(values.astype(float))] = None
        columns[PER_ATTEMPT_LIST_COLUMN_BY_ROLE[role]] = column(
            values[np.argsort(cells, kind="stable")]
        )
    if columns:
        passed = np.tile([True, False], len(counts.n))
        times = np.stack([counts.c, counts.n - counts.c], axis=1).ravel()
        columns[PER_ATTEMPT_LIST_COLUMN_BY_ROLE["outcome"]] = column(np.repeat(passed, times))
    return columns
