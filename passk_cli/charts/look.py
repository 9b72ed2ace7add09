"""How the reader wants charts to look, and the plots made so before they are drawn."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from passk_cli.charts.theme import THEMES
from passk_cli.errors import ParameterError
from passk_cli.report.model import Report
from passk_cli.report.plot import Plot, distinct

# More lines than this in one panel are told apart by nobody: all but so many are grey.
MOST_SERIES, _LEADING = 8, 5
_LIMITS = ("low", "high")


@dataclass(frozen=True)
class Look:
    """The reader's choices.

    width, height : of the area of a panel in pixels (of a terminal, columns and rows); None: as
        the drawing has it.
    title : whether title and subtitle stand above.  bands : whether the intervals of lines show.
    highlight : models whose lines have colours, all others being grey.
    """

    width: int | None = None
    height: int | None = None
    title: bool = True
    bands: bool = True
    highlight: tuple[str, ...] = ()


def shown(report: Report, look: Look) -> Report:
    """The report with its plots as the reader wants them."""
    return replace(report, draw=lambda: prepared(report.plots, look))


def prepared(plots: Sequence[Plot], look: Look) -> tuple[Plot, ...]:
    """The plots of one call: each series in the same colour, few of many coloured.

    Errors: ParameterError for a model to highlight that no line is of.
    """
    lines = {str(s) for plot in plots if plot.kind == "curves"
             for s in distinct((*plot.rows, *plot.points), "series")}  # fmt: skip
    lines |= {name.split(" · ")[0] for name in lines}
    if wrong := [name for name in look.highlight if lines and name not in lines]:
        names = ", ".join(sorted(lines))
        raise ParameterError(
            f"--highlight {wrong[0]}: no line is of this model; choose one of {names}",
            name="no-such-model",
        )
    plots = [_leading(plot, look.highlight) for plot in plots]
    series = (plot.leading or distinct((*plot.rows, *plot.points), "series") for plot in plots)
    hues = hues_of(str(name) for names in series for name in names)
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


def _leading(plot: Plot, named: Sequence[str]) -> Plot:
    """The plot with all lines but a few in grey where there are too many to tell apart, or where
    some are named; the grey ones come first, without intervals and points.

    named : series, or groups of one named by its model; the five highest at the end where empty.
    """
    every = distinct((*plot.rows, *plot.points), "series")
    if plot.kind != "curves" or not (named or len(every) > MOST_SERIES):
        return plot
    last = {row["series"]: row["y"] for row in plot.rows if row["y"] is not None
            and row.get("kind") == plot.rows[0].get("kind")
            and row.get("panel") == plot.rows[0].get("panel")}  # fmt: skip
    best = sorted(every, key=lambda series: -last.get(series, -math.inf))[:_LEADING]
    chosen = [s for s in every if s in named or str(s).split(" · ")[0] in named] or best
    behind, ahead = ([row for row in plot.rows if (row.get("series") in chosen) == of]
                     for of in (False, True))  # fmt: skip
    behind = [{role: None if role in _LIMITS else v for role, v in row.items()} for row in behind]
    points = [row for row in plot.points if row.get("series") in chosen]
    return replace(
        plot, rows=(*behind, *ahead), points=tuple(points), leading=tuple(map(str, chosen))
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
