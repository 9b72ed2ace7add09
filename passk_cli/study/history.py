"""Reads a history of runs, and pools the last runs of a history as a baseline."""

from __future__ import annotations

import glob
import json
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import reduce
from itertools import compress, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from passk_cli.arrays import Bools, Floats, Ints
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError, ParameterError, raise_parameter_error_if_any
from passk_cli.files.database import quote_name_if_needed, quote_text
from passk_cli.files.history import (
    PER_ATTEMPT_LIST_COLUMN_BY_ROLE,
    RESERVED_HISTORY_COLUMNS,
    RUN_DESCRIPTION_COLUMNS,
    SETTINGS_COLUMN,
    duplicate_run_in_history_error,
    run_file_stem,
)
from passk_cli.files.request import Request
from passk_cli.files.sources.arguments import is_existing_data_argument
from passk_cli.files.sources.path_templates import is_date_name, run_label_by_file
from passk_cli.inference.run_effects import (
    largest_run_effect_difference,
    run_and_chance_variances,
    run_effect_variance,
    widen_by_run_effect,
)
from passk_cli.metrics.registry import AMOUNT_UNITS_AND_NOUNS, task_values
from passk_cli.outcomes.counts import Counts
from passk_cli.report.phrases import SeriesName, all_in_words, plural
from passk_cli.study.duplicate_runs import DuplicateRun, copied_runs_warning, find_copies
from passk_cli.study.values import SeriesKey, cells_with_any_known_amount
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix
from passk_cli.suggestions import did_you_mean_or_list, nearest_names

if TYPE_CHECKING:
    from passk_cli.inference.intervals import Interval
    from passk_cli.study.comparison import Comparison

RUN_AND_SETTINGS_COLUMNS = (*RUN_DESCRIPTION_COLUMNS, SETTINGS_COLUMN)
_LIKELY_RUN_COLUMN_NAMES = (
    "run", "date", "day", "night", "run_id", "build", "commit", "revision", "version", "timestamp",
)  # fmt: skip
# An error suggests one `passk record` command per file only if there are at most _MAX_RECORD_FIXES
# files.
_MAX_RECORD_FIXES = 3
_DATE_IN_FILE_NAME_PATTERN = re.compile(
    r"(?<!\d)(20\d\d)([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?!\d)"
)
# `passk record` marks a run that lacks tasks or attempts with the setting
# INCOMPLETE_RUN_SETTING_KEY.
INCOMPLETE_RUN_SETTING_KEY = "incomplete"
TASKS_NOT_IN_EVERY_RUN = DiagnosticType(
    "left-out-tasks", NOTE, "passk left out {tasks:task} of {model} that {tasks:is|are} not in"
    " every run",
    SuggestedFix({"--skip-run": "{run}"}, "leaves out the run with the fewest"),
    meaning="If a task is missing from at least one run, passk leaves the task out of all runs.",
    why="If a run has an additional task or lacks a task, the average changes even if the model did"
    " not change.",
    advice="If you want to keep more tasks, use `--skip-run RUN` to leave out the run with the"
    " fewest tasks.",
    example="note[left-out-tasks]: passk left out 3 tasks of alpha that are not in every run;"
    " --skip-run r7 leaves out the run with the fewest",
)  # fmt: skip

