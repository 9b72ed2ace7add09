"""A history of runs as data: each setup's runs in order, on the tasks that all of them have."""

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
from passk_cli.errors import DataError, ParameterError, refuse
from passk_cli.files.database import column_sql, quote_text
from passk_cli.files.history import OF_ATTEMPTS, OF_RUN, RESERVED, SETTINGS, recorded_twice, stem_of
from passk_cli.files.request import Request
from passk_cli.files.sources.arguments import is_file_argument
from passk_cli.files.sources.paths import is_day, run_labels
from passk_cli.inference.runs import run_reach, run_variance, run_variances, widen_limits
from passk_cli.metrics.registry import AMOUNTS, task_values
from passk_cli.outcomes.counts import Counts
from passk_cli.report.words import SeriesName, every_one, plural
from passk_cli.study.duplicate_runs import DuplicateRun, copied_runs, copies_among
from passk_cli.study.values import Series, known_cells
from passk_cli.suggested_fix import OptionValue, Placeholder, SuggestedFix
from passk_cli.suggestions import meant, nearest

if TYPE_CHECKING:
    from passk_cli.inference.intervals import Interval
    from passk_cli.study.comparison import Comparison

KEYS = (*OF_RUN, SETTINGS)
# Columns that tell the runs of a table, where it has one of them.
_RUNS = (
    "run", "date", "day", "night", "run_id", "build", "commit", "revision", "version", "timestamp",
)  # fmt: skip
# Files of which each is recorded by a line of its own, at most.
_MOST_RECORDED = 3
# A day in a file's name.
_DAY = re.compile(r"(?<!\d)(20\d\d)([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?!\d)")
# The setting of a run that lacks tasks or attempts, with which `passk record` marks it.
INCOMPLETE = "incomplete"
LEFT_OUT_TASKS = DiagnosticType(
    "left-out-tasks", NOTE,
    "{tasks:task} of {model} {tasks:is|are} not in every run, and left out",
    SuggestedFix({"--skip-run": "{run}"}, "leaves out the run with the fewest"),
    "Runs are compared on the tasks that all of them have: a task that comes or goes would look"
    " like a change of the model.",
)  # fmt: skip

SHORT_RUNS = DiagnosticType(
    "short-runs", NOTE, "{runs:run} of the baseline {runs:lacks|lack} tasks: {names}",
    SuggestedFix({"--skip-run": "{run}"}, "leaves out the one with the fewest"),
    "A baseline of several runs has the tasks that at least half of them have, so that one run that"
    " lost some does not hide the next one that does. Attempts are expected as in the latest run"
    " that has these tasks.",
)  # fmt: skip
INCOMPLETE_RUNS = DiagnosticType(
    "incomplete-runs", NOTE,
    "{runs:run} recorded as incomplete {runs:is|are} left out: {names}", "",
    "`passk record --incomplete` marks a run that lacks tasks or attempts. It stays in the history,"
    " and neither a baseline nor a trend uses it.",
)  # fmt: skip
RUNS_WITHOUT = DiagnosticType(
    "runs-without", NOTE,
    "{runs:run} without {noun} {runs:is|are} left out of it: {models}", "",
    "A run that was recorded without --with, or whose every amount is missing, says nothing of what"
    " attempts took. Passes are those of all runs: the last runs of an amount are the last that"
    " have it.",
)  # fmt: skip
UNPRICED_RUNS = DiagnosticType(
    "unpriced-runs", WARNING,
    "the {noun} of every attempt of {model} is 0 in {runs:run}, which {runs:is|are} left out:"
    " {names}", "",
    "Where a model has no price, or nobody counted, harnesses write 0. That is no fall.",
)  # fmt: skip


class RunLabel(NamedTuple):
    """A run: when (ISO 8601, UTC), its name, what was run, and how it was counted."""

    at: str
    run: str
    revision: str
    settings: str

    @property
    def options(self) -> dict[str, Any]:
        """The options that changed what was counted, from its settings."""
        try:
            return dict(json.loads(self.settings))
        except ValueError:
            return {SETTINGS: self.settings}

    @property
    def complete(self) -> bool:
        """Whether it was not recorded as incomplete."""
        return INCOMPLETE not in self.options


