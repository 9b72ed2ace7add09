"""Applies the options for charts to plots: size, colours, highlighted models, bands and panels."""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from passk_cli.charts.theme import THEMES
from passk_cli.errors import ParameterError, no_such_model_error
from passk_cli.report.data_types import Report
from passk_cli.report.phrases import SeriesName, natural_key
from passk_cli.report.plot import Plot, Row, distinct_values, model_of
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix
from passk_cli.suggestions import nearest_names
from passk_cli.text import plural, short_names

# A plot with more than MOST_MODELS models shows only some models in colour, because readers cannot
# distinguish more colours. These models are the leading models of the plot and the models that its
# answer names. If there are none, they are the _LEADING highest models.
MOST_MODELS, _LEADING = 8, 5
# If a panel has more than _MOST_BANDS lines with bands, only the first one to _BANDED models keep
# their bands, because many bands would hide each other.
_MOST_BANDS, _BANDED = 4, 3
# A chart shortens the name of a model to at most _MAX_MODEL_NAME_LETTERS letters.
_MAX_MODEL_NAME_LETTERS = 40
_LIMIT_ROLES = ("low", "high")
# _PIXELS_PER_UNIT maps each unit of length to the number of pixels per unit.
_PIXELS_PER_UNIT = {"px": 1.0, "in": 96.0, "cm": 96 / 2.54, "mm": 96 / 25.4, "pt": 96 / 72}
# HALF_PAGE_WIDTH is half the width of a printed page. In a picture with the width HALF_PAGE_WIDTH,
# letters have a size of 7 to 8 points.
HALF_PAGE_WIDTH = 3.25 * _PIXELS_PER_UNIT["in"]
# A side of a picture has at most _MAX_PIXELS_PER_SIDE pixels. Larger pictures take minutes to draw,
# and few programs can open them.
_MAX_PIXELS_PER_SIDE = 10_000
# In a picture for a screen, text and lines are up to _MAX_SCREEN_ENLARGEMENT times as large as in a
# picture for paper.
_MAX_SCREEN_ENLARGEMENT = 1.5


@dataclass(frozen=True, eq=False, repr=False)
class PictureSize:
    """The size of a whole picture.

    width, height : lengths in `unit`.  If height is None, the height fits the content.
    """

    width: float
    height: float | None = None
    unit: str = "px"

    @staticmethod
    def parse(text: str) -> PictureSize:
        """The size of a picture, parsed from a string such as "3.25in", "8cmx5cm" or "800x500".

        Errors: ParameterError if the string is not a size, or if a side is too long.
        """
        length, unit = r"(\d+\.?\d*|\.\d+)", "(in|cm|mm|pt|px|)"
        match = re.fullmatch(rf"{length}{unit}(?:[x×]{length}{unit})?", text.replace(" ", ""))
        if match is not None and len({match[2], match[4]} - {"", None}) < 2:
            unit = match[2] or match[4] or "px"
            width, height = float(match[1]), float(match[3]) if match[3] else None
            sides = [side * _PIXELS_PER_UNIT[unit] for side in (width, height) if side is not None]
            if all(0 < side <= _MAX_PIXELS_PER_SIDE for side in sides):
                return PictureSize(width, height, unit)
        raise ParameterError(
            OptionWithValue("--chart-size", text),
            "this is not a size that passk can draw; write, for example, 3.25in, 8cmx5cm or"
            f" 800x500 (in, cm, mm, pt or px), with sides of at most {_MAX_PIXELS_PER_SIDE:,}px",
        )

    @property
    def is_for_paper(self) -> bool:
        """Whether the size has a unit for paper, such as inches or cm, instead of pixels."""
        return self.unit != "px"

    @property
    def pixels_per_drawing_unit(self) -> float:
        """The number of pixels per unit of the drawing."""
        enlargement = min(max(self.width / HALF_PAGE_WIDTH, 1.0), _MAX_SCREEN_ENLARGEMENT)
        return 1.0 if self.is_for_paper else enlargement

    @property
    def size_in_drawing_units(self) -> tuple[float, float | None]:
        """The width and the height of the picture in units of the drawing."""
        unit = _PIXELS_PER_UNIT[self.unit] / self.pixels_per_drawing_unit
        return self.width * unit, None if self.height is None else self.height * unit

    def length_text(self, length: float) -> str:
        """A length of the drawing as text, rounded up, in the unit of the picture's size."""
        digits = {"in": 2, "cm": 1}.get(self.unit, 0)
        size = length * self.pixels_per_drawing_unit / _PIXELS_PER_UNIT[self.unit]
        return f"{math.ceil(round(size * 10**digits, 6)) / 10**digits:g}{self.unit}"


