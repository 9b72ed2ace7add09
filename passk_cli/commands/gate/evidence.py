"""Evidence that is a count: tasks or attempts, out of the expected number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

# The text of a count.
OF = "{0:,} of {1:,}"
SHARED = " on the shared tasks"


class CountEvidence(NamedTuple):
    """A count as evidence, for example "24 of 60".

    words : a template of the text, with the two numbers as {0} and {1}.
    """

    part: int
    total: int
    words: str = OF

    def __str__(self) -> str:
        return self.words.format(self.part, self.total)


@dataclass(frozen=True)
class Coverage:
    """How many of the expected tasks a candidate has.

    expected : the tasks of the baseline, or of all candidates.
    shared : the expected tasks that the candidate has.  more : its further tasks.
    """

    shared: int
    expected: int
    more: int = 0

    @property
    def lost(self) -> int:
        """The number of expected tasks that the candidate lacks."""
        return self.expected - self.shared