@dataclass(frozen=True)
class Setup:
    """Runs of one model and its groups at one suite, the earliest first.

    tasks : codes of the tasks that every run has.  cells : (runs × tasks), places in the counts.
    n, c : of these.
    left_out : tasks that some run lacks.  shortest : the run with the fewest tasks.
    """

    suite: str
    series: Series
    runs: tuple[RunLabel, ...]
    tasks: Ints
    cells: Ints
    n: Ints
    c: Ints
    left_out: int = 0
    shortest: str = ""

    def last(self, number: int) -> Setup:
        """Its last runs, as many as there are."""
        return self.where(np.arange(len(self.runs)) >= len(self.runs) - number)

    def where(self, chosen: Bools) -> Setup:
        """Some of its runs."""
        return replace(
            self, runs=tuple(compress(self.runs, chosen)),
            cells=self.cells[chosen], n=self.n[chosen], c=self.c[chosen],
        )  # fmt: skip

    def places(self, counts: Counts) -> dict[str, int]:
        """Name of each run → its series among the counts of the history."""
        codes = counts.series_codes[self.cells[:, 0]].tolist()
        return {run.run: code for run, code in zip(self.runs, codes, strict=True)}

    @property
    def differing(self) -> list[str]:
        """The options that its runs were recorded with differently."""
        every = [run.options for run in self.runs]
        names = dict.fromkeys(name for options in every for name in options)
        return [n for n in names if len({str(options.get(n)) for options in every}) > 1]

    @property
    def copies(self) -> list[DuplicateRun]:
        """Runs with the outcomes of one before them, where that is no accident."""
        names = [f"{run.run} of {SeriesName(self.series)}" for run in self.runs]
        pairs, copies = math.comb(len(names), 2), []
        for n in np.unique(self.n, axis=0):
            rows = np.flatnonzero((self.n == n).all(axis=1))
            copies += copies_among([names[row] for row in rows], n, self.c[rows], pairs)
        return copies

    @property
    def messages(self) -> list[Diagnostic]:
        """Messages about what is left out of its runs, and about runs that are there twice."""
        model, said = " ".join(filter(None, self.series)), list(copied_runs(self.copies))
        if self.left_out:
            said.append(LEFT_OUT_TASKS(tasks=self.left_out, model=model, run=self.shortest))
        return said


def read_history(
    read: Callable[..., Counts], request: Request, *source: Any, files: Sequence[str] = ()
) -> Counts:
    """Counts by the groups of a history, and by the run: its `KEYS` are the last groups.

    What attempts took, where the request asks for it, is a gap of the runs that have it not.
    read : reads a request; source : what else than the command's own data it reads.
    files : the arguments that the data is given by.
    Errors: DataError for what is no history, or has no such amounts.
    """
    try:
        # Groups are the columns that are no others; rows repeat as long as those are not known.
        counts = replace(request, by=(*request.by, *KEYS), attempts=(), duplicates="keep")
        first = read(counts, *source)
        unused = [name for file in first.facts.inputs for name in file.unused]
        others = (*RESERVED, *request.by)
        groups = tuple(n for n in dict.fromkeys(unused) if n not in others)
        whole = replace(request, by=(*request.by, *groups, *KEYS))
        every = read(replace(whole, attempts=()), *source)
        for role in request.attempts:
            every = _with_amounts(read, replace(whole, attempts=(role,)), every, unused, source)
        return every
    except DataError as error:
        if error.problem in [f"no column {name!r}" for name in KEYS]:
            raise DataError(
                error.place, f"no history of runs: it has {error.problem}",
                "name a file that `passk record` wrote", name="no-history",
                settles=_recorded(read, request, source, files),
            ) from None  # fmt: skip
        raise


