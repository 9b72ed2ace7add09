"""Counts: how many attempts each model made at each task, and how many of them passed."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from passk_cli.arrays import Ints, NDArray
from passk_cli.diagnostic import Diagnostic
from passk_cli.errors import DataError
from passk_cli.limits import MOST_ATTEMPTS
from passk_cli.outcomes.attempts import AttemptValuesByCell
from passk_cli.outcomes.missing_outcomes import MissingOutcomeCounts
from passk_cli.outcomes.model_selection import parse_numbers, select_models
from passk_cli.outcomes.name_codes import Name, combine_name_columns, encode, sort_and_merge_names
from passk_cli.outcomes.provenance import ReadFacts

if TYPE_CHECKING:
    import pandas as pd

ATTEMPT_LIMIT_MESSAGE = f"at most {MOST_ATTEMPTS:,} attempts of a model at a task are supported"


@dataclass(frozen=True, eq=False)
class AttemptsMadeAndLastOutcomes:
    """Facts about the attempt numbers in each cell, which may explain why some cells have more
    attempts than others.

    attempts_including_gaps : number of attempts that each cell would have if no attempt numbers
        were missing.
    last_attempt_outcomes : for each cell, 1 if the attempt with the largest number passed, 0 if
        this attempt failed, and −1 if its outcome is unknown.
    """

    attempts_including_gaps: Ints
    last_attempt_outcomes: Ints


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """The number of attempts n and of passes c in every cell.  A cell is one series at one task.

    A series is one line of a report: a model, or a model with one value of each `by=` column.

    series : sorted tuples (model, group values …), one per series.
    group_names : names of the `by=` columns.  tasks : sorted names of the tasks.
    series_codes, task_codes : for each cell, the index of its series and the index of its task.
        Cells are sorted by series and then by task.
    n, c : number of attempts and number of passes of each cell, with n ≥ 1 and 0 ≤ c ≤ n.
    missing : for each cell, the number of attempts without an outcome.  These attempts are included
        in n, and may pass or fail.  `missing` is None unless the data was read with
        `missing="bounds"`.
    clusters : name of the cluster of each task, or None if tasks have no clusters.
    attempts : maps the name of requested data to the data of single attempts.  The names are
        "score", "answer", "solution", "attempt" (the order of attempts), and the names of amounts:
        "cost" in dollars, "tokens_in", "tokens_out", "tokens", "duration" in seconds, and "turns".
        If only scores were requested, all c are 0.
    attempt_number_facts : facts about the attempt numbers, if they may explain why n differs
        between cells.
    reread : a function that reads the same data again with a different request, or None if passk
        can read the data only once.

    >>> counts = Counts.from_cells([("m", "a", 2, 1), ("m", "b", 2, 2)])
    >>> counts
    <Counts: 1 model, 2 tasks, 4 attempts, 3 passed>
    >>> counts.series, counts.tasks, counts.n.tolist(), counts.c.tolist()
    ((('m',),), ('a', 'b'), [2, 2], [1, 2])
    >>> counts.to_frame()
      model task  n  c
    0     m    a  2  1
    1     m    b  2  2
    """

    series: tuple[tuple[str, ...], ...]
    group_names: tuple[str, ...]
    tasks: tuple[str, ...]
    series_codes: Ints
    task_codes: Ints
    n: Ints
    c: Ints
    clusters: tuple[str, ...] | None = None
    attempts: Mapping[str, AttemptValuesByCell] = field(default_factory=dict)
    read_facts: ReadFacts = field(default_factory=ReadFacts)
    attempt_number_facts: AttemptsMadeAndLastOutcomes | None = None
    missing: Ints | None = None
    reread: Callable[[Any], Counts] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """The fields for pickling, without `reread`, because the data that this function reads may
        not be available later."""
        return {**vars(self), "reread": None}

    @classmethod
    def from_cells(cls, cells: list[tuple[str, str, int, int]]) -> Counts:
        """Make Counts from tuples (model, task, n, c).  The counts of tuples with the same model
        and task are added together.

        Errors: ValueError if n < 1 or c is outside [0, n].
        """
        return cls.from_columns(
            [(model,) for model, _, _, _ in cells],
            [task for _, task, _, _ in cells],
            np.array([n for _, _, n, _ in cells], dtype=np.int64),
            np.array([c for _, _, _, c in cells], dtype=np.int64),
        )

    @classmethod
    def from_columns(
        cls,
        series: Sequence[tuple[str, ...]],
        tasks: Sequence[str],
        n: Ints,
        c: Ints,
        group_names: tuple[str, ...] = (),
        facts: ReadFacts | None = None,
        missing: Ints | None = None,
    ) -> Counts:
        """Make Counts from columns of names and numbers; see `from_codes`."""
        return cls.from_codes(encode(series), encode(tasks), n, c, group_names, facts, missing)

    @classmethod
    def from_codes(
        cls,
        series: tuple[Sequence[tuple[str, ...]], Ints],
        tasks: tuple[Sequence[str], Ints],
        n: Ints,
        c: Ints,
        group_names: tuple[str, ...] = (),
        facts: ReadFacts | None = None,
        missing: Ints | None = None,
    ) -> Counts:
        """Make Counts from columns of codes.  The counts of rows with the same series and task are
        added together.

        series, tasks : a list of names, and for each row the index of its name in the list.  The
            names may be unsorted, repeated or unused.
        Errors: ValueError for impossible counts.  DataError if a cell has more than 10⁹ attempts.
        """
        if np.any(n < 1) or np.any(c < 0) or np.any(c > n):
            raise ValueError("in every cell, n must be at least 1, and c between 0 and n")
        if missing is not None and (np.any(missing < 0) or np.any(c + missing > n)):
            raise ValueError("in every cell, missing must be between 0 and n - c")
        series_names, series_codes = sort_and_merge_names(*series)
        task_names, task_codes = sort_and_merge_names(*tasks)
        width = max(len(task_names), 1)
        cell = series_codes * width + task_codes
        few = not len(n) or int(n.max()) <= MOST_ATTEMPTS
        if few and not np.all(cell[1:] > cell[:-1]):
            cell, inverse = np.unique(cell, return_inverse=True)
            n, c = _sum_by_cell(n, inverse, len(cell)), _sum_by_cell(c, inverse, len(cell))
            missing = None if missing is None else _sum_by_cell(missing, inverse, len(cell))
            few = int(n.max()) <= MOST_ATTEMPTS
        if not few:
            place = int(n.argmax())
            series_code, task = divmod(int(cell[place]), width)
            who = " ".join(part or '""' for part in series_names[series_code])
            raise DataError(
                f"{who} at task {task_names[task]}",
                f"there are {int(n[place]):,} attempts in total",
                ATTEMPT_LIMIT_MESSAGE,
                name="bad-counts",
            )  # fmt: skip
        return cls(
            series=tuple(series_names),
            group_names=group_names,
            tasks=tuple(task_names),
            series_codes=cell // width,
            task_codes=cell % width,
            n=np.asarray(n, dtype=np.int64),
            c=np.asarray(c, dtype=np.int64),
            read_facts=facts or ReadFacts(),
            missing=missing,
        )

    def __repr__(self) -> str:
        models = len({series[0] for series in self.series})
        sizes = ((models, "model"), (len(self.tasks), "task"), (int(self.n.sum()), "attempt"))
        words = [f"{size:,} {noun}{'s' * (size != 1)}" for size, noun in sizes]
        judged = self.read_facts.threshold != math.inf
        words += [f"{int(self.c.sum()):,} passed"] * judged
        if self.missing is not None:
            words.append(f"{int(self.missing.sum()):,} without an outcome")
        groups = (f"by {', '.join(self.group_names)}",) if self.group_names else ()
        attempt_facts = (f"with {', '.join(self.attempts)}",) if self.attempts else ()
        return f"<Counts: {', '.join((*words, *groups, *attempt_facts))}>"

    @property
    def cluster(self) -> str | None:
        """The name of the column that contains the clusters, or None if no clusters were
        requested."""
        return None if self.clusters is None else self.read_facts.cluster_column or "cluster"

    def to_frame(self) -> pd.DataFrame:
        """A DataFrame with one row per model, group and task, and the columns n and c.

        If tasks have clusters, the DataFrame also has a column with the clusters.  If missing
        outcomes may pass or fail, the column `missing` contains the number of missing outcomes.
        You can pass the DataFrame to `read`: name the group columns with `by=…` and the column of
        clusters with `cluster=…`.
        """
        import pandas as pd

        numeric = {name: parse_numbers(self.columns[name]) for name in self.numeric_group_names}
        return pd.DataFrame(self.columns | {k: np.array(v) for k, v in numeric.items()})

    @property
    def numeric_group_names(self) -> tuple[str, ...]:
        """The names of the group columns that contain numbers, for example temperature."""
        places = ((name, place) for place, name in enumerate(self.group_names, 1))
        return tuple(
            name
            for name, place in places
            if name in self.read_facts.numeric_group_columns
            and parse_numbers(s[place] for s in self.series) is not None
        )

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns of the DataFrame that `to_frame` returns, as a dict from names to arrays."""
        codes, tasks = self.series_codes, self.task_codes
        columns = {
            name: np.array([series[place] for series in self.series], dtype=object)[codes]
            for place, name in enumerate(("model", *self.group_names))
        }
        columns |= {"task": np.array(self.tasks, dtype=object)[tasks], "n": self.n, "c": self.c}
        if self.missing is not None:
            columns["missing"] = self.missing
        if self.clusters is not None:
            columns[str(self.cluster)] = np.array(self.clusters, dtype=object)[tasks]
        return columns

    def with_missing_as(self, *, passing: bool) -> Counts:
        """The counts that result if all attempts without an outcome pass, or if all of them fail.

        >>> counts = Counts.from_columns(
        ...     [("m",)], ["a"], np.array([5]), np.array([1]), missing=np.array([3])
        ... )
        >>> [counts.with_missing_as(passing=passing).c.tolist() for passing in (True, False)]
        [[4], [1]]
        """
        if self.missing is None:
            return self
        return replace(self, c=self.c + self.missing * passing, missing=None)

    @property
    def missing_outcomes(self) -> MissingOutcomeCounts:
        """The number of attempts without an outcome, by model and task."""
        if self.read_facts.missing_outcomes is not None:
            return self.read_facts.missing_outcomes
        parts = [[series[i] for series in self.series] for i in range(1 + len(self.group_names))]
        models, *groups = [(part, self.series_codes) for part in parts]
        missing = np.zeros_like(self.n) if self.missing is None else self.missing
        units = combine_name_columns([(self.tasks, self.task_codes), *groups])
        return MissingOutcomeCounts.from_codes(models, units, self.n, missing)

    def __dir__(self) -> list[str]:
        """The names of the attributes that Python users need."""
        return [
            "attempts", "c", "cluster", "clusters", "filter", "group_names", "n", "series",
            "series_codes", "task_codes", "tasks", "to_frame",
        ]  # fmt: skip

    def slice_of_series(self, series: int) -> slice:
        """The cells of one series, as a slice of the arrays n and c."""
        low, high = np.searchsorted(self.series_codes, [series, series + 1])
        return slice(int(low), int(high))

    def with_messages(self, *messages: Diagnostic) -> Counts:
        """The counts with further messages about how passk read the data."""
        all_messages = (*messages, *self.read_facts.messages)
        return replace(self, read_facts=replace(self.read_facts, messages=all_messages))

    def merged_over_group_column(self, group: str, leave_out: str | None = None) -> Counts:
        """The counts after merging the series that differ only in one group column.

        leave_out : a value of the group column.  Cells with this value are dropped before the
            series are merged.
        Errors: ValueError if the counts have no group column with this name.

        >>> split = Counts.from_columns(
        ...     [("m", "x"), ("m", "y")], ["a", "b"], np.array([2, 2]), np.array([1, 2]), ("kind",)
        ... )
        >>> split.merged_over_group_column("kind", "x").tasks
        ('b',)
        """
        place = 1 + self.group_names.index(group)
        return self.with_renamed_series(
            [None if s[place] == leave_out else s[:place] + s[place + 1 :] for s in self.series],
            tuple(g for g in self.group_names if g != group),
        )

    def with_renamed_series(
        self, series: Sequence[tuple[str, ...] | None], group_names: tuple[str, ...]
    ) -> Counts:
        """The counts with new names of series.  The counts of series that get the same name are
        added together.

        series : the new tuple (model, group values …) of each series, or None to drop the series.
        """
        names = [name for name in series if name is not None]
        stays = np.array([name is not None for name in series])
        keep = stays[self.series_codes]
        rows = names, (np.cumsum(stays) - 1)[self.series_codes[keep]]
        tasks = self.tasks, self.task_codes[keep]
        missing = None if self.missing is None else self.missing[keep]
        merged = Counts.from_codes(
            rows, tasks, self.n[keep], self.c[keep], group_names, self.read_facts, missing
        )
        if self.attempts:
            to = np.full(len(self.n), -1)
            to[keep] = merged.cell_indices(rows, tasks)
            moved = {
                role: attempts.with_new_cell_indices(to, len(merged.n))
                for role, attempts in self.attempts.items()
            }
            merged = replace(merged, attempts=moved)
        if self.clusters is None:
            return merged
        return merged.with_clusters(dict(zip(self.tasks, self.clusters, strict=True)))

    def filter(
        self, *, models: str | Sequence[str] = (), exclude_models: str | Sequence[str] = ()
    ) -> Counts:
        """The counts of some models, selected by name or by pattern, for example "gpt-*".

        models : names and patterns of models to keep.  If `models` is empty, all models are kept.
        exclude_models : names and patterns of models to leave out.
        Errors: ParameterError if a name or pattern matches no model, or if no model is left.

        >>> counts = Counts.from_cells([("m-1", "a", 2, 1), ("m-2", "a", 2, 2), ("o", "a", 1, 0)])
        >>> counts.filter(models="m-*", exclude_models="m-1")
        <Counts: 1 model, 1 task, 2 attempts, 2 passed>
        """
        keep, leave_out = (
            [names] if isinstance(names, str) else list(names) for names in (models, exclude_models)
        )
        model_names = list(dict.fromkeys(series[0] for series in self.series))
        selection = set(select_models(model_names, keep, leave_out))
        stays = np.array([series[0] in selection for series in self.series])[self.series_codes]
        return self.with_fewer_attempts(self.n * stays, self.c * stays)

    def without_tasks(self, names: Collection[str]) -> Counts:
        """The counts without the tasks that have one of the given names.

        Errors: ValueError if no task is left.

        >>> Counts.from_cells([("m", "a", 2, 1), ("m", "b", 2, 2)]).without_tasks(["a"]).tasks
        ('b',)
        """
        if not names:
            return self
        keep = ~np.array([task in names for task in self.tasks])[self.task_codes]
        if not keep.any():
            raise ValueError("no task is left, because all tasks are left out")
        remaining = self.with_fewer_attempts(self.n * keep, self.c * keep)
        return replace(remaining, read_facts=self.read_facts.without_tasks(names))

    def with_fewer_attempts(self, n: Ints, c: Ints) -> Counts:
        """The counts of a subset of the attempts, with new numbers of attempts and passes.

        n, c : new number of attempts and new number of passes of each cell.  No n may be larger
            than before, and at least one n must be above 0.  Cells with n = 0 and tasks without a
            cell are left out.
        """
        keep = n > 0
        resized = Counts.from_codes(
            (self.series, self.series_codes[keep]), (self.tasks, self.task_codes[keep]),
            n[keep], c[keep], self.group_names, self.read_facts,
            None if self.missing is None else self.missing[keep],
        )  # fmt: skip
        at, stay = np.flatnonzero(keep), set(resized.tasks)
        numbering, clusters = self.attempt_number_facts, self.clusters
        if numbering is not None:
            numbering = AttemptsMadeAndLastOutcomes(
                (numbering.attempts_including_gaps - self.n + n)[keep],
                numbering.last_attempt_outcomes[keep],
            )
        return replace(
            resized,
            attempts={role: attempts.take_cells(at) for role, attempts in self.attempts.items()},
            attempt_number_facts=numbering,
            clusters=clusters
            and tuple(c for t, c in zip(self.tasks, clusters, strict=True) if t in stay),
        )

    @property
    def cells(self) -> list[tuple[tuple[str, ...], str]]:
        """The series and the task name of each cell."""
        codes = zip(self.series_codes.tolist(), self.task_codes.tolist(), strict=True)
        return [(self.series[s], self.tasks[t]) for s, t in codes]

    def cell_indices(
        self, series: tuple[Sequence[tuple[str, ...]], Ints], tasks: tuple[Sequence[str], Ints]
    ) -> Ints:
        """For each row, the index of the cell with the row's series and task, or −1 if there is no
        such cell.

        series, tasks : a list of names, and for each row the index of its name in the list.

        >>> counts = Counts.from_cells([("m", "a", 2, 1), ("m", "b", 2, 2)])
        >>> rows = (["b", "a"], np.array([0, 1]))
        >>> counts.cell_indices(([("m",)], np.array([0, 0])), rows).tolist()
        [1, 0]
        """
        (rows, row_codes), (columns, column_codes) = series, tasks
        row_of = {name: place for place, name in enumerate(self.series)}
        column_of = {name: place for place, name in enumerate(self.tasks)}
        row = np.array([row_of.get(name, -1) for name in rows])[row_codes]
        column = np.array([column_of.get(name, -1) for name in columns])[column_codes]
        width = len(self.tasks)
        cells = self.series_codes * width + self.task_codes
        row_cells = np.where((row < 0) | (column < 0), -1, row * width + column)
        places = np.minimum(np.searchsorted(cells, row_cells), len(cells) - 1)
        return np.where(cells[places] == row_cells, places, -1)

    def with_attempts_from(self, source: Counts, role: str) -> Counts:
        """The counts with data about single attempts that is copied from other counts.

        role : the data to copy, which is a key of `attempts`, for example "cost".  A cell that the
            other counts do not have gets no data.

        >>> counts = Counts.from_cells([("m", "a", 2, 1), ("m", "b", 1, 0)])
        >>> cost = AttemptValuesByCell.from_rows([0], [0.5], [1], [0], cells=1)
        >>> known = replace(Counts.from_cells([("m", "b", 1, 0)]), attempts={"cost": cost})
        >>> counts.with_attempts_from(known, "cost").attempts["cost"].cell_offsets.tolist()
        [0, 0, 1]
        """
        to = self.cell_indices(
            (source.series, source.series_codes), (source.tasks, source.task_codes)
        )
        moved = source.attempts[role].with_new_cell_indices(to, len(self.n))
        return replace(self, attempts={**self.attempts, role: moved})

    def at_thresholds(self, thresholds: Sequence[float]) -> Counts:
        """Counts with the additional group column "threshold", which contain the passes at each of
        several thresholds.

        An attempt passes if its score is at least the threshold (minus 1e-9 for rounding).
        Errors: KeyError if the counts were read without scores.
        """
        score = self.attempts["score"]
        facts = replace(self.read_facts, thresholds=tuple(thresholds))
        parts = []
        for threshold in thresholds:
            passed = score.count * (score.value >= threshold - 1e-9)
            c = np.bincount(score.row_cell_indices, passed, len(self.n)).astype(np.int64)
            attempts = {"score": replace(score, pass_count=passed)}
            judged = replace(
                self, read_facts=facts, c=c, attempts=attempts, attempt_number_facts=None
            )
            names = [(*series, f"{threshold:g}") for series in self.series]
            parts.append(judged.with_renamed_series(names, (*self.group_names, "threshold")))
        return Counts.concatenate(parts)

    @classmethod
    def concatenate(cls, parts: Sequence[Counts]) -> Counts:
        """The counts of several parts together.  All parts must have the same group columns."""
        missing = None
        if any(part.missing is not None for part in parts):
            missing = [np.zeros_like(p.n) if p.missing is None else p.missing for p in parts]
        series = _concatenate_name_codes([(part.series, part.series_codes) for part in parts])
        tasks = _concatenate_name_codes([(part.tasks, part.task_codes) for part in parts])
        combined = cls.from_codes(
            series,
            tasks,
            np.concatenate([part.n for part in parts]),
            np.concatenate([part.c for part in parts]),
            parts[0].group_names,
            parts[0].read_facts,
            None if missing is None else np.concatenate(missing),
        )
        to = np.split(
            combined.cell_indices(series, tasks), np.cumsum([len(p.n) for p in parts])[:-1]
        )
        attempts = {
            role: AttemptValuesByCell.concatenate(
                [
                    p.attempts[role].with_new_cell_indices(t, len(combined.n))
                    for p, t in zip(parts, to, strict=True)
                ]
            )
            for role in parts[0].attempts
        }
        return replace(combined, clusters=parts[0].clusters, attempts=attempts)

    def with_longer_task_list(self, tasks: Sequence[str]) -> Counts:
        """The counts with a longer list of tasks and without clusters, so that several Counts can
        have the same indices of tasks.

        tasks : sorted names, which include all tasks of the counts.
        Errors: ValueError if the list lacks a task of the counts.

        >>> Counts.from_cells([("m", "b", 2, 1)]).with_longer_task_list(["a",
        ...     "b"]).task_codes.tolist()
        [1]
        """
        if not set(self.tasks) <= set(tasks):
            raise ValueError("the argument tasks must include every task of the Counts")
        place_of = {task: i for i, task in enumerate(tasks)}
        codes = np.array([place_of[task] for task in self.tasks], dtype=np.int64)[self.task_codes]
        return replace(self, tasks=tuple(tasks), task_codes=codes, clusters=None)

    def with_clusters(self, clusters: dict[str, str]) -> Counts:
        """The counts with the cluster of each task."""
        return replace(self, clusters=tuple(clusters[task] for task in self.tasks))


def _concatenate_name_codes(
    parts: Sequence[tuple[Sequence[Name], Ints]],
) -> tuple[list[Name], Ints]:
    offsets = np.cumsum([0, *(len(names) for names, _ in parts)])
    codes = [codes + low for (_, codes), low in zip(parts, offsets, strict=False)]
    return [name for names, _ in parts for name in names], np.concatenate(codes)


def _sum_by_cell(values: Ints, cell: Ints, cells: int) -> Ints:
    totals = np.zeros(cells, dtype=np.int64)
    np.add.at(totals, cell, values)
    return totals
