"""File formats: how their files are recognised, and which attempts are in them."""

from __future__ import annotations

import glob
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from passk_cli.errors import DataError
from passk_cli.files.formats.head import Head, look
from passk_cli.files.source import Source, packing_of
from passk_cli.message import WARNING, Message, Said

INCOMPLETE_RUN = Message(
    "incomplete-run", WARNING, "the run lists {listed:attempt}, the file holds {held}", "",
    "The file says how many attempts its run has, and holds another number of them. The run was"
    " stopped, is still going on, or files are missing. The attempts that are missing may be the"
    " slow or the difficult ones, so numbers may be too high.",
)  # fmt: skip

# A file beside another is read whole, so it must not be long.
_BESIDE_BYTES = 1 << 26
_SHOWN = 80
# One attempt, or several, as columns whose roles are found as those of a table.
Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One attempt.

    task : as the harness names it.  outcome : True, False, or None where there is none; a number
        where the harness has no rule for what passes; what cannot be understood as it is, to be
        refused with its place.
    attempt : its number or name within the run, if it has one; the same twice is a repeat.
    reason : why there is no outcome, or why it failed: "error", "timeout", "infrastructure",
        "unscored", "no score", "not attempted".
    score : where the harness gives a number; `--threshold` judges it instead of the outcome.
    model, suite : where they differ from row to row.
    settings : temperature, prompt, filter … by name.  texts : those of `Wanted.texts` there are.
    place : where it stands in the file, as "line 7" or a member's name.
    """

    task: object
    outcome: object
    attempt: object = None
    reason: str = ""
    score: float | None = None
    model: str | None = None
    suite: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    texts: Mapping[str, object] = field(default_factory=dict)
    place: str = ""


@dataclass
class Wanted:
    """Request to a table of attempts.

    outcome : one of the table's outcomes.
    texts : of "answer", "solution", "started", those that something asks for.
    skip_bad : whether lines that are no records are left out; `skipped` counts them.
    messages : those that only reading the rows shows, added to those of the table.
    """

    outcome: str
    texts: frozenset[str] = frozenset()
    skip_bad: bool = False
    skipped: int = 0
    messages: list[Said] = field(default_factory=list)

    def of(self, **texts: object) -> dict[str, object]:
        """Those of an attempt's texts that are wanted."""
        return {role: text for role, text in texts.items() if role in self.texts}


@dataclass(frozen=True)
class Contents:
    """The attempts of one file.

    rows : gives them, in the file's order, memory holding one at a time; a generic format gives
        records instead, with columns of their own.
    outcomes : what `--outcome` chooses from; where there is one, it is chosen.  None where no
        attempt was judged, so that the file goes with any of them.
    facts : constant in the file: model, suite, run, temperature …  Runs of one model go on.
        A suite is named where its task ids mean nothing without it.  Of a generic format: columns
        for records that have none of that name; looked at after the rows.
    messages : about the file; what a reader of its numbers must know.
    """

    rows: Callable[[Wanted], Iterator[Row] | Iterator[Record]]
    outcomes: tuple[str, ...] | None = ("outcome",)
    facts: Mapping[str, object] = field(default_factory=dict)
    messages: tuple[Said, ...] = ()


@dataclass(frozen=True)
class Format:
    """One harness's files.

    name : for `--from` and for the output.  rule : what passes, in one line.
    source : where the layout was read: the writer's own source, or a description of it.
    mine : whether a file is one of these, by its content; the name is only a hint.
    table : its attempts.  Errors: DataError, also for what cannot be used and why; NoResults where
        there can be none, so that such a file of a folder is passed over.
    covers : globs, from the file's folder, of what repeats it and must not count again, and of what
        belongs to it without being results; a function where they depend on the file.
    generic : whether it is no harness's: its rows are records, whose columns have the usual names
        or those of `--field`, and `--outcome` names one of them.
    """

    name: str
    rule: str
    source: str
    mine: Callable[[Head], bool]
    table: Callable[[Head, Folder], Contents]
    covers: tuple[str, ...] | Callable[[Head], tuple[str, ...]] = ()
    generic: bool = False

    @property
    def kind(self) -> str:
        """ "harness", "general" of files that no harness writes, or "refused"."""
        if self.generic:
            return "general"
        return "refused" if self.rule.startswith("refused") else "harness"

    def covered(self, head: Head) -> tuple[str, ...]:
        """The globs of what repeats this file."""
        return self.covers(head) if callable(self.covers) else self.covers


def outcomes_alone(
    rows: Callable[[Head, Wanted], Iterator[Row]],
) -> Callable[[Head, Folder], Contents]:
    """The table of files that hold nothing but attempts with one outcome."""
    return lambda head, folder: Contents(lambda wanted: rows(head, wanted))


