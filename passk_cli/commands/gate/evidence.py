"""Evidence that is counted: tasks and attempts, of those there should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

# A count, as text.
OF = "{0:,} of {1:,}"
SHARED = " on the shared tasks"


class CountEvidence(NamedTuple):
    """A count as evidence: "24 of 60".

    words : with the two numbers as {0} and {1}.
    """

    part: int
    total: int
    words: str = OF

    def __str__(self) -> str:
        return self.words.format(self.part, self.total)


@dataclass(frozen=True)
class Coverage:
    """Tasks of a candidate's series, of those it should have.

    shared : tasks it has of the `expected` ones: the baseline's, or those of all candidates.
    more : tasks it has besides.
    """

    shared: int
    expected: int
    more: int = 0

    @property
    def lost(self) -> int:
        """Tasks it should have and has not."""
        return self.expected - self.shared
