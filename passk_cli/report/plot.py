"""Charts as plain data: what is shown, and nothing of how it is drawn.

`curves`, `forest`, `densities` and `heat` make a `Plot` from a command's rows; `passk_cli.charts`
draws it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from passk_cli.report.words import SeriesName, natural_key
from passk_cli.text import printable

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Rule:
    """A reference line across a chart: vertical at x or horizontal at y, with a word on it."""

    x: float | None = None
    y: float | None = None
    text: str = ""
    dashed: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class Plot:
    """A picture of a result as data.

    kind : "curves", "forest", "bars", "densities" or "heat".
    rows : one per point, in the order they are shown: role → value.  Curves have x, y, kind (which
        line of a series); the others x, label, head and tail (of a label "head − tail"), told
        (whether it stands out), draws (an array), within (the least and the most of them); all
        series (whose it is), low, high, panel; a forest scale, with an axis for each.  A heat map
        has cells from low to high in the row of a label, y (their colour) and words.
        Texts are printable, numbers are Python's, and undefined ones are None.
    names : role → what its values are called.
    points : of curves, rows shown as points, hollow where `told` is False; they may lack some of
        the roles.
    rules : reference lines.
    keys : of curves, "line", "band" or "points" → what they are, for the legend; what its title
        and the names of lines say needs none.
    title, subtitle : what is shown; what was counted, and how certain, in parts joined by " · ".
    answer : the sentences of the report that it shows.
    x_title, y_title : of the axes.  x_names : value of x → what its tick is called.
    x_unit, y_unit : "$" for an amount of money, "min" for a time in minutes, "year" for a date.
    log_x, log_y : whether an axis is logarithmic; None to let the values decide.
    y_limits : the ends of the y-axis; None to fit the values.
    unit : "share" for shares and differences of such, which obey --percent; else "".
    hues : model → the place of its colour and shape; in the order of the models where empty.
    models : all those of the data, where some of them may not be in the picture.
    leading : the models that have colours where there are too many for all.
    short : model → its name in the picture, where that is not the whole one.
    banded : the series whose intervals show as bands; empty for all.
    groups : the columns that split a model into its series.
    scattered : whether the points of curves are the data, and lines no more than beside them.
    """

    kind: str
    rows: tuple[Row, ...]
    names: Mapping[str, str]
    points: tuple[Row, ...] = ()
    rules: tuple[Rule, ...] = ()
    keys: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    subtitle: str = ""
    x_title: str = ""
    y_title: str = ""
    x_names: Mapping[float, str] = field(default_factory=dict)
    x_unit: str = ""
    y_unit: str = ""
    log_x: bool | None = False
    log_y: bool = False
    y_limits: tuple[float, float] | None = None
    unit: str = "share"
    hues: Mapping[str, int] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    leading: tuple[str, ...] = ()
    short: Mapping[str, str] = field(default_factory=dict)
    banded: tuple[Any, ...] = ()
    groups: tuple[str, ...] = ()
    answer: tuple[Any, ...] = ()
    scattered: bool = False

    @property
    def description(self) -> str:
        """The picture in words, for those who cannot see it: axes, models, and what was counted."""
        axes = " over ".join(filter(None, (self.y_title, self.x_title)))
        models = ", ".join(model for model in self._models if model)
        return "; ".join(filter(None, (axes, models, self.subtitle)))

    def grey(self, row: Row) -> bool:
        """Whether a row is of a model behind those that have colours."""
        return bool(self.leading) and model_of(row) not in (None, *self.leading)

    def hue(self, row: Row) -> int | None:
        """The place of the colour and the shape of a row's model; None where it is of none."""
        model = model_of(row)
        return None if model is None else self.hues.get(model, self._models.get(model, 0))

    def setting(self, row: Row) -> tuple[int, int]:
        """The place of a row's groups among those of all rows, and how many these are."""
        row_setting = _setting_of(row)
        return (self._settings.index(row_setting) if row_setting in self._settings else 0), len(
            self._settings
        )

    @cached_property
    def _models(self) -> dict[str | None, int]:
        models = dict.fromkeys(map(model_of, (*self.rows, *self.points)))
        return {model: place for place, model in enumerate(models)}

    @cached_property
    def _settings(self) -> list[tuple[str, ...]]:
        settings = set(map(_setting_of, (*self.rows, *self.points)))
        return sorted(settings, key=lambda parts: [natural_key(part) for part in parts])

    def has(self, *roles: str) -> bool:
        """Whether the rows have all of these roles."""
        return all(role in self.names for role in roles)


