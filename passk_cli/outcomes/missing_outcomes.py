"""Missing outcomes: how many attempts of each model at each task have no outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from passk_cli.arrays import Ints
from passk_cli.outcomes.codes import coded, in_order


@dataclass(frozen=True, eq=False)
class MissingOutcomes:
    """Attempts made and attempts without an outcome, of every model at every task.

    models : names, sorted.  units : (task, group values …) of each unit, sorted; a unit is a task,
        or a task of one group.
    model_codes, unit_codes : int, one entry per model and unit, indices into the two above.
    made : int ≥ 1, attempts, those without an outcome included.  missing : int in [0, made].

    >>> losses = MissingOutcomes.of_rows(["a", "a", "b"], [("t",), ("u",), ("t",)], [4, 4, 4], [0,
    ...     3, 1])
    >>> losses.of("a"), losses.of("b")
    ((3, 8), (1, 4))
    """

    models: tuple[str, ...]
    units: tuple[tuple[str, ...], ...]
    model_codes: Ints
    unit_codes: Ints
    made: Ints
    missing: Ints

    @classmethod
    def of_rows(
        cls,
        models: Sequence[str],
        units: Sequence[tuple[str, ...]],
        made: Sequence[int] | Ints,
        missing: Sequence[int] | Ints,
    ) -> MissingOutcomes:
        """From a row per model and unit."""
        return cls.of_codes(coded(models), coded(units), made, missing)

    @classmethod
    def of_codes(
        cls,
        models: tuple[Sequence[str], Ints],
        units: tuple[Sequence[tuple[str, ...]], Ints],
        made: Sequence[int] | Ints,
        missing: Sequence[int] | Ints,
    ) -> MissingOutcomes:
        """Losses from names and the index of each row's among them."""
        model_names, model_codes = in_order(*models)
        unit_names, unit_codes = in_order(*units)
        return cls(
            tuple(model_names), tuple(unit_names), model_codes, unit_codes,
            np.asarray(made, dtype=np.int64), np.asarray(missing, dtype=np.int64),
        )  # fmt: skip

    def of_series(self, series: Sequence[str]) -> tuple[int, int] | None:
        """(attempts without an outcome, tasks without any other) of a model in one group.

        None where the model is called otherwise here.
        """
        if series[0] not in self.models:
            return None
        rows = self._rows(series)
        missing, made = self.missing[rows], self.made[rows]
        return int(missing.sum()), int((missing == made).sum())

    def shares(self, series: Sequence[str]) -> tuple[int, int]:
        """(attempts without an outcome, attempts) of a model in one group; (0, 0) of another.

        >>> MissingOutcomes.of_rows(["a", "a"], [("t",), ("u",)], [4, 4], [0, 3]).shares(("a",))
        (3, 8)
        """
        if series[0] not in self.models:
            return 0, 0
        rows = self._rows(series)
        return int(self.missing[rows].sum()), int(self.made[rows].sum())

    def _rows(self, series: Sequence[str]) -> Ints:
        """The rows of a model in one group."""
        rows = self.cells(series[0])
        if len(self.units[0]) > 1:
            # A group that was made of the counts is no part of the units.
            inside = [unit[1:] == tuple(series[1 : len(unit)]) for unit in self.units]
            rows = rows[np.array(inside)[self.unit_codes[rows]]]
        return rows

    def of(self, model: str) -> tuple[int, int]:
        """(attempts without an outcome, attempts) of a model."""
        rows = self.cells(model)
        return int(self.missing[rows].sum()), int(self.made[rows].sum())

    def emptied(self) -> dict[tuple[str, ...], int]:
        """Model and group values → tasks without any other attempt, where there are some.

        >>> losses = MissingOutcomes.of_rows(["a", "a", "b"], [("t",), ("u",), ("t",)], [4, 4, 4],
        ...     [4, 3, 4])
        >>> losses.emptied()
        {('a',): 1, ('b',): 1}
        """
        places = np.flatnonzero(self.missing == self.made)
        models, units = self.model_codes[places].tolist(), self.unit_codes[places].tolist()
        series = ((self.models[m], *self.units[u][1:]) for m, u in zip(models, units, strict=True))
        return dict(Counter(series))

    def cells(self, model: str) -> Ints:
        """The rows of a model."""
        return np.flatnonzero(self.model_codes == self.models.index(model))

    def without_tasks(self, names: Collection[str]) -> MissingOutcomes:
        """Losses at the other tasks.

        >>> losses = MissingOutcomes.of_rows(["a", "a"], [("t",), ("u",)], [4, 4], [0, 3])
        >>> losses.without_tasks(["u"]).of("a")
        (0, 4)
        """
        keep = np.array([unit[0] not in names for unit in self.units])[self.unit_codes]
        return MissingOutcomes.of_codes(
            (self.models, self.model_codes[keep]), (self.units, self.unit_codes[keep]),
            self.made[keep], self.missing[keep],
        )  # fmt: skip

    def beside(self, other: MissingOutcomes, label: str) -> MissingOutcomes:
        """Both as one, the models of the other after its label."""
        codes = np.concatenate([self.model_codes, other.model_codes + len(self.models)])
        models = [*self.models, *(f"{label} {model}" for model in other.models)]
        units = np.concatenate([self.unit_codes, other.unit_codes + len(self.units)])
        return MissingOutcomes.of_codes(
            (models, codes), ([*self.units, *other.units], units),
            np.concatenate([self.made, other.made]), np.concatenate([self.missing, other.missing]),
        )  # fmt: skip
