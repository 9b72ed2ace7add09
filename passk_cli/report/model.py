"""The shapes a result takes on its way to a renderer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Estimate:
    """A number that knows how sure it is, or why it is not there.

    value : the estimate, or None with the reason.
    se : standard error.  low, high : interval limits.  Each None where there is none.
    reason : why a value (or limit) is missing, or what qualifies it.
    signed : shown with its sign, as differences are.
    marked : best, and distinguishable from the second; shown bold where bold exists.
    share : lies in [0, 1] or is a difference of such, and so may be shown as a percentage.
    """

    value: float | None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    signed: bool = False
    marked: bool = False
    share: bool = True


@dataclass(frozen=True)
class Limits:
    """An interval on its own, beside an estimate in another column; None limits carry a reason."""

    low: float | None
    high: float | None
    reason: str = ""


Cell = str | int | float | Estimate | Limits | None


@dataclass(frozen=True)
class Column:
    """A column's name and how its values are shown.

    kind : "text", "count", "share" (in [0, 1] or a difference of such; obeys --percent), "fine" (a
        share of which small values matter: two decimals more), "score" (a number of no known
        unit), "amount" (money or a ratio: two decimals), "number" (of any size: four significant
        digits) or "p" (a p-value).
    joined : belongs to the column before it; the two are never shown apart.
    """

    name: str
    kind: str = "text"
    joined: bool = False


@dataclass(frozen=True)
class Table:
    """Columns and rows; every row has one cell per column."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""


@dataclass(frozen=True)
class Note:
    """Something the reader has to know; `warning` when the numbers mean less because of it."""

    text: str
    level: str = "note"


@dataclass(frozen=True)
class Check:
    """One rule of a gate about one model: what speaks for it, and "pass", "fail" or "undecided".

    failing : whether it shuts the gate, which undecided ones do when asked to.
    """

    model: str
    rule: str
    evidence: Estimate
    verdict: str
    detail: str = ""
    failing: bool = False


# The number format of axes and hovering that show shares, in the notation of Vega-Lite; a reader
# who asks for percentages gets them there.
SHARES = ",.6~f"


@dataclass(frozen=True)
class Chart:
    """A picture of a result.

    spec : a Vega-Lite specification with its data inside and without a theme; made by
        `report.charts`, whose named layers the terminal's drawing understands.
    """

    spec: Mapping[str, Any]


@dataclass(frozen=True)
class Report:
    """What a command found.

    tables : for people, in reading order.
    data : the same facts, tidy: one row per fact, full precision, for programs.
    caption : one line under the tables: what was counted and how sure.
    notes : what qualifies the numbers.
    signature : name → value, enough to reproduce the numbers.
    checks : the rules of a gate; empty for other reports.
    charts : pictures of the same facts, in reading order; drawn when asked for.
    """

    tables: tuple[Table, ...]
    data: Table
    caption: str = ""
    notes: tuple[Note, ...] = ()
    signature: Mapping[str, object] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()
    charts: tuple[Chart, ...] = ()


def printable(text: str) -> str:
    """The text with control characters as their codes: a name must not move the cursor.

    >>> printable("a\\tb")
    'a\\\\tb'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