def _recorded(
    read: Callable[..., Counts], request: Request, source: Sequence[Any], files: Sequence[str]
) -> Sequence[SuggestedFix]:
    """The remedy for a table of runs, a column of which says which: recording the first of them."""
    for column in _RUNS:
        try:
            counts = read(replace(request, by=(column,), attempts=(), duplicates="keep"), *source)
        except DataError:
            continue
        runs = sorted({series[-1] for series in counts.series} - {""})
        days = bool(runs) and all(map(is_day, runs))
        # Numbers in a column run are those of attempts.
        if not days and (column == "run" or len(runs) < 2):
            continue
        where = {"--where": f"{column_sql(column)} = {quote_text(runs[0])}"} if runs[1:] else {}
        for keep in ({}, {"--duplicates": "keep"}):
            try:
                read(request.settled(SuggestedFix(where | keep)), *source)
            except DataError:
                continue
            dated = {"--date": runs[0]} if is_day(runs[0]) else {}
            options = {**where, **keep, "--to": "history.parquet", "--at": runs[0], **dated}
            which = f"the first of {len(runs):,} runs" if runs[1:] else "the run"
            why = f"records {which}; passk trend history.parquet shows all"
            return (SuggestedFix(options, why, "record"),)
    if source:
        return ()
    kept = {"--with": request.attempts} if request.attempts else {}
    settles = [*_runs_of_one(read, request, files, kept)]
    try:
        read(request)
    except DataError:
        return settles
    which = every_one(plural(len(files), "file")) if files[1:] else "it"
    why = f"records {which} as today's run"
    today = {"--to": "history.parquet", "--at": str(datetime.now(UTC).date()), **kept}
    return (*settles, SuggestedFix(today, why, "record"))


def _runs_of_one(
    read: Callable[..., Counts], request: Request, files: Sequence[str], kept: Mapping[str, Any]
) -> Iterator[SuggestedFix]:
    """Lines that record the first of several files, each of which may be a run of one agent."""
    several = len(files) > 1 and all(map(os.path.isfile, files))
    revisions = run_labels(files) if several else {}
    days = {file: _DAY.search(os.path.basename(file)) for file in islice(revisions, _MOST_RECORDED)}
    try:
        counts = [read(request, [file]) for file in days]
    except (DataError, ParameterError):
        return
    named = any("model" in file.roles for each in counts for file in each.facts.inputs)
    if named and len({model for each in counts for model, *_ in each.series}) > 1:
        return
    for file, day in days.items():
        own = {"--date": "-".join(day.group(1, 3, 4))} if day else {}
        own = {"--to": "history.parquet", "--at": revisions[file], **own}
        why = "records a run of one agent" + ("" if day else ", dated now")
        labels = {each: "" for each in files if each != file} | ({} if named else {file: "agent"})
        yield SuggestedFix({**own, **kept}, why, "record", labels)
    if not all(days.values()):
        yield SuggestedFix({"--date": Placeholder("DAY")}, "says when a run was", "record")


def _with_amounts(
    read: Callable[..., Counts], request: Request, every: Counts, columns: Sequence[str],
    source: Sequence[Any],
) -> Counts:  # fmt: skip
    """The runs with an amount of their attempts, from the lists of those that have it.

    request : for this amount.  every : counts of all runs.  columns : those of the history that
        are no counts.
    """
    (role,) = request.attempts
    lists = {each: OF_ATTEMPTS.get(each, "") for each in ("outcome", role)}
    noun, place = AMOUNTS.get(role, ("", role))[1], every.facts.inputs[0].name
    if lacking := [each for each, name in lists.items() if name not in columns]:
        keeps = all(each in OF_ATTEMPTS for each in lacking)
        kept = {"--to": place, "--at": Placeholder("REV"), "--with": (role,)}
        raise DataError(
            place, f"no {noun} in any run",
            "" if keeps else "a history keeps passes and what attempts took; compare with a file",
            name="no-role-column", settles=[SuggestedFix(kept, "keeps it of a run", "record")]
            * keeps,
        )  # fmt: skip
    there = " AND ".join(f"{name} IS NOT NULL" for name in lists.values())
    where = f"({request.where}) AND {there}" if request.where else there
    try:
        some = read(replace(request, fields={**request.fields, **lists}, where=where), *source)
    except DataError as error:
        # Of a file that was named.
        if error.problem not in [f"no column {name!r}" for name in lists.values()]:
            raise
        raise DataError(
            error.place, f"no {noun} in any run", "leave the file out", name="no-role-column"
        ) from None

    def runs_of(counts: Counts) -> Counter[str]:
        return Counter(model for model, *_ in counts.series)

    runs, without = runs_of(every), runs_of(every) - runs_of(some)
    models = [f"{model} {n} of {runs[model]}" for model, n in sorted(without.items())]
    said = [RUNS_WITHOUT(runs=without.total(), noun=noun, models=models)] if models else []
    known = set(every.facts.messages)
    said += [message for message in some.facts.messages if message not in known]
    return every.with_messages(*said).with_attempts_from(some, role)


