"""The report on a run that is added to a history."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from passk_cli.commands.question import Question, ReadCounts, SharedOptions
from passk_cli.commands.record import RecordOptions
from passk_cli.commands.written_counts import WrittenTable, refuse_reserved_columns, written_models
from passk_cli.diagnostic import WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError, ParameterError, refuse_if_any
from passk_cli.files.history import (
    ATTEMPT_LISTS,
    RESERVED,
    RUN_COLUMNS,
    SETTINGS,
    append_run,
    is_folder_history,
)
from passk_cli.files.request import KEEP, Request
from passk_cli.files.sources.arguments import paths_of, split_label
from passk_cli.files.sources.paths import is_date_name
from passk_cli.metrics.registry import AMOUNTS, Metric
from passk_cli.option import split_at_commas
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import Report
from passk_cli.report.phrases import SeriesName, first_few, plural
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer
from passk_cli.study.duplicate_runs import DuplicateRun, copied_runs_warning, copies_between
from passk_cli.study.history import (
    INCOMPLETE,
    RunLabel,
    drop_incomplete_runs,
    read_history,
    runs_by_suite_and_series,
)
from passk_cli.study.section import build_report
from passk_cli.study.signature import signature
from passk_cli.study.values import Series
from passk_cli.suggested_fix import OptionValue, Placeholder, SuggestedFix
from passk_cli.text import strict_json

# A history records the entries in _SETTINGS from the signature as the settings of a run.
_SETTINGS = ("missing", "duplicates", "skip-bad", "threshold", "outcome", "records")


def parse_date(text: Any) -> str:
    """Parse the value of --date to ISO 8601 in UTC; ParameterError for text that is not a date.

    >>> parse_date("2026-11-23T06:00+02:00"), parse_date("2026-11-23")
    ('2026-11-23T04:00:00.000Z', '2026-11-23T00:00:00.000Z')
    """
    try:
        time = datetime.fromisoformat(text)
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        raise ParameterError(
            OptionValue("--date", text),
            "the date must be a day or a time, for example 2026-11-23 or 2026-11-23T04:00Z",
        ) from None
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_amounts(value: Any) -> tuple[str, ...]:
    """Parse the value of --with, a list of amounts; ParameterError for an unknown amount.

    >>> parse_amounts(["cost,tokens"])
    ('cost', 'tokens')
    """
    names = split_at_commas(value)
    if wrong := [name for name in names if name not in AMOUNTS]:
        problem = f"a history can record only {', '.join(AMOUNTS)}"
        raise ParameterError(OptionValue("--with", wrong[0]), problem)
    return names


# Maps each series to its runs. Each run in RunSizes is stored with the index of its series in the
# history.
RunSizes = Mapping[Series, Sequence[tuple[RunLabel, int]]]
NEW_MODEL = DiagnosticType(
    "new-model", WARNING,
    "suite {suite} has no earlier run of {new:and}, but runs of {old:and}",
    SuggestedFix({"--alias": "{alias}"}, "counts both as one model, if it was renamed"),
    meaning="The history has complete runs of this suite, but none of the models of this run.",
    why="A history treats runs of models with the same name as runs of one model. For a new name, a"
    " gate has no baseline and a trend has no earlier runs.",
    advice="If the model was renamed, use `--alias NEW=OLD`. If the model is new, you do not need"
    " to do anything.",
    example="warning[new-model]: suite all has no earlier run of m2, but runs of m; --alias m2=m"
    " counts both as one model, if it was renamed",
)  # fmt: skip


@dataclass(frozen=True)
class RecordedTable(WrittenTable):
    """One row per model, with the numbers of recorded tasks and attempts."""

    to: str = ""
    run: tuple[str, str, str, str] = ("", "", "", "")

    answers = (
        Answer("recorded", lambda _: True,
               "Recorded run {run}{?revision| of revision {revision}} of suite {suite} in {to}:"
               " {models:model} and {tasks:task}{?amounts|, with the {amounts:and} of each attempt}"
               "{?incomplete|, marked as incomplete}."),
    )  # fmt: skip

    @property
    def fields(self) -> Mapping[str, Any]:
        (run, _, revision, suite), counts = self.run, self.study.counts
        return {
            "run": run, "revision": revision if run != revision else "", "suite": suite,
            "models": len({record.series[0] for record in self.records}),
            "tasks": len(counts.tasks), "amounts": [AMOUNTS[role][1] for role in counts.attempts],
            "incomplete": INCOMPLETE in dict(self.study.decided), "to": self.to,
        }  # fmt: skip

    def context(self) -> Iterator[str]:
        yield self.run[1]


class RecordQuestion(Question, RecordOptions):
    """The question of `passk record`."""

    sections = (RecordedTable,)

    unbounded: ClassVar[str] = "a history contains one number of passes per task"

    def request(self, options: SharedOptions) -> Request:
        return replace(options.request, attempts=self.columns, missing_cost=KEEP)

    def metrics_of(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        return ()

    def study(self, options: SharedOptions, read: ReadCounts) -> Analysis:
        if self.to is None or self.at is None:
            lacking = {} if self.to else {"--to": Placeholder("FILE")}
            lacking |= {} if self.at else {"--at": Placeholder("REV")}
            # As with cp, the last of several files may be the destination, which is a history in
            # this command.
            files = paths_of(options.source)
            last = [f for f in files if f.endswith(".parquet")] == files[-1:] != files
            today = {
                "--to": self.to or (files[-1] if last else "history.parquet"),
                "--at": self.at or str(datetime.now(UTC).date()),
                # The option -o does not name a history, so the suggested command has no -o.
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
                    OptionValue("--at", self.at),
                    "this revision looks like a date, but does not set the date of the run",
                    settles=[
                        SuggestedFix({"--date": day}, "sets this date"),
                        SuggestedFix({"--date": max(now)}, "sets today's date"),
                    ],
                )  # fmt: skip
        refuse_if_any("contradicting-options", (
            options.request.price and "cost" not in self.columns,
            OptionValue("--price"), "prices are used only for costs, but no costs are recorded",
            (SuggestedFix({"--with": ("cost",)}, "records costs"),
             SuggestedFix({"--price": None})),
        ))  # fmt: skip
        refuse_reserved_columns(options.request.by, RESERVED, "a history")
        history_path = Path(self.to).resolve()
        for argument in paths_of(options.source):
            path = Path(split_label(argument)[1]).resolve()
            if history_path == path or (path.is_dir() and history_path.is_relative_to(path)):
                raise ParameterError(
                    OptionValue("--to", self.to),
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
        study = super().study(options, read)
        messages = list[Diagnostic]()
        if (history := self._history(study.counts, read)) is not None:
            runs = {series: rows for (suite, series),
                rows in runs_by_suite_and_series(history).items()
                    if suite == self.suite}  # fmt: skip
            losses = self._missing_attempt_problems(study.counts, history, runs)
            if losses and not self.incomplete:
                raise DataError(
                    OptionValue("--at", self.at), "; ".join(losses), name="run-lacks-attempts",
                    settles=[
                        SuggestedFix({"--incomplete": True},
                                     "records the run, but not for baselines"),
                        SuggestedFix({"--suite": Placeholder("NAME")},
                                     "starts a new suite, if you changed the benchmark"),
                    ],
                )  # fmt: skip
            messages += copied_runs_warning(self._copied_runs(study.counts, history, runs))
            messages += self._other_models(study.counts, runs)
        if self.incomplete:
            decided[INCOMPLETE] = "yes"
        return replace(study, decided=decided, reading=tuple(messages))

    def _history(self, counts: Counts, read: ReadCounts) -> Counts | None:
        path = str(self.to)
        is_folder = is_folder_history(path)
        files = glob.glob(f"{glob.escape(path)}/*.parquet") if is_folder else [path]
        if not any(map(os.path.isfile, files)):
            return None
        try:
            return drop_incomplete_runs(read_history(read, Request(by=counts.group_names), path))
        except DataError:
            # If the file is not a history, `append_run` raises an error when it adds a run.
            return None

    def _missing_attempt_problems(
        self, counts: Counts, history: Counts, runs: RunSizes
    ) -> list[str]:
        """One problem per model that lacks tasks or attempts of its last complete run."""
        words = []
        for s, series in enumerate(counts.series):
            if not runs.get(series):
                continue
            last, place = runs[series][-1]
            current, previous = _attempts_by_task(counts, s), _attempts_by_task(history, place)
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
        self, counts: Counts, history: Counts, runs: RunSizes
    ) -> Iterator[DuplicateRun]:
        for place, series in enumerate(counts.series):
            for recorded_series, rows in runs.items():
                if series[1:] == recorded_series[1:]:
                    name = f"{self.run or self.at} of {SeriesName(series)}"
                    rivals = {run.run: code for run, code in rows}
                    yield from copies_between(counts, place, history, rivals, name)

    def _other_models(self, counts: Counts, runs: RunSizes) -> Iterator[Diagnostic]:
        models = sorted({model for model, *_ in runs})
        new = sorted({series[0] for series in counts.series})
        if models and not {*models} & {*new}:
            alias = [f"{new[0]}={models[0]}"] if len(models) == len(new) == 1 else []
            yield NEW_MODEL(new=new, old=models, suite=self.suite, alias=alias)

    def report(self, study: Analysis) -> Report:
        import numpy as np

        counts = study.counts
        if counts.facts.not_understood or len(counts.facts.thresholds) > 1:
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
        settings = {name: entries[name] for name in _SETTINGS if name in entries}
        settings |= dict(study.decided)
        run = (self.run or revision, at, revision, self.suite)
        texts = dict(zip((*RUN_COLUMNS, SETTINGS), (*run, strict_json(settings)), strict=True))
        run_columns = {
            name: np.full(len(counts.n), text, dtype=object) for name, text in texts.items()
        }  # fmt: skip
        columns = run_columns | replace(counts, clusters=None).columns | _attempt_lists(counts)
        place = to.rstrip("/") + "/" if is_folder_history(to) else to
        added = RecordedTable(study, written_models(counts), to=place, run=run)
        report = build_report(study, [added], messages=study.messages(()), interval=None)
        return replace(report, commit=lambda: append_run(to, columns))


def _attempts_by_task(counts: Counts, place: int) -> dict[str, int]:
    rows = counts.rows_of(place)
    tasks = [counts.tasks[code] for code in counts.task_codes[rows].tolist()]
    return dict(zip(tasks, counts.n[rows].tolist(), strict=True))


def _attempt_lists(counts: Counts) -> dict[str, Any]:
    """Column → one list per model and task, with the values of passing attempts first."""
    import numpy as np

    def column(values: Any) -> Any:
        lists = np.empty(len(counts.n), dtype=object)
        lists[:] = [cell.tolist() for cell in np.split(values, np.cumsum(counts.n)[:-1])]
        return lists

    columns = {}
    for role, amounts in counts.attempts.items():
        times = np.concatenate([amounts.passed, amounts.count - amounts.passed])
        cells = np.repeat(np.tile(amounts.cell, 2), times)
        values = np.repeat(np.tile(amounts.value, 2), times).astype(object)
        values[np.isnan(values.astype(float))] = None
        columns[ATTEMPT_LISTS[role]] = column(values[np.argsort(cells, kind="stable")])
    if columns:
        passed = np.tile([True, False], len(counts.n))
        times = np.stack([counts.c, counts.n - counts.c], axis=1).ravel()
        columns[ATTEMPT_LISTS["outcome"]] = column(np.repeat(passed, times))
    return columns
