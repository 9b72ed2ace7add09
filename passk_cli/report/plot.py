"""Charts as plain data, before they are drawn.

`curves`, `forest`, `bars`, `densities` and `heat` make a `Plot` from the rows of a command, and
`passk_cli.charts` draws the plot.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from passk_cli.report.phrases import SeriesName, natural_key
from passk_cli.text import printable

Row = Mapping[str, Any]


@dataclass(frozen=True)
class ReferenceLine:
    """A reference line across a chart, vertical at x or horizontal at y, with its label."""

    x: float | None = None
    y: float | None = None
    text: str = ""
    dashed: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class Plot:
    """A chart as data.

    kind : "curves", "forest", "ranking", "bars", "densities" or "heat".
    rows : one mapping per point, from roles to values.  Roles of curves are x, y and kind (kind of
        line). Roles of other charts are x, label, head and tail (for a label "head − tail"), filled
        (False for a hollow point), draws (an array) and within (the range of possible draws).  A
        ranking also has place, letters and tied (whether the model ties for the first rank), and a
        forest has scale (one axis per value).  A cell of a heat map has label, low, high, y (its
        colour) and words.  All charts can have series, low, high and panel.  Undefined numbers are
        None.
    printed_name_by_role : maps each role to the printed name of its values.
    points : for curves, the rows that are shown as points.  Points may lack some roles.
    legend : for curves, maps "line", "band" or "points" to a text in the legend, if a legend is
        needed.
    subtitle : sample sizes and intervals, as parts joined by " · ".
    x_title, y_title : titles of the axes.
    x_tick_labels : maps a value of x to the label of its tick.
    x_unit, y_unit : "$" for an amount of money, "min" for a time in minutes, "year" for a date.
    log_x, log_y : whether the axis is logarithmic, or None if the values decide.
    y_limits : ends of the y-axis, or None to fit the values.
    unit : "share" for shares and differences of shares, which --percent shows as percentages, or ""
        for other values.
    hues : maps each model to the index of its colour and shape.  If `hues` is empty, the order of
        the models sets the index.
    all_models : all models of the data, if the chart may show only some models.
    leading_models : models that are coloured, if there are too many models for colours.
    short_names : maps each model with a shortened name to the shortened name.
    series_with_bands : the series that have a band for the interval, or () if all series have
        bands.
    columns_that_split_models : columns that split the results of a model, for example temperature.
    is_scatter_plot : whether the points of curves are the data, so that lines only connect points.
    only_with_full : whether files with several charts contain this chart only with --full.
    """

    kind: str
    rows: tuple[Row, ...]
    printed_name_by_role: Mapping[str, str]
    points: tuple[Row, ...] = ()
    reference_lines: tuple[ReferenceLine, ...] = ()
    legend: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    subtitle: str = ""
    x_title: str = ""
    y_title: str = ""
    x_tick_labels: Mapping[float, str] = field(default_factory=dict)
    x_unit: str = ""
    y_unit: str = ""
    log_x: bool | None = False
    log_y: bool = False
    y_limits: tuple[float, float] | None = None
    unit: str = "share"
    hues: Mapping[str, int] = field(default_factory=dict)
    all_models: tuple[str, ...] = ()
    leading_models: tuple[str, ...] = ()
    short_names: Mapping[str, str] = field(default_factory=dict)
    series_with_bands: tuple[Any, ...] = ()
    columns_that_split_models: tuple[str, ...] = ()
    answer: tuple[Any, ...] = ()
    is_scatter_plot: bool = False
    only_with_full: bool = False

    @property
    def description(self) -> str:
        """The axes, the models and the subtitle as text, for readers who cannot see the chart."""
        axes = " over ".join(filter(None, (self.y_title, self.x_title)))
        models = ", ".join(model for model in self._index_by_model if model)
        return "; ".join(filter(None, (axes, models, self.subtitle)))

    def is_grey(self, row: Row) -> bool:
        """Whether the model of a row is grey because only the leading models are coloured."""
        return bool(self.leading_models) and model_of(row) not in (None, *self.leading_models)

    def colour_index(self, row: Row) -> int | None:
        """The index of the colour and shape of the row's model, or None if the row has no model."""
        model = model_of(row)
        return None if model is None else self.hues.get(model, self._index_by_model.get(model, 0))

    def setting_index_and_count(self, row: Row) -> tuple[int, int]:
        """The index of the row's setting in the sorted settings, and the number of settings."""
        row_setting = _setting_of(row)
        return (self._settings.index(row_setting) if row_setting in self._settings else 0), len(
            self._settings
        )

    @cached_property
    def _index_by_model(self) -> dict[str | None, int]:
        models = dict.fromkeys(map(model_of, (*self.rows, *self.points)))
        return {model: place for place, model in enumerate(models)}

    @cached_property
    def _settings(self) -> list[tuple[str, ...]]:
        settings = set(map(_setting_of, (*self.rows, *self.points)))
        return sorted(settings, key=lambda parts: [natural_key(part) for part in parts])

    def has_roles(self, *roles: str) -> bool:
        """Whether the rows of the chart have all of the given roles."""
        return all(role in self.printed_name_by_role for role in roles)


