"""The number of attempts without an outcome, by model and task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from passk_cli.arrays import Ints
from passk_cli.outcomes.name_codes import encode, sort_and_merge_names


@dataclass(frozen=True, eq=False)
class MissingOutcomeCounts:
    """For each model and unit, the number of all attempts and the number of attempts without an
    outcome.

    A unit is a task, or a task together with one value of each group column.

    task_and_group_keys : sorted tuples (task, group values …), one per unit.
    model_codes, task_and_group_key_codes : for each row, the index of its model and the index of
        its unit.

    >>> losses = MissingOutcomeCounts.from_rows(
    ...     ["a", "a", "b"], [("t",), ("u",), ("t",)], [4, 4, 4], [0, 3, 1])
    >>> losses.missing_and_attempts_of_model("a"), losses.missing_and_attempts_of_model("b")
    ((3, 8), (1, 4))
    """

    models: tuple[str, ...]
    task_and_group_keys: tuple[tuple[str, ...], ...]
    model_codes: Ints
    task_and_group_key_codes: Ints
    attempt_counts: Ints
    missing_counts: Ints

    @classmethod
    def from_rows(
        cls,
        models: Sequence[str],
        units: Sequence[tuple[str, ...]],
        attempts: Sequence[int] | Ints,
        missing: Sequence[int] | Ints,
    ) -> MissingOutcomeCounts:
        """Make MissingOutcomeCounts from rows, with one row for each pair of a model and a unit."""
        return cls.from_codes(encode(models), encode(units), attempts, missing)

    @classmethod
    def from_codes(
        cls,
        models: tuple[Sequence[str], Ints],
        units: tuple[Sequence[tuple[str, ...]], Ints],
        attempts: Sequence[int] | Ints,
        missing: Sequence[int] | Ints,
    ) -> MissingOutcomeCounts:
        """Make MissingOutcomeCounts from lists of models and units, and from the indices of each
        row in these lists."""
        model_names, model_codes = sort_and_merge_names(*models)
        unit_names, unit_codes = sort_and_merge_names(*units)
        return cls(
            tuple(model_names), tuple(unit_names), model_codes, unit_codes,
            np.asarray(attempts, dtype=np.int64), np.asarray(missing, dtype=np.int64),
        )  # fmt: skip

    def missing_and_emptied_counts(self, series: Sequence[str]) -> tuple[int, int] | None:
        """The number of attempts without an outcome, and the number of tasks without any outcome,
        in a series.

        The function returns None if no model has the name of the series.
        """
        if series[0] not in self.models:
            return None
        rows = self._row_indices_of_series(series)
        missing, attempts = self.missing_counts[rows], self.attempt_counts[rows]
        return int(missing.sum()), int((missing == attempts).sum())

    def missing_and_attempts_of_series(self, series: Sequence[str]) -> tuple[int, int]:
        """For a series, the number of attempts without an outcome and the number of all attempts.
        Both numbers are 0 if no model has the name of the series.

        >>> losses = MissingOutcomeCounts.from_rows(["a", "a"], [("t",), ("u",)], [4, 4], [0, 3])
        >>> losses.missing_and_attempts_of_series(("a",))
        (3, 8)
        """
        if series[0] not in self.models:
            return 0, 0
        rows = self._row_indices_of_series(series)
        return int(self.missing_counts[rows].sum()), int(self.attempt_counts[rows].sum())

    def _row_indices_of_series(self, series: Sequence[str]) -> Ints:
        rows = self.row_indices_of_model(series[0])
        if len(self.task_and_group_keys[0]) > 1:
            inside = [unit[1:] == tuple(series[1 : len(unit)]) for unit in self.task_and_group_keys]
            rows = rows[np.array(inside)[self.task_and_group_key_codes[rows]]]
        return rows

    def missing_and_attempts_of_model(self, model: str) -> tuple[int, int]:
        """For a model, the number of attempts without an outcome and the number of all attempts."""
        rows = self.row_indices_of_model(model)
        return int(self.missing_counts[rows].sum()), int(self.attempt_counts[rows].sum())

    def emptied_task_counts_by_series(self) -> dict[tuple[str, ...], int]:
        """A dict that maps each series to the number of tasks without any outcome.  Series without
        such tasks are left out.

        >>> keys = [("t",), ("u",), ("t",)]
        >>> losses = MissingOutcomeCounts.from_rows(["a", "a", "b"], keys, [4, 4, 4], [4, 3, 4])
        >>> losses.emptied_task_counts_by_series()
        {('a',): 1, ('b',): 1}
        """
        places = np.flatnonzero(self.missing_counts == self.attempt_counts)
        models, units = (
            self.model_codes[places].tolist(),
            self.task_and_group_key_codes[places].tolist(),
        )
        series = (
            (self.models[m], *self.task_and_group_keys[u][1:])
            for m, u in zip(models, units, strict=True)
        )
        return dict(Counter(series))

    def row_indices_of_model(self, model: str) -> Ints:
        """The indices of the rows of a model."""
        return np.flatnonzero(self.model_codes == self.models.index(model))

    def without_tasks(self, names: Collection[str]) -> MissingOutcomeCounts:
        """The missing outcomes without the rows of the given tasks.

        >>> losses = MissingOutcomeCounts.from_rows(["a", "a"], [("t",), ("u",)], [4, 4], [0, 3])
        >>> losses.without_tasks(["u"]).missing_and_attempts_of_model("a")
        (0, 4)
        """
        keep = np.array([unit[0] not in names for unit in self.task_and_group_keys])[
            self.task_and_group_key_codes
        ]
        return MissingOutcomeCounts.from_codes(
            (self.models, self.model_codes[keep]),
            (self.task_and_group_keys, self.task_and_group_key_codes[keep]),
            self.attempt_counts[keep], self.missing_counts[keep],
        )  # fmt: skip

    def with_baseline(self, baseline: MissingOutcomeCounts, label: str) -> MissingOutcomeCounts:
        """The missing outcomes of a run and of its baseline, with a label before the names of the
        baseline's models."""
        codes = np.concatenate([self.model_codes, baseline.model_codes + len(self.models)])
        models = [*self.models, *(f"{label} {model}" for model in baseline.models)]
        units = np.concatenate(
            [
                self.task_and_group_key_codes,
                baseline.task_and_group_key_codes + len(self.task_and_group_keys),
            ]
        )
        return MissingOutcomeCounts.from_codes(
            (models, codes), ([*self.task_and_group_keys, *baseline.task_and_group_keys], units),
            np.concatenate([self.attempt_counts, baseline.attempt_counts]),
            np.concatenate([self.missing_counts,
            baseline.missing_counts]),
        )  # fmt: skip
