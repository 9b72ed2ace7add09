"""Counts that decide verdicts of the gate, for example tasks out of an expected number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

PART_OF_TOTAL_TEMPLATE = "{0:,} of {1:,}"
SHARED_TASKS_SUFFIX = " on the shared tasks"


class PartOfTotal(NamedTuple):
    """A count that decides the verdict of a rule, for example "24 of 60".

    template : template of the text, with {0} for the part and {1} for the total.
    """

    part: int
    total: int
    template: str = PART_OF_TOTAL_TEMPLATE

    def __str__(self) -> str:
        return self.template.format(self.part, self.total)


@dataclass(frozen=True)
class TaskCoverage:
    """The number of expected tasks that a candidate has.

    expected : number of tasks in the baseline or, without a baseline, of all candidates in the
        group.
    extra : number of tasks that only the candidate has.
    """

    shared: int
    expected: int
    extra: int = 0

    @property
    def lost(self) -> int:
        return self.expected - self.shared
