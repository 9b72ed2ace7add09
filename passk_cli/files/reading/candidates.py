"""Candidates: the columns that may play a role, with tallies and the option that chooses each.

`find_candidates(con, source, request)` looks at the beginning of one file and returns `Candidates`:

    found = find_candidates(con, sources[0], request)
    found.records                    # value of --records, "" at the top of the file
    found["task"]                    # tuple of Candidate, the most likely first
    found["outcome"][0].option       # Settle({"--field": {"outcome": "verdict"}})
    found["outcome"][0].passing      # one Settle per way to pass; empty if the values say it
    found.certain("task")            # the only Candidate that can be meant, or None

The roles are "task", "outcome", "counts" (columns of attempts and of passes), "model" and
"setting".  Nothing is chosen here, and nothing is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from passk_cli.files.reading.structures import Structure, beginning
from passk_cli.files.request import Request
from passk_cli.files.roles import strength
from passk_cli.files.sources.source import Source
from passk_cli.settle import Settle

if TYPE_CHECKING:
    import duckdb

#: The roles that columns can be chosen for, in the order in which they are shown.
SHOWN_ROLES = ("task", "outcome", "counts", "model", "setting")


@dataclass(frozen=True)
class Candidate:
    """A column that may play a role.

    column : as --field takes it; of counts the columns of attempts and passes, "n,c".
    option : the option that chooses it.
    tally : its values in words: "145 false, 43 true", or "30 values, 5 rows each" of a task.
    certain : whether its name, or that nothing else can be meant, leaves no doubt.
    missing : records without a value.
    passing : options that say what passes, one for each way, each with its meaning as `why`; empty
        if the values say it themselves.
    """

    role: str
    column: str
    option: Settle
    tally: str
    certain: bool = False
    missing: int = 0
    passing: tuple[Settle, ...] = ()


@dataclass(frozen=True, eq=False)
class Candidates(Mapping[str, tuple[Candidate, ...]]):
    """Role → its candidates, the most likely first, of the records at one place of a file.

    records : the place, as --records takes it; "" at the top.  rows : records that were looked at.
    """

    records: str
    rows: int
    by_role: Mapping[str, tuple[Candidate, ...]]

    def __getitem__(self, role: str) -> tuple[Candidate, ...]:
        return self.by_role.get(role, ())

    def __iter__(self) -> Iterator[str]:
        return (role for role in SHOWN_ROLES if self[role])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def certain(self, role: str) -> Candidate | None:
        """The candidate of a role that is certain; None if there is none."""
        return next((candidate for candidate in self[role] if candidate.certain), None)


def find_candidates(con: duckdb.DuckDBPyConnection, source: Source, request: Request) -> Candidates:
    """The candidates in the most likely place of a file; none in a file that a harness wrote."""
    found = beginning(source.name, con, [source], request)
    return max(map(_candidates, found), key=len, default=Candidates("", 0, {}))


def _candidates(structure: Structure) -> Candidates:
    by_role: dict[str, Sequence[Candidate]] = {}
    for role in ("task", "outcome", "model"):
        columns = sorted(structure.columns, key=lambda name: -strength(role, name))
        by_role[role] = [
            Candidate(
                role, name, Settle({"--field": {role: name}}), structure.columns[name].tally,
                certain=strength(role, name) == 3, missing=structure.columns[name].texts.count(""),
            )
            for name in columns if strength(role, name)
        ]  # fmt: skip
    return Candidates(
        ".".join(structure.keys), structure.size, {r: (*c,) for r, c in by_role.items()}
    )