BASELINE_RUNS_LACK_TASKS = DiagnosticType(
    "short-runs", NOTE, "{runs:run} of the baseline {runs:lacks|lack} tasks: {names}",
    SuggestedFix({"--skip-run": "{run}"}, "leaves out the run with the fewest"),
    meaning="Some runs of the baseline do not have all tasks of the baseline. A baseline of"
    " several runs consists of the tasks that appear in at least half of the runs.",
    why="If passk used only the tasks that all runs have, passk would not notice if the new run"
    " lost the same tasks as an earlier run.",
    advice="If a run is not usable, leave it out with `--skip-run RUN`.",
    example="note[short-runs]: 2 runs of the baseline lack tasks: r7 has 180 of 200, r9 has 199"
    " of 200; --skip-run r7 leaves out the run with the fewest",
)  # fmt: skip
INCOMPLETE_RUNS = DiagnosticType(
    "incomplete-runs", NOTE, "{runs:run} recorded as incomplete {runs:is|are} left out: {names}",
    meaning="Incomplete runs were recorded with `passk record --incomplete`, which marks a run that"
    " lacks tasks or attempts.",
    why="An incomplete run stays in the history, but passk does not use the run for baselines or"
    " trends.",
    advice="You do not need to do anything. If an incomplete run was completed later, record it"
    " again under a new name.",
    example="note[incomplete-runs]: 2 runs recorded as incomplete are left out: r7, r9",
)  # fmt: skip
RUNS_WITHOUT_AMOUNT = DiagnosticType(
    "runs-without", NOTE,
    "{runs:run} without {noun} {runs:is|are} left out of results about {noun}: {models}",
    meaning="Some runs were recorded without `--with`, so these runs do not contain an amount such"
    " as the cost.",
    why="Pass rates are computed from all runs. Statistics of an amount, such as the cost, use"
    " only runs that contain the amount. For statistics of an amount, `:last5` selects the last 5"
    " runs that contain the amount.",
    advice="Record the next runs with `passk record --with`, for example with `--with cost`.",
    example="note[runs-without]: 2 runs without cost are left out of results about cost: alpha 2 of"
    " 9",
)  # fmt: skip
UNPRICED_RUNS = DiagnosticType(
    "unpriced-runs", WARNING,
    "the {noun} of every attempt of {model} is 0 in {runs:run}, which {runs:is|are} left out:"
    " {names}",
    meaning="In some runs, an amount such as the cost is 0 for every attempt of the model, so"
    " passk leaves these runs out.",
    why="Harnesses write 0 if a model has no price, or if nothing was counted. If passk used runs"
    " with a cost of 0, the history would look as if the cost had fallen to 0.",
    advice="Correct the price in the harness, or compute costs from tokens with `--price`.",
    example="warning[unpriced-runs]: the cost of every attempt of alpha is 0 in 2 runs, which"
    " are left out: r7, r9",
)  # fmt: skip


class RecordedRunIdentity(NamedTuple):
    """The time (ISO 8601, UTC), name, revision and settings that identify a recorded run."""

    time: str
    run: str
    revision: str
    settings_json: str

    @property
    def options(self) -> dict[str, Any]:
        """The options with which the run was recorded, parsed from the settings of the run."""
        try:
            return dict(json.loads(self.settings_json))
        except ValueError:
            return {SETTINGS_COLUMN: self.settings_json}

    @property
    def complete(self) -> bool:
        """Whether the run is complete.  Every run is complete unless it was recorded as
        incomplete."""
        return INCOMPLETE_RUN_SETTING_KEY not in self.options


@dataclass(frozen=True)
class RunGroup:
    """The runs of a series (a model and its group values) on one suite of tasks, sorted by time.

    shared_task_codes : codes of the tasks that every run has.
    cell_indices : for each run and shared task, the index of the cell in the counts of the history,
        (runs × tasks).
    dropped_task_count : number of tasks that at least one run does not have.
    """

    suite: str
    series: SeriesKey
    runs: tuple[RecordedRunIdentity, ...]
    shared_task_codes: Ints
    cell_indices: Ints
    n: Ints
    c: Ints
    dropped_task_count: int = 0
    run_with_fewest_tasks: str = ""

    def with_last_runs(self, number: int) -> RunGroup:
        """The group with only the last `number` runs, or with all runs if there are fewer."""
        return self.select_runs(np.arange(len(self.runs)) >= len(self.runs) - number)

    def select_runs(self, selected: Bools) -> RunGroup:
        """The group with only the selected runs."""
        return replace(
            self, runs=tuple(compress(self.runs, selected)),
            cell_indices=self.cell_indices[selected], n=self.n[selected], c=self.c[selected],
        )  # fmt: skip

    def series_index_by_run(self, counts: Counts) -> dict[str, int]:
        """A dict that maps the name of each run to the index of the run's series in the counts of
        the history."""
        codes = counts.series_codes[self.cell_indices[:, 0]].tolist()
        return {run.run: code for run, code in zip(self.runs, codes, strict=True)}

    @property
    def differing_options(self) -> list[str]:
        """The names of options that differ between the runs of the group."""
        settings = [run.options for run in self.runs]
        names = dict.fromkeys(name for options in settings for name in options)
        return [n for n in names if len({str(options.get(n)) for options in settings}) > 1]

    @property
    def copies(self) -> list[DuplicateRun]:
        """The runs that are probably copies of an earlier run, because almost all outcomes are the
        same."""
        names = [f"{run.run} of {SeriesName(self.series)}" for run in self.runs]
        pairs, copies = math.comb(len(names), 2), []
        for n in np.unique(self.n, axis=0):
            rows = np.flatnonzero((self.n == n).all(axis=1))
            copies += find_copies([names[row] for row in rows], n, self.c[rows], pairs)
        return copies

    @property
    def messages(self) -> list[Diagnostic]:
        """The messages about tasks that are left out, and about runs that are probably copies."""
        model, notes = " ".join(filter(None, self.series)), list(copied_runs_warning(self.copies))
        if self.dropped_task_count:
            notes.append(
                TASKS_NOT_IN_EVERY_RUN(
                    tasks=self.dropped_task_count, model=model, run=self.run_with_fewest_tasks
                )
            )
        return notes


