"""How the reader wants charts to look, and the plots made so before they are drawn."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from passk_cli.charts.theme import THEMES
from passk_cli.report.model import Report
from passk_cli.report.plot import Plot, Row, distinct

# More lines than this in one panel are told apart by nobody: each gets a panel of its own.
MOST_SERIES = 8
_LIMITS = ("low", "high")


@dataclass(frozen=True)
class Look:
    """The reader's choices.

    width, height : of the area of a panel in pixels (of a terminal, columns and rows); None: as
        the drawing has it.
    title : whether title and subtitle stand above.  bands : whether the intervals of lines show.
    """

    width: int | None = None
    height: int | None = None
    title: bool = True
    bands: bool = True


def shown(report: Report, look: Look) -> Report:
    """The report with its plots as the reader wants them."""
    return replace(report, draw=lambda: prepared(report.plots, look))


def prepared(plots: Sequence[Plot], look: Look) -> tuple[Plot, ...]:
    """The plots of one call: each series in the same colour, none with too many in a panel."""
    plots = [_apart(plot) for plot in plots]
    names = (str(s) for plot in plots for s in distinct((*plot.rows, *plot.points), "series"))
    hues = hues_of(names)
    return tuple(_styled(replace(plot, hues=hues), look) for plot in plots)


def hues_of(names: Iterable[str]) -> dict[str, int]:
    """The place of each name's colour and shape: by the name itself, so that it stays the same from
    one command to the next; of names that meet, the first has the place and the others the next
    free ones.

    >>> hues_of(["gpt-4", "phi-2"]) == hues_of(["phi-2", "gpt-4"])
    True
    """
    size = len(THEMES["light"].series)
    own = {name: zlib.crc32(name.encode(errors="replace")) % size for name in sorted(set(names))}
    # Names that have their place to themselves keep it, whoever comes besides.
    owner = {place: name for name, place in reversed(own.items())}
    hues = {name: place for name, place in own.items() if owner[place] == name}
    for name, place in own.items():
        if name not in hues:
            free = [p for p in range(size) if p not in hues.values()]
            beyond = max(size - 1, *hues.values()) + 1
            hues[name] = min(free, key=lambda p: (p - place) % size) if free else beyond
    return hues


def _apart(plot: Plot) -> Plot:
    """The plot with a panel per series where there are too many for one; what its panels were are
    the series of each."""
    rows = (*plot.rows, *plot.points)
    if plot.kind != "curves" or len(distinct(rows, "series")) <= MOST_SERIES:
        return plot
    few = len(distinct(rows, "panel")) <= MOST_SERIES
    names = {role: name for role, name in plot.names.items() if role not in ("series", "panel")}
    names |= {"panel": plot.names["series"]}
    names |= {"series": plot.names["panel"]} if plot.has("panel") and few else {}

    def turned(row: Row) -> Row:
        new = {role: value for role, value in row.items() if role not in ("series", "panel")}
        if "panel" not in row:
            return new | ({"panel": row["series"]} if "series" in row else {})
        if few:
            return new | {"panel": row["series"], "series": row["panel"]}
        return new | {"panel": f"{row['series']} · {row['panel']}"}

    return replace(
        plot,
        names=names,
        rows=tuple(map(turned, plot.rows)),
        points=tuple(map(turned, plot.points)),
    )


def _styled(plot: Plot, look: Look) -> Plot:
    plot = replace(plot, width=look.width, height=look.height)
    if not look.title:
        plot = replace(plot, title="", subtitle="")
    if look.bands or plot.kind != "curves":
        return plot
    rows, points = ([{r: v for r, v in row.items() if r not in _LIMITS} for row in some]
                    for some in (plot.rows, plot.points))  # fmt: skip
    names = {role: name for role, name in plot.names.items() if role not in _LIMITS}
    return replace(plot, rows=tuple(rows), points=tuple(points), names=names)