def curves(
    rows: Sequence[Row], *, x: str, y: str, low: str = "", high: str = "", colour: str = "",
    dash: str = "", facet: str = "", points: Sequence[Row] = (), hollow: Sequence[Row] = (),
    marked: Collection[Any] = (), rules: Sequence[ReferenceLine] = (), keys: Mapping[str, str]
    | None = None,
    subtitle: str = "", log_x: bool | None = None, log_y: bool = False,
    y_domain: tuple[float, float] | None = (0.0, 1.0), shares: bool = False, **titles: str,
) -> Plot:  # fmt: skip
    """A chart of lines over x, with intervals as bands.

    rows : one row per point of a line, sorted by x.  An undefined y (None, NaN) breaks the line,
        and an undefined limit breaks the band.
    x, y, low, high : keys of the coordinates and of the limits.
    colour, dash, facet : keys of the series, of the kind of line, and of the panel.
    points : rows with the same keys that are shown as points, with low and high as bars.
    hollow : rows that are shown as hollow points, with the same keys.
    marked : values of x at which lines have points without bars.
    subtitle : text about sample sizes.  If there is only one series, the name of the series is
        added to the subtitle.
    log_x : whether x is logarithmic, or None if the range of x decides.
    log_y : whether y is logarithmic.  On a logarithmic y-axis, values of 0 or less are undefined.
    y_domain : ends of the y-axis, for example (0, 1) for shares.  If `y_domain` is None, the axis
        fits the data.
    shares : whether y is a share or a difference of shares, even if `y_domain` is not (0, 1).
    """
    names = _key_by_used_role(series=colour, kind=dash, panel=facet, x=x, y=y, low=low, high=high)
    dotted = (*points, *hollow)
    shared = {role: name for role, name in names.items() if all(name in row for row in dotted)}
    lines, dots = (
        _rows_with_role_keys(rows, names, log_y),
        _rows_with_role_keys(points, shared, log_y),
    )
    dots += tuple(
        {role: value for role, value in row.items() if role not in ("low", "high")}
        for row in lines if row["x"] in marked
    )  # fmt: skip
    dots += tuple({**row, "filled": False} for row in _rows_with_role_keys(hollow, shared, log_y))
    series = distinct_values((*lines, *dots), "series")
    lone = str(series[0]) if len(series) == 1 else ""
    titles["subtitle"] = " · ".join(filter(None, (lone, subtitle)))
    return _plot(
        "curves", lines, names, titles, rules, points=dots, legend=keys or {}, log_x=log_x,
        log_y=log_y, y_limits=y_domain, unit="share" if shares or y_domain == (0, 1) else "",
    )  # fmt: skip


def forest(
    rows: Sequence[Row], *, label: str, value: str, low: str, high: str, facet: str = "",
    filled: str = "", colour: str = "", head: str = "", tail: str = "", unit: str = "",
    rules: Sequence[ReferenceLine] = (ReferenceLine(x=0.0, dashed=False),), **titles: str,
) -> Plot:  # fmt: skip
    """A chart of points with intervals, which has one row per label and a line at zero.

    label, value, low, high, facet : keys of the label, the estimate, the limits and the panel.
    filled : key of a boolean, which is False for a hollow point.
    colour : key of the series, if the label is not the name of a series.
    head, tail : keys of the two models of a difference head − tail.  The chart shows each head
        once, above the tails of this head.
    unit : key of the unit of the values.
    rules : vertical reference lines.
    """
    labels, panels = ({row[name] for row in rows} for name in (label, facet or label))
    if len(labels) == 1 < len(panels) and len({row.get(unit) for row in rows}) == 1:
        parts = (str(rows[0][label]), titles.get("subtitle"))
        titles["subtitle"] = " · ".join(filter(None, parts))
        colour, label, facet, head, tail = colour or label, facet, "", "", ""
    # Results with the same unit have a common axis. Without a unit, each metric has its own axis.
    names = _key_by_used_role(
        label=label, x=value, low=low, high=high, panel=facet, filled=filled, series=colour,
        head=head,
        tail=tail, scale=unit or facet,
    )  # fmt: skip
    return _plot("forest", _rows_with_role_keys(rows, names), names, titles, rules)