def read_history_as_series_per_run(
    read: Callable[..., Counts], request: Request, *source: Any, files: Sequence[str] = ()
) -> Counts:
    """The counts of a history, with one series for each run of each model.

    The last group columns of these counts describe the run, for example its name and time.

    source : the data to read instead of the command's data.
    Errors: DataError if the data is not a history, or if it does not contain a requested amount.
    """
    try:
        counts_request = replace(
            request, by=(*request.by, *RUN_AND_SETTINGS_COLUMNS), attempts=(), duplicates="keep"
        )
        first = read(counts_request, *source)
        unused = [name for file in first.read_facts.file_readings for name in file.unused_columns]
        reserved = (*RESERVED_HISTORY_COLUMNS, *request.by)
        groups = tuple(n for n in dict.fromkeys(unused) if n not in reserved)
        full_request = replace(request, by=(*request.by, *groups, *RUN_AND_SETTINGS_COLUMNS))
        all_runs = read(replace(full_request, attempts=()), *source)
        for role in request.attempts:
            all_runs = _add_amounts(
                read, replace(full_request, attempts=(role,)), all_runs, unused, source
            )
        return all_runs
    except DataError as error:
        if error.problem in [f"no column {name!r}" for name in RUN_AND_SETTINGS_COLUMNS]:
            raise DataError(
                error.place, f"this file is not a history of runs, because it has {error.problem}",
                "name a file that `passk record` has written", name="no-history",
                settles=_record_command_fixes(read, request, source, files),
            ) from None  # fmt: skip
        raise


def _record_command_fixes(
    read: Callable[..., Counts], request: Request, source: Sequence[Any], files: Sequence[str]
) -> Sequence[SuggestedFix]:
    for column in _LIKELY_RUN_COLUMN_NAMES:
        try:
            counts = read(replace(request, by=(column,), attempts=(), duplicates="keep"), *source)
        except DataError:
            continue
        runs = sorted({series[-1] for series in counts.series} - {""})
        days = bool(runs) and all(map(is_date_name, runs))
        # Numbers in a column named run are usually attempt numbers.
        if not days and (column == "run" or len(runs) < 2):
            continue
        where = (
            {"--where": f"{quote_name_if_needed(column)} = {quote_text(runs[0])}"}
            if runs[1:]
            else {}
        )
        for keep in ({}, {"--duplicates": "keep"}):
            try:
                read(request.with_fix(SuggestedFix(where | keep)), *source)
            except DataError:
                continue
            dated = {"--date": runs[0]} if is_date_name(runs[0]) else {}
            options = {**where, **keep, "--to": "history.parquet", "--at": runs[0], **dated}
            subject = f"the first of {len(runs):,} runs" if runs[1:] else "the run"
            why = f"records {subject}; passk trend history.parquet shows all"
            return (SuggestedFix(options, why, "record"),)
    if source:
        return ()
    amounts = {"--with": request.attempts} if request.attempts else {}
    settles = [*_record_command_fixes_per_file(read, request, files, amounts)]
    try:
        read(request)
    except DataError:
        return settles
    subject = all_in_words(plural(len(files), "file")) if files[1:] else "it"
    why = f"records {subject} as today's run"
    today = {"--to": "history.parquet", "--at": str(datetime.now(UTC).date()), **amounts}
    return (*settles, SuggestedFix(today, why, "record"))


def _record_command_fixes_per_file(
    read: Callable[..., Counts], request: Request, files: Sequence[str], amounts: Mapping[str, Any]
) -> Iterator[SuggestedFix]:
    several = len(files) > 1 and all(map(os.path.isfile, files))
    revisions = run_label_by_file(files) if several else {}
    days = {
        file: _DATE_IN_FILE_NAME_PATTERN.search(os.path.basename(file))
        for file in islice(revisions, _MAX_RECORD_FIXES)
    }
    try:
        counts = [read(request, [file]) for file in days]
    except (DataError, ParameterError):
        return
    has_models = any(
        "model" in file.roles for part in counts for file in part.read_facts.file_readings
    )
    if has_models and len({model for part in counts for model, *_ in part.series}) > 1:
        return
    for file, day in days.items():
        options = {"--date": "-".join(day.group(1, 3, 4))} if day else {}
        options = {"--to": "history.parquet", "--at": revisions[file], **options}
        why = "records a run of one agent" + ("" if day else ", dated now")
        labels = {path: "" for path in files if path != file} | (
            {} if has_models else {file: "agent"}
        )
        yield SuggestedFix({**options, **amounts}, why, "record", labels)
    if not all(days.values()):
        yield SuggestedFix({"--date": Placeholder("DAY")}, "sets the date of a run", "record")