def curves(
    rows: Sequence[Row], *, x: str, y: str, low: str = "", high: str = "", colour: str = "",
    dash: str = "", facet: str = "", points: Sequence[Row] = (), hollow: Sequence[Row] = (),
    marked: Collection[Any] = (), rules: Sequence[Rule] = (), keys: Mapping[str, str] | None = None,
    subtitle: str = "", log_x: bool | None = None, log_y: bool = False,
    y_domain: tuple[float, float] | None = (0.0, 1.0), shares: bool = False, **titles: str,
) -> Plot:  # fmt: skip
    """Lines over x with their intervals as bands.

    rows : one per point of a line, in the order of x; x, y, low, high, colour (whose line), dash
        (which kind) and facet (a panel for each value) name keys in them.  An undefined y (None,
        NaN) breaks the line; an undefined limit, the band.
    points : rows shown as points under the same keys, with low and high as bars; other than x and
        y, a key that not all of them have is left out.  hollow : further ones, not filled.
    marked : the x at which lines have points of their own, without bars.
    subtitle : what was counted, and how certain it is; a lone series is named there too.
    log_x : None for a logarithmic axis when x spans two decades.
    log_y : whether y is drawn so; what is not positive has no place there and counts as undefined.
    y_domain : None to fit the data, zero included unless log_y; (0, 1) for shares.
    shares : whether y is a share, or a difference of such, on another range as well.
    """
    names = _without_empty(series=colour, kind=dash, panel=facet, x=x, y=y, low=low, high=high)
    dotted = (*points, *hollow)
    shared = {role: name for role, name in names.items() if all(name in row for row in dotted)}
    lines, dots = _rows_by_role(rows, names, log_y), _rows_by_role(points, shared, log_y)
    dots += tuple(
        {role: value for role, value in row.items() if role not in ("low", "high")}
        for row in lines if row["x"] in marked
    )  # fmt: skip
    dots += tuple({**row, "filled": False} for row in _rows_by_role(hollow, shared, log_y))
    series = distinct((*lines, *dots), "series")
    lone = str(series[0]) if len(series) == 1 else ""
    titles["subtitle"] = " · ".join(filter(None, (lone, subtitle)))
    return _plot(
        "curves", lines, names, titles, rules, points=dots, keys=keys or {}, log_x=log_x,
        log_y=log_y, y_limits=y_domain, unit="share" if shares or y_domain == (0, 1) else "",
    )  # fmt: skip


def forest(
    rows: Sequence[Row], *, label: str, value: str, low: str, high: str, facet: str = "",
    filled: str = "", colour: str = "", head: str = "", tail: str = "", unit: str = "",
    rules: Sequence[Rule] = (Rule(x=0.0, dashed=False),), **titles: str,
) -> Plot:  # fmt: skip
    """Points with their intervals, one under the other, beside a line at zero.

    rows : one per label and facet; label, value, low, high, facet, told name keys in them.
    told : whether a point stands out (filled) or not (hollow).
    colour : whose row it is; the label where that is the name of a series.
    head, tail : of a difference head − tail; a picture writes the heads over their tails.
    unit : of what there are differences.
    rules : vertical reference lines.  titles : title, subtitle and x_title.
    """
    labels, panels = ({row[name] for row in rows} for name in (label, facet or label))
    if len(labels) == 1 < len(panels) and len({row.get(unit) for row in rows}) == 1:
        # The metrics of one model stand under each other, on one axis.
        parts = (str(rows[0][label]), titles.get("subtitle"))
        titles["subtitle"] = " · ".join(filter(None, parts))
        colour, label, facet, head, tail = colour or label, facet, "", "", ""
    # Numbers of different kinds have an axis each; differences of one unit share it.
    names = _without_empty(
        label=label, x=value, low=low, high=high, panel=facet, filled=filled, series=colour,
        head=head,
        tail=tail, scale=unit if rules else facet,
    )  # fmt: skip
    return _plot("forest", _rows_by_role(rows, names), names, titles, rules)