# If a panel has more than _MAX_MODELS_WITHOUT_KIND_PANELS models, passk draws each kind of line in
# a separate panel.
_MAX_MODELS_WITHOUT_KIND_PANELS = 4
# DEFAULT_PICTURE_SIZE is the size of a picture if --chart-size is not set.
DEFAULT_PICTURE_SIZE = PictureSize(HALF_PAGE_WIDTH * _MAX_SCREEN_ENLARGEMENT)


@dataclass(frozen=True, eq=False, repr=False)
class Appearance:
    """How charts look.

    highlight : names, or patterns of names, of the coloured models.  All other models are grey.
    panel_column : a column of the option --by.  A chart has one panel per value of this column.
    """

    has_title: bool = True
    has_bands: bool = True
    highlight: tuple[str, ...] = ()
    panel_column: str = ""
    size: PictureSize | None = None


def with_appearance(report: Report, appearance: Appearance) -> Report:
    """A copy of the report in which the plots have the given appearance."""
    return replace(report, make_plots=lambda: plots_with_appearance(report.plots, appearance))


def plots_with_appearance(plots: Sequence[Plot], appearance: Appearance) -> tuple[Plot, ...]:
    """The plots of a report with the given appearance.

    Each model has the same colour and the same name in all plots.

    Errors: ParameterError if no model matches a name in `highlight`, or if the column for panels
    does not split the models.
    """
    tails = (str(row["tail"]) for plot in plots for row in plot.rows if "tail" in row)
    chart_models = {name for plot in plots for name in _models_of_plot(plot)}
    all_models = chart_models.union(tails, *(plot.all_models for plot in plots))
    matches = {
        pattern: [m for m in sorted(chart_models) if m == pattern or fnmatchcase(m, pattern)]
        for pattern in appearance.highlight
    }
    if wrong := [pattern for pattern, models in matches.items() if chart_models and not models]:
        option = OptionWithValue("--highlight", wrong[0])
        remaining = sorted(matches.keys() - {wrong[0]})
        problem = "the chart has no such model"
        raise no_such_model_error(option, problem, wrong[0], chart_models, option.option, remaining)
    if appearance.panel_column:
        plots = [_split_into_panels(plot, appearance.panel_column) for plot in plots]
    plots = [_split_line_kinds_into_panels(plot) for plot in plots]
    highlighted = tuple(dict.fromkeys(model for models in matches.values() for model in models))
    plots = [_grey_out_nonleading_models(plot, highlighted) for plot in plots]
    hues = assign_colour_and_shape_indices(all_models)
    if len(all_models) > MOST_MODELS:
        leaders = [name for plot in plots for name in plot.leading_models]
        best = [name for p in plots for name in p.leading_models[:_LEADING] or _models_of_plot(p)]
        hues = assign_colour_and_shape_indices(leaders, assign_colour_and_shape_indices(best))
    short = _short_name_by_model(all_models)
    plots = [_with_short_names_in_texts(replace(plot, hues=hues), short) for plot in plots]
    return tuple(_remove_unwanted_title_and_bands(plot, appearance) for plot in plots)


def _short_name_by_model(models: Iterable[str]) -> dict[str, str]:
    """Maps each model that has a long name to a short name."""
    models_sorted = sorted({*models})
    names = zip(models_sorted, short_names(models_sorted, _MAX_MODEL_NAME_LETTERS), strict=True)
    return {name: text for name, text in names if text != name}


