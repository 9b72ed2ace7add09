"""Plots → html inside a page, whose colours are the page's: one drawing for light and dark."""

from __future__ import annotations

from passk_cli.charts import svg
from passk_cli.charts.theme import THEMES, Theme
from passk_cli.report.plot import Plot

# Colours by name, as style sheets know them.
_SERIES = tuple(f"var(--series-{place})" for place in range(len(THEMES["light"].series)))
_PAGE = Theme("var(--paper)", "var(--text)", "var(--faint)", "var(--grid)", _SERIES)
# The smallest share of its size that a panel is legible at.
_SMALLEST = 0.65


def variables(theme: str) -> str:
    """The colours of a theme for a style sheet.

    >>> variables("light")[:17]
    '--paper: #ffffff;'
    """
    look = THEMES[theme]
    names = {"paper": look.paper, "text": look.text, "faint": look.faint, "grid": look.grid}
    names |= {f"series-{place}": paint for place, paint in enumerate(look.series)}
    return " ".join(f"--{name}: {paint};" for name, paint in names.items())


def drawing(plot: Plot, percent: bool = False) -> str:
    """The legend and the panels of a plot as svg elements; each mark holds its values in
    `data-say`.

    percent : shares as percentages.
    """
    legend, panels = svg.drawings(plot, _PAGE, percent)
    items = "".join(each.element() for each in legend)
    above = f'<div class="legend">{items}</div>' if items else ""
    # A small window shrinks a panel as far as it stays legible; then it scrolls.
    widths = [f' style="max-width:max(100%,{_SMALLEST * each.width:.0f}px)"' for each in panels]
    drawn = (each.element(width) for each, width in zip(panels, widths, strict=True))
    return f'{above}<div class="panels">{"".join(drawn)}</div>'
