"""Plots → svg inside a page, whose colours are the page's: one drawing for light and dark."""

from __future__ import annotations

import re

from passk_cli.charts import vega
from passk_cli.charts.theme import FONT, THEMES, Theme
from passk_cli.report.plot import Plot

# Colours by name, as style sheets know them.
_SERIES = tuple(f"var(--series-{place})" for place in range(len(THEMES["light"].series)))
_PAGE = Theme("var(--paper)", "var(--text)", "var(--faint)", "var(--grid)", _SERIES)
# Names are cut to so many pixels; tables have them whole.
_LONGEST = 260
# What every mark repeats, and a page says once or has no use for.
_REPEATED = re.compile(
    rf' font-family="{re.escape(FONT)}"| aria-roledescription="[^"]*"| role="graphics-[^"]*"'
    r'| aria-label="[^"]*(?:-axis|legend) [^"]*"| aria-hidden="true"| pointer-events="none"'
    r'| opacity="1"'
)


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
    """The plot as an svg element; each mark holds its values in `data-say`.

    percent : shares as percentages.
    """
    import vl_convert

    spec = vega.spec(plot, percent, described=True)
    look = vega.configured(_PAGE)
    # Else legends are as faint as the bands.
    look["legend"] |= {"symbolOpacity": 1, "symbolBaseStrokeColor": _PAGE.faint}
    look["legend"]["labelLimit"] = look["axis"]["labelLimit"] = _LONGEST
    body = {"$schema": vega.SCHEMA, **spec, "config": look}
    svg: str = vl_convert.vegalite_to_svg(body, allowed_base_urls=[])
    return _REPEATED.sub("", svg).replace(' aria-label="', ' data-say="')