def runs_with(counts: Counts, role: str) -> Counts:
    """The counts of the attempts of which an amount is known; all for ""."""
    if not role:
        return counts
    cells, known, passed = known_cells(counts.attempts[role])
    n, c = np.zeros_like(counts.n), np.zeros_like(counts.c)
    n[cells], c[cells] = known, passed
    return counts.resized(n, c)


def runs_of(counts: Counts) -> dict[tuple[str, Series], list[tuple[RunLabel, int]]]:
    """Suite and series → its runs, the earliest first, each with its place among the series of a
    history."""
    at = [1 + counts.group_names.index(name) for name in KEYS]
    runs: dict[tuple[str, Series], list[tuple[RunLabel, int]]] = {}
    for s, series in enumerate(counts.series):
        run, time, revision, suite, settings = (series[place] for place in at)
        own = tuple(name for place, name in enumerate(series) if place not in at)
        runs.setdefault((suite, own), []).append((RunLabel(time, run, revision, settings), s))
    return {key: sorted(rows) for key, rows in sorted(runs.items())}


def complete_runs(counts: Counts, skipped: Sequence[str] = ()) -> Counts:
    """A history without runs that were recorded as incomplete, and those to be skipped.

    skipped : names or revisions of runs.
    Errors: ParameterError for a name that no run has; DataError if no run stays.
    """
    labels = {place: run for rows in runs_of(counts).values() for run, place in rows}
    names = {name for run in labels.values() for name in (run.run, run.revision)}
    for name in skipped:
        if name not in names:
            raise ParameterError(
                OptionValue("--skip-run", name),
                f"the history has no such run; {meant(name, names)}"
            )  # fmt: skip
    chosen = [run for run in labels.values() if not {run.run, run.revision} & {*skipped}]
    if not any(run.complete for run in chosen):
        raise DataError(
            "history", "no run is left: all are skipped or were recorded as incomplete",
            name="no-history-yet",
        )  # fmt: skip
    kept = [series if labels[s] in chosen and labels[s].complete else None
            for s, series in enumerate(counts.series)]  # fmt: skip
    if None not in kept:
        return counts
    short = sorted({(run.at, run.run) for run in chosen if not run.complete})
    said = [INCOMPLETE_RUNS(runs=len(short), names=[name for _, name in short])] if short else []
    return counts.regrouped(kept, counts.group_names).with_messages(*said)


def _files_of(counts: Counts, run: str) -> list[str]:
    """The files of a run in the folders of a history: their names begin with the run's."""
    folders = dict.fromkeys(os.path.dirname(file.name) for file in counts.facts.inputs)
    pattern = f"{glob.escape(stem_of(run))}-*.parquet"
    return sorted(name for folder in folders
                  for name in glob.glob(os.path.join(glob.escape(folder), pattern)))  # fmt: skip


def setups(counts: Counts) -> list[Setup]:
    """The setups of a history, as `read_history` gives it.

    Errors: DataError for a run that was recorded twice, or runs without a task in common.

    >>> names = [("m", name, f"2026-01-0{day}", "rev", "suite", "{}")
    ...          for day, name in ((2, "b"), (1, "a"))]
    >>> counts = Counts.from_columns(names, ["t", "t"], np.array([4, 4]), np.array([1, 3]), KEYS)
    >>> [(s.suite, s.series, [run.run for run in s.runs], s.c.tolist()) for s in setups(counts)]
    [('suite', ('m',), ['a', 'b'], [[3], [1]])]
    """
    every = []
    for (suite, series), rows in runs_of(counts).items():
        names = [run.run for run, _ in rows]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise recorded_twice(f"run {twice} of {series[0]}", suite, _files_of(counts, twice))
        cells = [counts.rows_of(s) for _, s in rows]
        tasks = [counts.task_codes[here] for here in cells]
        shared = reduce(np.intersect1d, tasks)
        if not len(shared):
            # Without one run the others may have some.
            others = [[*tasks[:i], *tasks[i + 1 :]] for i in range(len(rows))] if rows[2:] else []
            alone = compress(names, (len(reduce(np.intersect1d, rest)) for rest in others))
            raise DataError(
                "history", f"the {len(rows)} runs of {series[0]} have no task in common"
                f" (suite {suite})", name="different-tasks",
                settles=[SuggestedFix({"--skip-run": (name,)}, "leaves out one")
                         for name in islice(alone, 1)],
            )  # fmt: skip
        places = np.array([here.start + np.searchsorted(t, shared)
                           for here, t in zip(cells, tasks, strict=True)])  # fmt: skip
        every.append(Setup(
            suite, series, tuple(run for run, _ in rows), shared,
            places, counts.n[places], counts.c[places],
            len(reduce(np.union1d, tasks)) - len(shared),
            names[int(np.argmin([len(t) for t in tasks]))],
        ))  # fmt: skip
    return every