def ranking(
    rows: Sequence[Row], *, label: str, value: str, low: str, high: str, place: str, letters: str,
    tied: str, **titles: str,
) -> Plot:  # fmt: skip
    """A chart of ranked models with estimates, intervals and the letters of ties.

    Only the models that tie for the first rank are coloured.

    rows : one row per model, sorted from the best to the worst.
    label, value, low, high, place, letters, tied : keys of the values in each row.
    """
    plot = forest(rows, label=label, value=value, low=low, high=high, rules=(), **titles)
    names = {**plot.printed_name_by_role, "place": place, "letters": letters, "tied": tied}
    leading = tuple(str(row[label].parts[0]) for row in rows if row[tied])
    return replace(
        plot,
        kind="ranking",
        printed_name_by_role=names,
        rows=_rows_with_role_keys(rows, names),
        leading_models=leading,
    )


def bars(rows: Sequence[Row], *, value: str, **names: str) -> Plot:
    """A chart of horizontal bars that begin at zero.

    rows : one row per bar.
    value : key of the length of a bar.
    names : further keys and titles; see `forest`.
    """
    ends = [{**row, "low": 0, "high": row[value]} for row in rows]
    plot = forest(ends, value=value, low="low", high="high", rules=(), **names)
    roles = {
        role: name
        for role, name in plot.printed_name_by_role.items()
        if role not in ("low", "high")
    }
    return replace(plot, kind="bars", printed_name_by_role=roles, unit="")


def densities(rows: Sequence[Row], *, draws: str, within: str = "", **names: str) -> Plot:
    """A chart with the density of random draws, and with the estimate and its interval.

    rows, names : rows, keys and titles; see `forest`.
    draws : key of the array of random draws.
    within : key of the smallest and the largest possible value.
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
    """A heat map, which consists of rows of cells that are coloured by a share.

    label, words : keys of the label of the row and of the name of the cell.
    low, high : keys of the left and the right end of the cell.
    value : key of the share, which may be None.
    """
    names = _key_by_used_role(label=label, low=low, high=high, y=value, words=words, panel=facet)
    return _plot("heat", _rows_with_role_keys(rows, names), names, titles)


def distinct_values(rows: Iterable[Row], role: str) -> list[Any]:
    """The distinct values of a role, in order of appearance."""
    return list(dict.fromkeys(row[role] for row in rows if row.get(role) is not None))


def model_of(row: Row) -> str | None:
    """The model of a row, or None if the row has no model."""
    name = row.get("series", row.get("label"))
    if isinstance(name, SeriesName):
        return name.parts[0]
    return None if row.get("series") is None else str(name)


def _setting_of(row: Row) -> tuple[str, ...]:
    name = row.get("series", row.get("label"))
    return name.parts[1:] if isinstance(name, SeriesName) else ()


def _key_by_used_role(**names: str) -> dict[str, str]:
    return {role: name for role, name in names.items() if name}


def _plot(
    kind: str, rows: tuple[Row, ...], names: Mapping[str, str], titles: Mapping[str, str],
    rules: Iterable[ReferenceLine] = (), **further: Any,
) -> Plot:  # fmt: skip
    further |= {name: printable(text) for name, text in titles.items()}
    safe = tuple(replace(rule, text=printable(rule.text)) for rule in rules)
    return Plot(kind, rows, names, reference_lines=safe, **further)


def _rows_with_role_keys(
    rows: Sequence[Row], names: Mapping[str, str], positive: bool = False
) -> tuple[dict[str, Any], ...]:
    return tuple(
        {role: _plain_value(row[name], positive and role in ("y", "low", "high"))
         for role, name in names.items()}
        for row in rows
    )  # fmt: skip


def _plain_value(value: Any, positive: bool = False) -> Any:
    if isinstance(value, SeriesName):
        return SeriesName([printable(part) for part in value.parts], value.separator)
    if isinstance(value, str):
        return printable(value)
    value = value.item() if hasattr(value, "item") else value
    undefined = isinstance(value, float) and not math.isfinite(value)
    return None if undefined or (positive and not (value and value > 0)) else value