def _add_amounts(
    read: Callable[..., Counts], request: Request, all_runs: Counts, columns: Sequence[str],
    source: Sequence[Any],
) -> Counts:  # fmt: skip
    (role,) = request.attempts
    lists = {value: PER_ATTEMPT_LIST_COLUMN_BY_ROLE.get(value, "") for value in ("outcome", role)}
    noun, place = (
        AMOUNT_UNITS_AND_NOUNS.get(role, ("", role))[1],
        all_runs.read_facts.file_readings[0].name,
    )
    if lacking := [value for value, name in lists.items() if name not in columns]:
        keeps = all(value in PER_ATTEMPT_LIST_COLUMN_BY_ROLE for value in lacking)
        options = {"--to": place, "--at": Placeholder("REV"), "--with": (role,)}
        raise DataError(
            place, f"no run in this history contains the {noun} of attempts",
            "" if keeps
            else "a history contains only passes and amounts of attempts; use a result file as the"
            " baseline",
            name="no-role-column",
            settles=[SuggestedFix(options, f"records the {noun} of a run", "record")]
            * keeps,
        )  # fmt: skip
    has_lists = " AND ".join(f"{name} IS NOT NULL" for name in lists.values())
    where = f"({request.where}) AND {has_lists}" if request.where else has_lists
    try:
        with_amounts = read(
            replace(request, fields={**request.fields, **lists}, where=where), *source
        )
    except DataError as error:
        if error.problem not in [f"no column {name!r}" for name in lists.values()]:
            raise
        raise DataError(
            error.place,
            f"no run in this file contains the {noun} of attempts",
            "leave the file out",
            name="no-role-column",
        ) from None

    def run_numbers(counts: Counts) -> Counter[str]:
        return Counter(model for model, *_ in counts.series)

    runs, without = run_numbers(all_runs), run_numbers(all_runs) - run_numbers(with_amounts)
    models = [f"{model} {n} of {runs[model]}" for model, n in sorted(without.items())]
    notes = [RUNS_WITHOUT_AMOUNT(runs=without.total(), noun=noun, models=models)] if models else []
    known_messages = set(all_runs.read_facts.messages)
    notes += [
        message for message in with_amounts.read_facts.messages if message not in known_messages
    ]
    return all_runs.with_messages(*notes).with_attempts_from(with_amounts, role)


def with_attempts_of_known_amount(counts: Counts, role: str) -> Counts:
    """The counts of only the attempts with a known amount (for example cost), or all counts if
    `role` is ""."""
    if not role:
        return counts
    cells, numbers, passed = cells_with_any_known_amount(counts.attempts[role])
    n, c = np.zeros_like(counts.n), np.zeros_like(counts.c)
    n[cells], c[cells] = numbers, passed
    return counts.with_fewer_attempts(n, c)


def runs_by_suite_and_series(
    counts: Counts,
) -> dict[tuple[str, SeriesKey], list[tuple[RecordedRunIdentity, int]]]:
    """For each pair of a suite and a series, the runs sorted by time.  Each run has the index of
    its own series in the history."""
    at = [1 + counts.group_names.index(name) for name in RUN_AND_SETTINGS_COLUMNS]
    runs: dict[tuple[str, SeriesKey], list[tuple[RecordedRunIdentity, int]]] = {}
    for s, series in enumerate(counts.series):
        run, time, revision, suite, settings = (series[place] for place in at)
        setup_series = tuple(name for place, name in enumerate(series) if place not in at)
        runs.setdefault((suite, setup_series), []).append(
            (RecordedRunIdentity(time, run, revision, settings), s)
        )
    return {key: sorted(rows) for key, rows in sorted(runs.items())}