def bars(rows: Sequence[Row], *, value: str, **names: str) -> Plot:
    """Numbers as bars from zero, one under the other.

    rows : one per bar; value names the key of its length.  names : as those of a `forest`.
    """
    ends = [{**row, "low": 0, "high": row[value]} for row in rows]
    plot = forest(ends, value=value, low="low", high="high", rules=(), **names)
    roles = {role: name for role, name in plot.names.items() if role not in ("low", "high")}
    return replace(plot, kind="bars", names=roles, unit="")


def densities(rows: Sequence[Row], *, draws: str, within: str = "", **names: str) -> Plot:
    """The distribution of draws in rows, one under the other, with estimate and interval.

    rows : as those of a `forest`, with the same names; draws names an array in each, of which the
        chart will show the density; within, the least and the largest value that there can be.
    """
    points = forest(rows, rules=(), **names)
    values = zip(points.rows, rows, strict=True)
    return replace(
        points, kind="densities",
        rows=tuple(
            {**point, "draws": row[draws], "within": row.get(within, (-math.inf, math.inf))}
            for point, row in values
        ),
    )  # fmt: skip


def heat(
    rows: Sequence[Row], *, label: str, low: str, high: str, value: str, words: str,
    facet: str = "", **titles: str,
) -> Plot:  # fmt: skip
    """Cells in rows, coloured by a share.

    rows : one per cell; label names its row, low and high where it begins and ends, value its
        share or None, words what it is called.
    """
    names = _without_empty(label=label, low=low, high=high, y=value, words=words, panel=facet)
    return _plot("heat", _rows_by_role(rows, names), names, titles)


def distinct(rows: Iterable[Row], role: str) -> list[Any]:
    """The values of a role in the order they appear."""
    return list(dict.fromkeys(row[role] for row in rows if row.get(role) is not None))


def model_of(row: Row) -> str | None:
    """The model that a row is of; None where it is of none."""
    name = row.get("series", row.get("label"))
    if isinstance(name, SeriesName):
        return name.parts[0]
    return None if row.get("series") is None else str(name)


def _setting_of(row: Row) -> tuple[str, ...]:
    name = row.get("series", row.get("label"))
    return name.parts[1:] if isinstance(name, SeriesName) else ()


def _without_empty(**names: str) -> dict[str, str]:
    return {role: name for role, name in names.items() if name}


def _plot(
    kind: str, rows: tuple[Row, ...], names: Mapping[str, str], titles: Mapping[str, str],
    rules: Iterable[Rule] = (), **further: Any,
) -> Plot:  # fmt: skip
    """A plot whose texts can all be printed; titles : title, subtitle, x_title, y_title."""
    further |= {name: printable(text) for name, text in titles.items()}
    safe = tuple(replace(rule, text=printable(rule.text)) for rule in rules)
    return Plot(kind, rows, names, rules=safe, **further)


def _rows_by_role(
    rows: Sequence[Row], names: Mapping[str, str], positive: bool = False
) -> tuple[dict[str, Any], ...]:
    """The rows under their roles; with `positive`, no other heights."""
    return tuple(
        {role: _plain_value(row[name], positive and role in ("y", "low", "high"))
         for role, name in names.items()}
        for row in rows
    )  # fmt: skip


def _plain_value(value: Any, positive: bool = False) -> Any:
    """A value that JSON and XML know."""
    if isinstance(value, SeriesName):
        return SeriesName([printable(part) for part in value.parts], value.joint)
    if isinstance(value, str):
        return printable(value)
    value = value.item() if hasattr(value, "item") else value
    undefined = isinstance(value, float) and not math.isfinite(value)
    return None if undefined or (positive and not (value and value > 0)) else value