def _with_short_names_in_texts(plot: Plot, short: Mapping[str, str]) -> Plot:
    longest = sorted(short, key=len, reverse=True)
    name_pattern = re.compile("|".join(map(re.escape, longest)) or r"(?!)")
    shorten = partial(name_pattern.sub, lambda name: short[name[0]])
    title_models = _models_mentioned_in(_models_of_plot(plot), plot.title)
    parts = [part for part in plot.subtitle.split(" · ") if part not in title_models]
    rules = tuple(replace(rule, text=shorten(rule.text)) for rule in plot.reference_lines)
    title, subtitle = shorten(plot.title), shorten(" · ".join(parts))
    return replace(plot, title=title, subtitle=subtitle, reference_lines=rules, short_names=short)


def _models_of_plot(plot: Plot) -> list[str]:
    models = map(model_of, (*plot.rows, *plot.points))
    return [model for model in dict.fromkeys(models) if model is not None]


def _models_mentioned_in(models: Iterable[str], text: str) -> list[str]:
    return [m for m in models if re.search(rf"(?<![\w./-]){re.escape(m)}(?![\w/-])", text)]


def _split_into_panels(plot: Plot, column: str) -> Plot:
    columns = plot.columns_that_split_models
    if column not in columns:
        suggestions = nearest_names(column, columns)
        settles = [SuggestedFix({"--panel": name}) for name in suggestions or columns]
        if not suggestions:
            settles.append(SuggestedFix({"--by": (Placeholder("COLUMN"),)}, "splits by one"))
        problem = "the models are not split by this column"
        raise ParameterError(OptionWithValue("--panel", column), problem, settles=settles)
    place = columns.index(column) + 1

    def move_to_panel(row: Row) -> Row:
        panel, new_row = row.get("panel"), dict(row)
        for role in ("series", "label", "head"):
            name = row.get(role)
            if isinstance(name, SeriesName) and len(name.parts) > place:
                new_row[role] = name.without_part(place)
                part = f"{column} {name.parts[place]}"
                new_row["panel"] = f"{panel} · {part}" if panel else part
        return new_row

    def setting(row: Row) -> list[Any]:
        name = row.get("series") or row.get("label")
        return [natural_key(part) for part in getattr(name, "parts", ())[place : place + 1]]

    names = plot.printed_name_by_role
    names = names if plot.kind == "heat" else {**names, "panel": "panel"}
    rows = tuple(map(move_to_panel, sorted(plot.rows, key=setting)))
    points = tuple(map(move_to_panel, sorted(plot.points, key=setting)))
    return replace(plot, rows=rows, points=points, printed_name_by_role=names)


def _split_line_kinds_into_panels(plot: Plot) -> Plot:
    kinds = distinct_values(plot.rows, "kind")
    crowded = len(_models_of_plot(plot)) > _MAX_MODELS_WITHOUT_KIND_PANELS and len(kinds) > 1
    if plot.kind != "curves" or plot.is_scatter_plot or plot.has_roles("panel") or not crowded:
        return plot
    rows = tuple({**row, "panel": row.get("kind")} for row in plot.rows)
    points = tuple({**row, "panel": row.get("kind")} for row in plot.points)
    names = {**plot.printed_name_by_role, "panel": plot.printed_name_by_role["kind"]}
    plot = replace(plot, rows=rows, points=points, printed_name_by_role=names, y_title="")
    return _without_roles(plot, ("kind",))


def _without_roles(plot: Plot, roles: Sequence[str]) -> Plot:
    rows, points = (
        tuple({role: value for role, value in row.items() if role not in roles} for row in group)
        for group in (plot.rows, plot.points)
    )
    names = {role: name for role, name in plot.printed_name_by_role.items() if role not in roles}
    return replace(plot, rows=rows, points=points, printed_name_by_role=names)