def drop_incomplete_and_skipped_runs(counts: Counts, skipped: Sequence[str] = ()) -> Counts:
    """The history without incomplete runs, and without the runs that the user skips.

    skipped : names or revisions of runs.
    Errors: ParameterError if no run has a skipped name.  DataError if no run remains.
    """
    labels = {
        place: run for rows in runs_by_suite_and_series(counts).values() for run, place in rows
    }
    names = {name for run in labels.values() for name in (run.run, run.revision)}
    for name in skipped:
        if name not in names:
            raise ParameterError(
                OptionWithValue("--skip-run", name),
                f"the history has no such run; {did_you_mean_or_list(name, names)}"
            )  # fmt: skip
    selected = [run for run in labels.values() if not {run.run, run.revision} & {*skipped}]
    if not any(run.complete for run in selected):
        raise DataError(
            "history", "no run remains, because all runs are skipped or incomplete",
            name="no-history-yet",
        )  # fmt: skip
    new_series = [series if labels[s] in selected and labels[s].complete else None
            for s, series in enumerate(counts.series)]  # fmt: skip
    if None not in new_series:
        return counts
    short = sorted({(run.time, run.run) for run in selected if not run.complete})
    notes = [INCOMPLETE_RUNS(runs=len(short), names=[name for _, name in short])] if short else []
    return counts.with_renamed_series(new_series, counts.group_names).with_messages(*notes)


def _files_of_run(counts: Counts, run: str) -> list[str]:
    folders = dict.fromkeys(os.path.dirname(file.name) for file in counts.read_facts.file_readings)
    pattern = f"{glob.escape(run_file_stem(run))}-*.parquet"
    return sorted(name for folder in folders
                  for name in glob.glob(os.path.join(glob.escape(folder), pattern)))  # fmt: skip


def find_run_groups(counts: Counts) -> list[RunGroup]:
    """The groups of runs in a history, with one group for each series on each suite.

    Errors: DataError for a run that was recorded twice, or if the runs of a group have no task in
        common.

    >>> names = [("m", name, f"2026-01-0{day}", "rev", "suite", "{}")
    ...          for day, name in ((2, "b"), (1, "a"))]
    >>> n, c = np.array([4, 4]), np.array([1, 3])
    >>> counts = Counts.from_columns(names, ["t", "t"], n, c, RUN_AND_SETTINGS_COLUMNS)
    >>> (setup,) = find_run_groups(counts)
    >>> setup.suite, setup.series, [run.run for run in setup.runs], setup.c.tolist()
    ('suite', ('m',), ['a', 'b'], [[3], [1]])
    """
    all_setups = []
    for (suite, series), rows in runs_by_suite_and_series(counts).items():
        names = [run.run for run, _ in rows]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise duplicate_run_in_history_error(
                f"run {twice} of {series[0]}", suite, _files_of_run(counts, twice)
            )
        cells = [counts.slice_of_series(s) for _, s in rows]
        tasks = [counts.task_codes[cell_range] for cell_range in cells]
        shared = reduce(np.intersect1d, tasks)
        if not len(shared):
            remaining = (
                [[*tasks[:i], *tasks[i + 1 :]] for i in range(len(rows))] if rows[2:] else []
            )
            removable = compress(
                names, (len(reduce(np.intersect1d, tasks_left)) for tasks_left in remaining)
            )
            raise DataError(
                "history", f"the {len(rows)} runs of {series[0]} have no task in common"
                f" (suite {suite})", name="different-tasks",
                settles=[SuggestedFix({"--skip-run": (name,)}, "leaves out this run")
                         for name in islice(removable, 1)],
            )  # fmt: skip
        places = np.array([cell_range.start + np.searchsorted(t, shared)
                           for cell_range, t in zip(cells, tasks, strict=True)])  # fmt: skip
        all_setups.append(RunGroup(
            suite, series, tuple(run for run, _ in rows), shared,
            places, counts.n[places], counts.c[places],
            len(reduce(np.union1d, tasks)) - len(shared),
            names[int(np.argmin([len(t) for t in tasks]))],
        ))  # fmt: skip
    return all_setups


def pool_runs(
    counts: Counts, parts: Sequence[tuple[SeriesKey, Ints]], group_names: tuple[str, ...]
) -> Counts:
    """The counts of several runs added together, in series with new names.

    parts : one pair per new series, which contains the series and the indices of the cells to add
        together.
    """
    mask, names = np.zeros(len(counts.n), dtype=np.int64), {}
    for series, cells in parts:
        mask[cells] = 1
        names.update(dict.fromkeys(counts.series_codes[cells].ravel().tolist(), series))
    new_names = {counts.series[code]: series for code, series in names.items()}
    selected = counts.with_fewer_attempts(counts.n * mask, counts.c * mask)
    return selected.with_renamed_series(
        [new_names[series] for series in selected.series], group_names
    )