def pooled(
    counts: Counts, parts: Sequence[tuple[Series, Ints]], group_names: tuple[str, ...]
) -> Counts:
    """Counts of some cells of a history under other names; cells that meet are added.

    parts : series → its cells, all of them those of runs of its own.
    """
    kept, names = np.zeros(len(counts.n), dtype=np.int64), {}
    for series, cells in parts:
        kept[cells] = 1
        names.update(dict.fromkeys(counts.series_codes[cells].ravel().tolist(), series))
    named = {counts.series[code]: series for code, series in names.items()}
    some = counts.resized(counts.n * kept, counts.c * kept)
    return some.regrouped([named[series] for series in some.series], group_names)


def moved(rates: Floats, effect: float | Floats) -> Floats:
    """Rates whose logits are moved by an effect, or by one each; those of 0 and 1 stay.

    >>> moved(np.array([0.0, 0.5]), math.log(3)).round(12).tolist()
    [0.0, 0.75]
    """
    odds = np.exp(effect)
    shifted: Floats = rates * odds / (1.0 - rates + rates * odds)
    return shifted


_LAST = re.compile(r"(?P<path>.+?):last(?P<runs>\d+)")


def last_runs(argument: Any) -> tuple[str, int] | None:
    """Path and number of "history.parquet:last5"; None where it is nothing like that.

    >>> last_runs("history.parquet:last5"), last_runs("main.csv")
    (('history.parquet', 5), None)
    """
    match = _LAST.fullmatch(argument) if isinstance(argument, str) else None
    return None if match is None else (match["path"], int(match["runs"]))


def require_another(files: Sequence[str], history: str) -> None:
    """ParameterError where the results of a new run are the history that they are compared with."""
    if os.path.abspath(history) in map(os.path.abspath, files):
        problem = f"{history}: the history of the baseline is no new run"
        raise ParameterError(f"{problem}; give the results of the run that is to be judged")


def without_runs(read: Callable[..., Counts], baseline: Any) -> ParameterError | None:
    """The error of a history that does not say which runs are meant; None for what is none."""
    if not isinstance(baseline, str):
        return None
    try:
        every = setups(read_history(read, Request(), baseline))
    except DataError:
        return None
    runs: dict[str, int] = {}
    for setup in every:
        runs[setup.suite] = min(5, max(len(setup.runs), runs.get(setup.suite, 0)))
    return ParameterError(
        OptionValue("--baseline", baseline), "a history, of which some runs are a baseline",
        settles=[
            SuggestedFix({"--baseline": f"{baseline}:{suite}:last{most}"},
                   f"the last {most} runs" if most > 1 else "the last run")
            for suite, most in sorted(runs.items())[:3]
        ],
    )  # fmt: skip


class PastRuns(NamedTuple):
    """Runs of a history that a number rests on: all, or those with an amount.

    history : every such run apart.  setups : all of them by series.
    recent : series → the cells of each run that is pooled, at the tasks that half of them have.
    """

    history: Counts
    setups: Mapping[Series, Setup]
    recent: Mapping[Series, Sequence[Ints]]

    @property
    def runs(self) -> dict[Series, int]:
        """How many runs of each series are pooled."""
        return {series: len(cells) for series, cells in self.recent.items()}

    def having(self, c: Ints) -> PastRuns:
        """These runs with other passes, one number per cell of the history."""
        setups = {s: replace(each, c=c[each.cells]) for s, each in self.setups.items()}
        return PastRuns(replace(self.history, c=c, attempts={}), setups, self.recent)