def assign_colour_and_shape_indices(
    names: Iterable[str], fixed: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Maps the name of each model to the index of its colour and of the shape of its points.

    The index is a hash of the name, so that a model has the same colour in all commands.  If two
    names have the same hash, the second name in alphabetical order gets the next free index.
    """
    size = len(THEMES["light"].series)
    names = sorted(set(names))
    preferred = {name: zlib.crc32(name.encode(errors="replace")) % size for name in names}
    hues = dict(fixed or {})
    owner = {p: name for name, p in reversed(preferred.items()) if p not in hues.values()}
    hues |= {name: place for place, name in owner.items() if name not in hues}
    for name, place in preferred.items():
        if name not in hues:
            free = [p for p in range(size) if p not in hues.values()]
            beyond = max(size - 1, *hues.values()) + 1
            hues[name] = min(free, key=lambda p: (p - place) % size) if free else beyond
    return hues


def _grey_out_nonleading_models(plot: Plot, highlighted: Sequence[str]) -> Plot:
    """The plot, with some models in grey if models are highlighted or if there are many models.

    Grey lines are drawn first, without intervals and points.  If no models are highlighted, the
    leading models of the plot and the models in the answer are coloured.  If a plot has no leading
    models and the answer names no model, the five models with the highest values are coloured.
    """
    models = _models_of_plot(plot)
    if not models:
        return replace(plot, leading_models=())
    height = "y" if plot.kind == "curves" else "x"
    first = plot.rows[0]
    depths: dict[str | None, list[float]] = {}
    for row in plot.rows:
        same = all(row.get(role) == first.get(role) for role in ("kind", "panel"))
        if same and row.get(height) is not None:
            depths.setdefault(model_of(row), []).append(-row[height])
    best = [m for m in plot.leading_models if m in models]
    best += [m for m in sorted(models, key=lambda m: depths.get(m, [math.inf])) if m not in best]
    if not set(highlighted) & set(models) and len(models) <= MOST_MODELS:
        return _keep_bands_of_best_models(replace(plot, leading_models=()), best)
    words = " ".join(str(piece) for sentence in plot.answer for piece in sentence)
    named = _models_mentioned_in(models, words)
    leaders = highlighted or (*best[: len(plot.leading_models)], *named) or best[:_LEADING]
    plot = replace(plot, leading_models=tuple(dict.fromkeys(m for m in leaders if m in models)))
    if plot.kind != "curves":
        return plot
    behind = [row for row in plot.rows if plot.is_grey(row)]
    ahead = [row for row in plot.rows if not plot.is_grey(row)]
    panels = {row.get("panel") for row in ahead}
    if any(row.get("panel") not in panels for row in behind):
        behind = [row for row in behind if row.get("panel") in panels]
        part = f"{len(plot.leading_models)} of {len(models)} models"
        plot = replace(plot, subtitle=" · ".join(filter(None, (plot.subtitle, part))))
    behind = [{**row, **dict.fromkeys(_LIMIT_ROLES)} for row in behind if not plot.is_scatter_plot]
    points = tuple(
        {**row, **dict.fromkeys(_LIMIT_ROLES)} if plot.is_grey(row) else row
        for row in plot.points if plot.is_scatter_plot or not plot.is_grey(row)
    )  # fmt: skip
    plot = replace(plot, rows=(*behind, *ahead), points=points)
    return _keep_bands_of_best_models(plot, plot.leading_models)


def _keep_bands_of_best_models(plot: Plot, best: Sequence[str]) -> Plot:
    rows = [row for row in plot.rows if row.get("low") is not None]
    lines = {(row.get("panel"), row.get("kind"), row.get("series")) for row in rows}
    most = max(Counter(panel for panel, *_ in lines).values(), default=0)
    if plot.kind != "curves" or plot.is_scatter_plot or most <= _MOST_BANDS:
        return plot
    kinds = len({kind for _, kind, _ in lines})
    places = {model: place for place, model in enumerate(best)}
    names = {line[-1] for line in lines}
    series = sorted(names, key=lambda name: places[model_of({"series": name}) or ""])
    first = tuple(series[: max(1, min(_BANDED, _MOST_BANDS // kinds))])
    part = f"bands of {plural(len(first), 'curve' if plot.columns_that_split_models else 'model')}"
    subtitle = " · ".join(filter(None, (plot.subtitle, part)))
    return replace(plot, series_with_bands=first, subtitle=subtitle)


def _remove_unwanted_title_and_bands(plot: Plot, appearance: Appearance) -> Plot:
    if not appearance.has_title:
        plot = replace(plot, title="", subtitle="")
    if appearance.has_bands or plot.kind != "curves":
        return plot
    return _without_roles(plot, _LIMIT_ROLES)