class Folder:
    """Files beside a file, each parsed once."""

    def __init__(self) -> None:
        self._documents: dict[str, Any] = {}

    def document(self, head: Head, relative: str) -> Any:
        """Content of a JSON file beside this one; None where there is none, or it is no JSON."""
        path = os.path.normpath(os.path.join(_folder(head), relative))
        if path not in self._documents:
            try:
                with open(path, "rb") as file:
                    short = os.path.getsize(path) <= _BESIDE_BYTES
                    self._documents[path] = json.load(file) if short else None
            except (OSError, ValueError, RecursionError):
                self._documents[path] = None
        return self._documents[path]

    def names(self, head: Head, pattern: str) -> list[str]:
        """Files that match a pattern, from the file's folder, sorted."""
        folder = Path(_folder(head))
        found = glob.glob(pattern, root_dir=folder, recursive=True)
        return sorted(name for name in found if (folder / name).is_file())

    def heads(self, head: Head, pattern: str) -> Iterator[Head]:
        """The files that match a pattern, from the file's folder, one at a time, none kept."""
        for name in self.names(head, pattern):
            path = os.path.join(_folder(head), name)
            shown = os.path.join(os.path.dirname(head.source.name), name)
            yield look(Source(path, shown, None, packing_of(path)))


def lines(head: Head, wanted: Wanted) -> Iterator[tuple[int, dict[str, Any]]]:
    """(number, record) of each line that is a JSON record.

    Errors: DataError for another line, unless such are left out.
    """
    from passk_cli.files.source import lines as texts

    for number, text in texts(head.source):
        try:
            record = json.loads(text)
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict):
            yield number, record
        elif wanted.skip_bad:
            wanted.skipped += 1
        else:
            shown = quoted(text.decode(errors="replace").strip())
            raise DataError(
                f"{head.source.name}:{number}",
                f"not a JSON record: {shown}",
                "skip such lines with --skip-bad",
                name="bad-record",
            )


def at(value: Any, *keys: str | int) -> Any:
    """Value below these keys of records and places of lists; None where there is none.

    >>> at({"a": [{"b": 1}]}, "a", 0, "b"), at({"a": None}, "a", "b")
    (1, None)
    """
    for key in keys:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and -len(value) <= key < len(value):
            value = value[key]
        else:
            return None
    return value


def number(value: Any) -> float | None:
    """A finite number; None for everything else, NaN and truth values included.

    >>> number(0.5), number(float("nan")), number(True), number("1")
    (0.5, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= sys.float_info.max else None


def listed(head: Head, what: str, value: Any) -> list[Any]:
    """The list that a harness writes at this place; [] where nothing is there.

    what : the place in the document.
    Errors: DataError for a value of another type, of which entries would be made that are none.
    """
    if value is None or isinstance(value, list):
        return value or []
    shown = quoted(json.dumps(value))
    raise DataError(
        head.source.name,
        f"{what} is {shown}; expected a list",
        "correct the file",
        name="bad-record",
    )


def judged(value: Any, passes: Callable[[float], bool]) -> tuple[object, float | None]:
    """(outcome, score) of a value that should be a score, by the harness's rule.

    What is no number stays as it is; no value and NaN are no outcome.

    >>> judged(0.5, lambda score: score == 1), judged(None, bool), judged("high", bool)
    ((False, 0.5), (None, None), ('high', None))
    """
    if isinstance(value, bool):
        return value, float(value)
    score = number(value)
    if score is not None:
        return passes(score), score
    return (None, None) if value != value else (value, None)


def graded(value: Any) -> tuple[object, float | None]:
    """(outcome, score) of a value where the harness has no rule: 1 passes, 0 does not.

    Other numbers stand as they are, so that the reader asks for a threshold.

    >>> graded(1.0), graded(0.5), graded("high"), graded(float("nan"))
    ((True, 1.0), (0.5, 0.5), ('high', None), (None, None))
    """
    outcome, score = judged(value, bool)
    return (score if score not in (None, 0.0, 1.0) else outcome), score


def unscored(outcome: object) -> str:
    """Reason of an attempt that has no outcome."""
    return "unscored" if outcome is None else ""


def quoted(text: str) -> str:
    """A value for a message, cut at 80 signs."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def one_of(place: str, chosen: str | None, outcomes: Sequence[str]) -> str:
    """The outcome to read; DataError where it has to be chosen, or there is none of that name."""
    if chosen in outcomes:
        return str(chosen)
    listed = ", ".join(map(quoted, outcomes))
    if not outcomes:
        raise DataError(place, "no outcome in this file", "was it scored?", name="no-such-outcome")
    if chosen is not None:
        raise DataError(
            place, f"no outcome {quoted(chosen)!r}", f"there are {listed}", name="no-such-outcome"
        )
    if len(outcomes) > 1:
        raise DataError(
            place,
            f"{len(outcomes)} outcomes: {listed}",
            f"choose one with --outcome {outcomes[0]}",
            name="several-outcomes",
        )
    return outcomes[0]


def _folder(head: Head) -> str:
    return os.path.dirname(os.path.abspath(head.source.name))