def shift_logits(rates: Floats, effect: float | Floats) -> Floats:
    """The success rates after an effect is added to the logits of `rates`.  Rates of 0 and 1 do not
    change.

    >>> shift_logits(np.array([0.0, 0.5]), math.log(3)).round(12).tolist()
    [0.0, 0.75]
    """
    odds = np.exp(effect)
    shifted: Floats = rates * odds / (1.0 - rates + rates * odds)
    return shifted


_LAST_RUNS_PATTERN = re.compile(r"(?P<path>.+?):last(?P<runs>\d+)")


def parse_last_runs(argument: Any) -> tuple[str, int] | None:
    """The path and the number of runs in an argument such as "history.parquet:last5", or None if
    the argument does not end in ":lastN".

    >>> parse_last_runs("history.parquet:last5"), parse_last_runs("main.csv")
    (('history.parquet', 5), None)
    """
    match = _LAST_RUNS_PATTERN.fullmatch(argument) if isinstance(argument, str) else None
    return None if match is None else (match["path"], int(match["runs"]))


def refuse_same_file(files: Sequence[str], history: str) -> None:
    """Raise ParameterError if a file of the new run is the history of the baseline."""
    if os.path.abspath(history) in map(os.path.abspath, files):
        raise ParameterError(f"{history}: this file is the history of the baseline, not a new run;"
                             " give the result files of the new run")  # fmt: skip


def missing_last_runs_suffix_error(
    read: Callable[..., Counts], baseline: Any
) -> ParameterError | None:
    """The error for a baseline that is a history without ":lastN", or None if the baseline is not a
    history."""
    if not isinstance(baseline, str):
        return None
    try:
        all_setups = find_run_groups(read_history_as_series_per_run(read, Request(), baseline))
    except DataError:
        return None
    runs: dict[str, int] = {}
    for setup in all_setups:
        runs[setup.suite] = min(5, max(len(setup.runs), runs.get(setup.suite, 0)))
    return ParameterError(
        OptionWithValue("--baseline", baseline),
        "this file is a history; choose which runs are the baseline",
        settles=[
            SuggestedFix({"--baseline": f"{baseline}:{suite}:last{most}"},
                   f"the last {most} runs" if most > 1 else "the last run")
            for suite, most in sorted(runs.items())[:3]
        ],
    )  # fmt: skip


class RunsWithAmount(NamedTuple):
    """The runs of a history that are used for one amount, for example only runs with costs.

    history : counts with one series per run.
    run_groups : maps each series to all of its runs.
    pooled_run_cell_indices : maps each series to one array of cell indices per pooled run.  The
        arrays contain only tasks that at least half of the pooled runs have.
    """

    history: Counts
    run_groups: Mapping[SeriesKey, RunGroup]
    pooled_run_cell_indices: Mapping[SeriesKey, Sequence[Ints]]

    @property
    def pooled_run_count_by_series(self) -> dict[SeriesKey, int]:
        """The number of pooled runs of each series."""
        return {series: len(cells) for series, cells in self.pooled_run_cell_indices.items()}

    def with_replaced_passes(self, c: Ints) -> RunsWithAmount:
        """A copy of these runs with other numbers of passes, for example simulated numbers."""
        setups = {
            s: replace(setup, c=c[setup.cell_indices]) for s, setup in self.run_groups.items()
        }
        return RunsWithAmount(
            replace(self.history, c=c, attempts={}), setups, self.pooled_run_cell_indices
        )


