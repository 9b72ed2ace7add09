"""A history of runs as data: each setup's runs in order, on the tasks that all of them have."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from passk_cli.arrays import Ints
from passk_cli.errors import DataError
from passk_cli.files.history import OF_RUN, SETTINGS
from passk_cli.files.request import Request
from passk_cli.message import NOTE, Message, Said
from passk_cli.outcomes.counts import Counts
from passk_cli.study.values import Series

KEYS = (*OF_RUN, SETTINGS)
LEFT_OUT_TASKS = Message(
    "left-out-tasks", NOTE,
    "{tasks:task} of {model} {tasks:is|are} not in every run, and left out",
    "--where \"run <> '{run}'\" leaves out the run with the fewest",
    "Runs are compared on the tasks that all of them have: a task that comes or goes would look"
    " like a change of the model.",
)  # fmt: skip


class RunLabel(NamedTuple):
    """A run: when (ISO 8601, UTC), its name, what was run, and how it was counted."""

    at: str
    run: str
    revision: str
    settings: str


@dataclass(frozen=True)
class Setup:
    """Runs of one model and its groups at one suite, the earliest first.

    tasks : codes of the tasks that every run has.  n, c : (runs × tasks).
    left_out : tasks that some run lacks.  shortest : the run with the fewest tasks.
    """

    suite: str
    series: Series
    runs: tuple[RunLabel, ...]
    tasks: Ints
    n: Ints
    c: Ints
    left_out: int = 0
    shortest: str = ""

    def last(self, number: int) -> Setup:
        """Its last runs, as many as there are."""
        return replace(
            self, runs=self.runs[-number:], n=self.n[-number:], c=self.c[-number:]
        )  # fmt: skip

    @property
    def messages(self) -> list[Said]:
        """What is left out of its runs."""
        if not self.left_out:
            return []
        model = " ".join(filter(None, self.series))
        return [LEFT_OUT_TASKS(tasks=self.left_out, model=model, run=self.shortest)]


def read_history(read: Callable[..., Counts], request: Request, *source: Any) -> Counts:
    """Counts by the groups of a history, and by the run: its `KEYS` are the last groups.

    read : reads a request; source : what else than the command's own data it reads.
    Errors: DataError for what is no history.
    """
    try:
        # Groups are the columns that are no others; rows repeat as long as those are not known.
        first = read(replace(request, by=(*request.by, *KEYS), duplicates="keep"), *source)
        unused = [name for file in first.facts.inputs for name in file.unused]
        groups = tuple(n for n in dict.fromkeys(unused) if n not in (*KEYS, *request.by))
        return read(replace(request, by=(*request.by, *groups, *KEYS)), *source)
    except DataError as error:
        if error.problem in [f"no column {name!r}" for name in KEYS]:
            raise DataError(
                error.place, f"no history of runs: it has {error.problem}",
                "name a file that `passk record` wrote", name="no-history",
            ) from None  # fmt: skip
        raise


def setups(counts: Counts, last: int = 0) -> list[Setup]:
    """The setups of a history, as `read_history` gives it; of the last runs alone, unless 0.

    Errors: DataError for a run that was recorded twice, or runs without a task in common.

    >>> names = [("m", name, f"2026-01-0{day}", "rev", "suite", "{}")
    ...          for day, name in ((2, "b"), (1, "a"))]
    >>> counts = Counts.from_columns(names, ["t", "t"], np.array([4, 4]), np.array([1, 3]), KEYS)
    >>> [(s.suite, s.series, [run.run for run in s.runs], s.c.tolist()) for s in setups(counts)]
    [('suite', ('m',), ['a', 'b'], [[3], [1]])]
    """
    at = [1 + counts.group_names.index(name) for name in KEYS]
    runs: dict[tuple[str, Series], list[tuple[RunLabel, int]]] = {}
    for s, series in enumerate(counts.series):
        run, time, revision, suite, settings = (series[place] for place in at)
        own = tuple(name for place, name in enumerate(series) if place not in at)
        runs.setdefault((suite, own), []).append((RunLabel(time, run, revision, settings), s))
    every = []
    for (suite, series), rows in sorted(runs.items()):
        rows = sorted(rows)[-last:]
        names = [run.run for run, _ in rows]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise DataError(
                "history", f"run {twice} of {series[0]} was recorded twice (suite {suite})",
                "remove one of its files", name="recorded-run",
            )  # fmt: skip
        cells = [counts.rows_of(s) for _, s in rows]
        tasks = [counts.task_codes[here] for here in cells]
        shared = reduce(np.intersect1d, tasks)
        if not len(shared):
            raise DataError(
                "history", f"the {len(rows)} runs of {series[0]} have no task in common"
                f" (suite {suite})", "leave out earlier runs with --where \"at > '2026-01-01'\"",
                name="different-tasks",
            )  # fmt: skip
        places = [here.start + np.searchsorted(t, shared)
                  for here, t in zip(cells, tasks, strict=True)]  # fmt: skip
        every.append(Setup(
            suite, series, tuple(run for run, _ in rows), shared,
            np.array([counts.n[p] for p in places]), np.array([counts.c[p] for p in places]),
            len(reduce(np.union1d, tasks)) - len(shared),
            names[int(np.argmin([len(t) for t in tasks]))],
        ))  # fmt: skip
    return every


def pooled(counts: Counts, parts: Sequence[tuple[Series, Ints, Ints, Ints]],
           group_names: tuple[str, ...]) -> Counts:  # fmt: skip
    """Counts of some cells of a history under other names.

    parts : series, codes of its tasks, n, c; one entry per task.
    """
    names = [series for series, *_ in parts]
    codes = np.repeat(np.arange(len(parts)), [len(tasks) for _, tasks, _, _ in parts])
    tasks, n, c = (np.concatenate(arrays) for arrays in list(zip(*parts, strict=True))[1:])
    return Counts.from_codes((names, codes), (counts.tasks, tasks), n, c, group_names, counts.facts)


_LAST = re.compile(r"(?P<path>.+?):last(?P<runs>\d+)")


def last_runs(argument: Any) -> tuple[str, int] | None:
    """Path and number of "history.parquet:last5"; None where it is nothing like that.

    >>> last_runs("history.parquet:last5"), last_runs("main.csv")
    (('history.parquet', 5), None)
    """
    match = _LAST.fullmatch(argument) if isinstance(argument, str) else None
    return None if match is None else (match["path"], int(match["runs"]))