@dataclass(frozen=True)
class PooledBaseline:
    """The last runs of a history, pooled as a baseline, and what the effect of the run adds.

    counts : the last runs together; of what attempts took, the last that have it.
    latest : at the same tasks, the counts of the latest run that has most of them.
    stretches : what a metric needs to know of attempts, "" for passes alone → its runs.
    """

    counts: Counts
    latest: Counts
    stretches: Mapping[str, PastRuns]

    @property
    def fewest(self) -> tuple[int, str]:
        """The fewest runs of a series from which the effect of a run is known, and of what."""
        return min((len(setup.runs), role) for role, stretch in self.stretches.items()
                   for setup in stretch.setups.values())  # fmt: skip

    def variances(self, series: Series) -> tuple[float, float, int]:
        """Variance of the runs' means at pass@1, the part of it that chance explains, and the
        number of runs; (0, 0) where one run or one task does not show them."""
        setup = self.stretches[""].setups[series]
        if len(setup.runs) < 2 or len(setup.tasks) < 2:
            return 0.0, 0.0, len(setup.runs)
        return *run_variances(setup.c / setup.n), len(setup.runs)

    def drawn(
        self, base: Counts, rates: Floats, scales: Mapping[Series, float],
        generator: np.random.Generator,
    ) -> tuple[PooledBaseline, Ints]:  # fmt: skip
        """The history with runs that are drawn anew, and the passes of the last ones together.

        base : the last runs as they are judged.  rates : of its cells.
        scales : series → standard deviation of the effect of a run, in logits.
        """
        stretch, passes = self.stretches[""], np.zeros_like(base.n)
        history = stretch.history
        c = history.c.copy()
        for s, series in enumerate(base.series):
            rows, setup, recent = base.rows_of(s), stretch.setups[series], stretch.recent[series]
            # Tasks of all runs are tasks of the last ones too.
            tasks = np.unique(np.concatenate([history.task_codes[cells] for cells in recent]))
            older = setup.cells[: len(setup.runs) - len(recent)]
            for cells in (*older, *recent):
                effect = scales[series] * generator.standard_normal()
                own = rates[rows][np.searchsorted(tasks, history.task_codes[cells])]
                c[cells] = generator.binomial(history.n[cells], moved(own, effect))
            for cells in recent:
                at = np.searchsorted(tasks, history.task_codes[cells])
                passes[rows][at] += c[cells]
        return replace(self, stretches={**self.stretches, "": stretch.having(c)}), passes

    def widen(self, c: Comparison, interval: Interval) -> Interval:
        """The interval of a difference to it, with the effect of the run."""
        estimate, level = c.difference, interval.level if math.isnan(c.alpha) else 1 - c.alpha
        if None in (interval.low, interval.high, estimate):
            return interval
        reach = self.reach(c, level)
        if math.isnan(reach):
            reason = f"runs of the history have too few attempts for {c.first.metric.name}"
            return replace(interval, low=None, high=None, reason=reason)
        low, high = widen_limits(estimate or 0.0, interval.low or 0.0, interval.high or 0.0, reach)
        most = math.inf if c.first.metric.kind.quantity else 1.0
        return replace(interval, low=max(low, -most), high=min(high, most))

    def reach(self, c: Comparison, level: float) -> float:
        """How far limits are moved by the effect of the run: 0 where one run or one task does not
        show it, NaN where runs have too few attempts for the metric."""
        base, stretch = c.second.series, self.stretches[c.first.metric.kind.needs]
        setup = stretch.setups[base]
        if len(setup.runs) < 2 or len(setup.tasks) < 2:
            return 0.0
        cells = setup.cells.ravel()
        attempts = {role: each.take(cells) for role, each in stretch.history.attempts.items()
                    if role == c.first.metric.kind.needs}  # fmt: skip
        n, passes = setup.n.ravel(), setup.c.ravel()
        values = task_values([c.first.metric], n, passes, attempts)[0].reshape(setup.n.shape)
        values = values[:, ~np.isnan(values).any(axis=0)]
        if values.shape[1] < 2:
            return math.nan
        return run_reach(run_variance(values), stretch.runs[base], len(setup.runs), level)


_FIRST_RUN = SuggestedFix({"--first-run": True}, "judges a first night, which has none")