@dataclass(frozen=True)
class PooledBaseline:
    """The last runs of a history, pooled as a baseline, and the variance between runs.

    counts : the counts of the last runs added together.  The data of an amount, for example of
        costs, comes only from runs with this amount.
    latest_run_counts : the counts of the latest run among the pooled runs with the most tasks.
    runs_by_amount : maps an amount that a metric needs, or "" for passes, to the runs with this
        amount.
    """

    counts: Counts
    latest_run_counts: Counts
    runs_by_amount: Mapping[str, RunsWithAmount]

    @property
    def fewest_runs(self) -> tuple[int, str]:
        """The smallest number of runs of any series for any amount, and the amount with this number
        of runs."""
        return min((len(setup.runs), role) for role, past in self.runs_by_amount.items()
                   for setup in past.run_groups.values())  # fmt: skip

    def run_and_chance_variances(self, series: SeriesKey) -> tuple[float, float, int]:
        """For a series, the variance of pass@1 between runs, the variance that chance explains, and
        the number of runs.

        Both variances are 0 if there is only one run or one task.
        """
        setup = self.runs_by_amount[""].run_groups[series]
        if len(setup.runs) < 2 or len(setup.shared_task_codes) < 2:
            return 0.0, 0.0, len(setup.runs)
        return *run_and_chance_variances(setup.c / setup.n), len(setup.runs)

    def simulate_runs(
        self, base: Counts, rates: Floats, scales: Mapping[SeriesKey, float],
        generator: np.random.Generator,
    ) -> tuple[PooledBaseline, Ints]:  # fmt: skip
        """A baseline from a history with simulated outcomes, and the number of passes in each cell
        of the pooled runs.

        base : the counts of the last runs added together.
        rates : the success rate of each cell of `base`.
        scales : maps each series to the standard deviation of run effects.  Run effects act on
            logits of success rates.
        """
        past, passes = self.runs_by_amount[""], np.zeros_like(base.n)
        history = past.history
        c = history.c.copy()
        for s, series in enumerate(base.series):
            rows, setup, recent = (
                base.slice_of_series(s),
                past.run_groups[series],
                past.pooled_run_cell_indices[series],
            )
            tasks = np.unique(np.concatenate([history.task_codes[cells] for cells in recent]))
            older = setup.cell_indices[: len(setup.runs) - len(recent)]
            for cells in (*older, *recent):
                effect = scales[series] * generator.standard_normal()
                run_rates = rates[rows][np.searchsorted(tasks, history.task_codes[cells])]
                c[cells] = generator.binomial(history.n[cells], shift_logits(run_rates, effect))
            for cells in recent:
                at = np.searchsorted(tasks, history.task_codes[cells])
                passes[rows][at] += c[cells]
        return replace(
            self, runs_by_amount={**self.runs_by_amount, "": past.with_replaced_passes(c)}
        ), passes

    def widen(self, c: Comparison, interval: Interval) -> Interval:
        """The interval of a difference from this baseline, widened by the variance between runs."""
        estimate, level = c.difference, interval.level if math.isnan(c.alpha) else 1 - c.alpha
        if None in (interval.low, interval.high, estimate):
            return interval
        limit_shift = self.interval_limit_shift(c, level)
        if math.isnan(limit_shift):
            reason = f"the runs of the history have too few attempts for {c.first.metric.name}"
            return replace(interval, low=None, high=None, reason=reason)
        low, high = widen_by_run_effect(
            estimate or 0.0, interval.low or 0.0, interval.high or 0.0, limit_shift
        )
        most = math.inf if c.first.metric.definition.amount_unit else 1.0
        return replace(interval, low=max(low, -most), high=min(high, most))

    def interval_limit_shift(self, c: Comparison, level: float) -> float:
        """The distance by which the variance between runs moves the limits of an interval.

        The distance is 0 if there is only one run or one task, and NaN if the runs have too few
        attempts for the metric.
        """
        base, past = (
            c.second.series,
            self.runs_by_amount[c.first.metric.definition.required_attempt_data],
        )
        setup = past.run_groups[base]
        if len(setup.runs) < 2 or len(setup.shared_task_codes) < 2:
            return 0.0
        cells = setup.cell_indices.ravel()
        attempts = {role: bag.take_cells(cells) for role, bag in past.history.attempts.items()
                    if role == c.first.metric.definition.required_attempt_data}  # fmt: skip
        n, passes = setup.n.ravel(), setup.c.ravel()
        values = task_values([c.first.metric], n, passes, attempts)[0].reshape(setup.n.shape)
        values = values[:, ~np.isnan(values).any(axis=0)]
        if values.shape[1] < 2:
            return math.nan
        return largest_run_effect_difference(
            run_effect_variance(values),
            past.pooled_run_count_by_series[base],
            len(setup.runs),
            level,
        )


_FIRST_RUN_OPTION_FIX = SuggestedFix(
    {"--first-run": True}, "accepts a first run, which has no history"
)