def past_of(
    read: Callable[..., Counts], request: Request, argument: str, skipped: Sequence[str] = ()
) -> PooledBaseline:
    """The last runs that "history.parquet:last5" names, "history.parquet:SUITE:last5" of a suite.

    skipped : names or revisions of runs that are left out.
    Errors: DataError for several suites without a name, a suite that is not there, or a file that
    is not a history; ParameterError for a number of runs below 1.
    """
    named = last_runs(argument)
    assert named is not None
    (path, number), suite = named, ""
    if not is_file_argument(path) and ":" in path:
        path, _, suite = path.rpartition(":")
    if not is_file_argument(path):
        place = OptionValue("--baseline", argument)
        raise DataError(
            place, "there is no such history", name="no-history-yet", settles=[_FIRST_RUN]
        )  # fmt: skip
    if number < 1:
        raise ParameterError(OptionValue("--baseline", argument), "write last1 or more")
    counts = complete_runs(read_history(read, request, path), skipped)
    suites = sorted({suite for suite, _ in runs_of(counts)})
    if suite not in suites and (suite or len(suites) > 1):
        near = nearest(suite, suites) or suites[:3]
        settles = [SuggestedFix({"--baseline": f"{path}:{name}:last{number}"}) for name in near]
        raise DataError(
            OptionValue("--baseline", argument), f"its suites are {', '.join(suites)}",
            name="no-history-yet" if suite else "no-such-suite",
            settles=[*settles, *[_FIRST_RUN] * bool(suite)],
        )  # fmt: skip
    wanted = suite or suites[0]
    names = tuple(name for name in counts.group_names if name not in KEYS)
    refuse("other-groups", (
        names != request.by, OptionValue("--baseline", argument),
        f"its runs are split by {', '.join(names) or 'nothing'}",
        (SuggestedFix({"--by": names or None}, "splits the new run as they are"),),
    ))  # fmt: skip
    stretches, pools = {}, {}
    for role in ("", *request.attempts):
        history = runs_with(counts, role)
        every = {s.series: s for s in setups(history) if s.suite == wanted}
        recent = {s: _last_cells(history, setup, number) for s, setup in every.items()}
        stretches[role] = PastRuns(history, every, recent)
        parts = [(s, np.concatenate(cells)) for s, cells in recent.items()]
        pools[role] = pooled(history, parts, names)
        if not role:
            newest = [(s, _newest(history, cells)) for s, cells in recent.items()]
            latest = pooled(history, newest, names)
            said = [*copied_runs(c for s in every.values() for c in s.last(number).copies)]
            for series, setup in every.items():
                said += _short_runs(history, setup, recent[series])
    whole = replace(pools[""], attempts={})
    for role in request.attempts:
        whole = whole.with_attempts_from(pools[role], role)
    return PooledBaseline(whole.with_messages(*said), latest, stretches)


def _last_cells(history: Counts, setup: Setup, number: int) -> list[Ints]:
    """The cells of each of its last runs, at the tasks that at least half of these runs have."""
    codes = history.series_codes[setup.cells[-number:, 0]].tolist()
    cells = [np.arange(len(history.n))[history.rows_of(code)] for code in codes]
    every = np.concatenate([history.task_codes[own] for own in cells])
    tasks, runs = np.unique(every, return_counts=True)
    common = tasks[2 * runs >= len(cells)]
    return [own[np.isin(history.task_codes[own], common)] for own in cells]


def _newest(history: Counts, runs: Sequence[Ints]) -> Ints:
    """A cell for each task: that of the latest run with the most tasks; of a task that it lacks,
    that of the next such run."""
    order = sorted(range(len(runs)), key=lambda run: (len(runs[run]), run))
    cells = {int(history.task_codes[cell]): int(cell) for run in order for cell in runs[run]}
    return np.array([*cells.values()], dtype=np.int64)


def _short_runs(history: Counts, setup: Setup, runs: Sequence[Ints]) -> Iterator[Diagnostic]:
    """A message of those of its last runs that lack tasks of the baseline."""
    tasks = len(np.unique(np.concatenate([history.task_codes[cells] for cells in runs])))
    labels = setup.runs[-len(runs) :]
    short = [(len(own), run.run) for run, own in zip(labels, runs, strict=True) if len(own) < tasks]
    if short:
        names = [f"{name} has {number:,} of {tasks:,}" for number, name in short]
        yield SHORT_RUNS(runs=len(short), names=names, run=min(short)[1])