def read_pooled_baseline(
    read: Callable[..., Counts], request: Request, argument: str, skipped: Sequence[str] = ()
) -> PooledBaseline:
    """Read the baseline that an argument like "history.parquet:last5" names.

    argument : the path, the suite (if the history has several suites) and ":last" with the number
        of runs, separated by colons.
    Errors: DataError for a file that is not a history, or for a suite that is missing or unknown.
        ParameterError for a number of runs below 1.
    """
    parsed = parse_last_runs(argument)
    assert parsed is not None
    (path, number), suite = parsed, ""
    if not is_existing_data_argument(path) and ":" in path:
        path, _, suite = path.rpartition(":")
    if not is_existing_data_argument(path):
        place = OptionWithValue("--baseline", argument)
        raise DataError(
            place, "there is no such history", name="no-history-yet",
            settles=[_FIRST_RUN_OPTION_FIX],
        )  # fmt: skip
    if number < 1:
        problem = "the number of runs must be at least 1, for example :last1"
        raise ParameterError(OptionWithValue("--baseline", argument), problem)
    counts = drop_incomplete_and_skipped_runs(
        read_history_as_series_per_run(read, request, path), skipped
    )
    suites = sorted({suite for suite, _ in runs_by_suite_and_series(counts)})
    if suite not in suites and (suite or len(suites) > 1):
        similar = nearest_names(suite, suites) or suites[:3]
        settles = [SuggestedFix({"--baseline": f"{path}:{name}:last{number}"}) for name in similar]
        raise DataError(
            OptionWithValue("--baseline", argument),
            f"this history has the suites {', '.join(suites)}",
            name="no-history-yet" if suite else "no-such-suite",
            settles=[*settles, *[_FIRST_RUN_OPTION_FIX] * bool(suite)],
        )  # fmt: skip
    suite_name = suite or suites[0]
    names = tuple(name for name in counts.group_names if name not in RUN_AND_SETTINGS_COLUMNS)
    raise_parameter_error_if_any("other-groups", (
        names != request.by, OptionWithValue("--baseline", argument),
        f"the runs of the history are split by {', '.join(names) or 'nothing'}",
        (SuggestedFix({"--by": names or None}, "splits the new run like the history"),),
    ))  # fmt: skip
    runs_by_amount, pools = {}, {}
    for role in ("", *request.attempts):
        history = with_attempts_of_known_amount(counts, role)
        by_series = {s.series: s for s in find_run_groups(history) if s.suite == suite_name}
        recent = {s: _cells_of_last_runs(history, setup, number) for s, setup in by_series.items()}
        runs_by_amount[role] = RunsWithAmount(history, by_series, recent)
        parts = [(s, np.concatenate(cells)) for s, cells in recent.items()]
        pools[role] = pool_runs(history, parts, names)
        if not role:
            newest = [(s, _cells_of_latest_run(history, cells)) for s, cells in recent.items()]
            latest = pool_runs(history, newest, names)
            notes = [
                *copied_runs_warning(
                    c for s in by_series.values() for c in s.with_last_runs(number).copies
                )
            ]
            for series, setup in by_series.items():
                notes += _runs_lacking_tasks_message(history, setup, recent[series])
    total = replace(pools[""], attempts={})
    for role in request.attempts:
        total = total.with_attempts_from(pools[role], role)
    return PooledBaseline(total.with_messages(*notes), latest, runs_by_amount)


def _cells_of_last_runs(history: Counts, setup: RunGroup, number: int) -> list[Ints]:
    codes = history.series_codes[setup.cell_indices[-number:, 0]].tolist()
    cells = [np.arange(len(history.n))[history.slice_of_series(code)] for code in codes]
    all_tasks = np.concatenate([history.task_codes[run_cells] for run_cells in cells])
    tasks, runs = np.unique(all_tasks, return_counts=True)
    common = tasks[2 * runs >= len(cells)]
    return [run_cells[np.isin(history.task_codes[run_cells], common)] for run_cells in cells]


def _cells_of_latest_run(history: Counts, runs: Sequence[Ints]) -> Ints:
    """For each task, the cell in the latest run with the most tasks, or else in another run."""
    order = sorted(range(len(runs)), key=lambda run: (len(runs[run]), run))
    cells = {int(history.task_codes[cell]): int(cell) for run in order for cell in runs[run]}
    return np.array([*cells.values()], dtype=np.int64)


def _runs_lacking_tasks_message(
    history: Counts, setup: RunGroup, runs: Sequence[Ints]
) -> Iterator[Diagnostic]:
    tasks = len(np.unique(np.concatenate([history.task_codes[cells] for cells in runs])))
    labels = setup.runs[-len(runs) :]
    short = [
        (len(run_cells), run.run)
        for run, run_cells in zip(labels, runs, strict=True)
        if len(run_cells) < tasks
    ]
    if short:
        names = [f"{name} has {number:,} of {tasks:,}" for number, name in short]
        yield BASELINE_RUNS_LACK_TASKS(runs=len(short), names=names, run=min(short)[1])
