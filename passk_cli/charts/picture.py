"""Writes plots as svg, png or pdf, or as an html page that needs no network.

On an html page, CSS variables set the colours, so that the same drawing works in light and dark
mode.
"""

from __future__ import annotations

import html
import re
from base64 import b64encode
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from importlib.resources import as_file, files

from passk_cli.charts import layout, svg
from passk_cli.charts.chart_options import PictureSize
from passk_cli.charts.theme import FONT, THEMES, Theme
from passk_cli.errors import ParameterError
from passk_cli.report.data_types import Report, options_signature_line
from passk_cli.report.plot import Plot, model_of
from passk_cli.suggested_fix import OptionWithValue
from passk_cli.text import printable

_SERIES_COLOUR_VARIABLES = [f"var(--series-{at})" for at in range(len(THEMES["light"].series))]
_PAGE_THEME = Theme(
    "var(--paper)", "var(--text)", "var(--faint)", "var(--grid)", tuple(_SERIES_COLOUR_VARIABLES)
)
_SCALE, _WIDTHS, _WIDE = 1.25, (300, 300, 210), 560
# If no size is set, a png image is _SHARP times as large as the picture, so that it is sharp on
# screens. A png image for paper has 300 pixels per inch.
_SHARP, _PRINTED = 2.0, 300 / 96
# An inch has _INCH pixels, and a pixel is _POINT points wide.
_INCH, _POINT = 96, 0.75
# In a page, passk replaces POLICY_PLACEHOLDER by the content security policy of the page.
POLICY_PLACEHOLDER = "passk-policy"
_STYLE_ELEMENT_PATTERN = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_PANEL_WIDTH_STYLE_PATTERN = re.compile(r'style="(--panel:[0-9]+px)"')
_PAGE_CSS = """
:root { color-scheme: light dark; %(light)s }
@media (prefers-color-scheme: dark) { :root { %(dark)s } }
body { margin: 0 auto; padding: 16px; max-width: 1000px; font: 13px/1.5 %(font)s;
  background: var(--paper); color: var(--text); }
figure { margin: 0 0 32px; }
h1, h2 { margin: 0; font-size: 20px; line-height: 1.3; }
figcaption p { margin: 4px 0 0; font-size: 13px; color: var(--faint); }
svg { display: block; flex: none; height: auto; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 20px; margin: 8px 0 0; }
.panels { display: grid; gap: 20px 28px; margin: 8px 0 0;
  grid-template-columns: repeat(auto-fit, minmax(min(100%%, var(--panel)), 1fr)); }
.panels { overflow-x: auto; }
.panels svg { width: clamp(0.92 * var(--panel), 100%%, 1.3 * var(--panel)); }
footer { color: var(--faint); overflow-wrap: anywhere; }
footer p { margin: 4px 0; }
#tip { position: fixed; padding: 4px 8px; border: 1px solid var(--grid); border-radius: 4px;
  background: var(--paper); white-space: pre; pointer-events: none; }
#tip[hidden] { display: none; }
"""


def picture_bytes(
    report: Report, suffix: str, theme: str = "light", percent: bool = False,
    size: PictureSize | None = None,
) -> bytes:  # fmt: skip
    """The bytes of a picture file with all plots of a report, one below the other.

    Errors: ParameterError if the size is too small for a plot.
    """
    if suffix == ".html":
        return report_as_html_page(report, percent).encode()
    draw = partial(svg.svg_document, report.plots, THEMES[theme], percent, size)
    if suffix == ".svg":
        return draw().encode()
    _require_fonts(report.plots)
    if suffix == ".pdf":
        return _pdf(draw(_POINT))
    return _png(draw(), _SHARP if size is None else _PRINTED if size.is_for_paper else 1.0)


def _require_fonts(plots: Sequence[Plot]) -> None:
    """Raise an error if a model's name contains a letter that is missing in all fonts.

    The library resvg, which draws png files, shows a box for each letter that is missing in all
    fonts of this machine.  To find such letters, passk compares the picture of each letter with the
    picture of a private-use character, which no font contains.  If both pictures are equal, the
    letter is missing.
    Errors: ParameterError if letters are missing.
    """
    rows = (row for plot in plots for row in (*plot.rows, *plot.points))
    names = {str(model) for model in map(model_of, rows) if model}
    letters = [*dict.fromkeys(letter for letter in "".join(sorted(names)) if letter > "\u2e7f")]
    missing = [letter for letter in letters[:3] if _letter_png(letter) == _letter_png("\U0010fffd")]
    if missing:
        missing_text = " ".join(missing)
        raise ParameterError(
            OptionWithValue("--chart", "FILE"),
            f"no font on this machine contains {missing_text}, so the picture would show boxes",
            "install a font, for example the package fonts-noto-cjk, or write an .html file",
            name="missing-package",
        )


def _letter_png(letter: str) -> bytes:
    text = f'<text x="2" y="18" font-size="16" font-family="{FONT}">{letter}</text>'
    return _png(f'<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24">{text}</svg>', 1.0)


def _png(text: str, zoom: float) -> bytes:
    """A picture as PNG.

    passk contains its own font, so that letters have the same widths on all machines.  The fonts of
    the machine provide only characters that this font lacks, for example Chinese characters.
    """
    from resvg_py import svg_to_bytes

    with as_file(files("passk_cli.charts") / "fonts") as fonts:
        return bytes(svg_to_bytes(svg_string=text, zoom=zoom, dpi=_INCH, font_dirs=[str(fonts)]))


def _pdf(svg_text: str) -> bytes:
    """A picture as PDF, with lengths in points.

    Errors: ParameterError if the package that writes PDF is not installed.
    """
    try:
        import vl_convert
    except ImportError:
        raise ParameterError(
            OptionWithValue("--chart", "FILE.pdf"),
            "drawing a PDF needs a package that is not installed",
            "pip install 'passk-cli[pdf]'", name="missing-package",
        ) from None  # fmt: skip
    return bytes(vl_convert.svg_to_pdf(svg_text))


def colour_variables(theme: str) -> str:
    """The colours of a theme as CSS variables."""
    colours = THEMES[theme]
    names = {name: getattr(colours, name) for name in ("paper", "text", "faint", "grid")}
    names |= {f"series-{place}": colour for place, colour in enumerate(colours.series)}
    return " ".join(f"--{name}: {paint};" for name, paint in names.items())


def inline_chart(plot: Plot, percent: bool = False) -> str:
    """The legend and the panels of a plot as html with svg elements.

    The attribute `data-say` of a mark contains the text of the mark's tooltip.
    """
    count = len(layout.panel_names(plot))
    width = _WIDE if plot.kind == "heat" else _WIDTHS[min(count, len(_WIDTHS)) - 1]
    legend, panels = svg.draw_legend_and_panels(plot, _PAGE_THEME, percent, width)
    items = "".join(item.element(_SCALE) for item in legend)
    above = f'<div class="legend">{items}</div>' if items else ""
    elements = "".join(panel.element(_SCALE) for panel in panels)
    widest = _SCALE * max(panel.width for panel in panels)
    return f'{above}<div class="panels" style="--panel:{widest:.0f}px">{elements}</div>'


def hover_script() -> str:
    """The JavaScript that shows the tooltips of a page."""
    return files("passk_cli.charts").joinpath("hover.js").read_text(encoding="utf-8")


def add_security_policy(page: str, script: str) -> str:
    """The page with a content security policy.

    With this policy, a browser runs only the script of the page and loads no other files.  The
    policy contains the SHA-256 of the script and of the styles, so that a script inside the data
    does not run.

    >>> page = f'<meta content="{POLICY_PLACEHOLDER}"><script>f()</script><script>bad()</script>'
    >>> add_security_policy(page, "f()").split("script-src ")[1].split(";")[0]
    "'sha256-GcEEE0IkDzIP5EQ6DXZaDPORqT5RTBELX8Fyzyg9yvo='"
    """
    styles = _STYLE_ELEMENT_PATTERN.findall(page.partition("</head>")[0])
    panels = dict.fromkeys(_PANEL_WIDTH_STYLE_PATTERN.findall(page))
    hashed = [_policy_hash(style) for style in styles]
    hashed += ["'unsafe-hashes'", *map(_policy_hash, panels)] if panels else []
    policy = f"default-src 'none'; script-src {_policy_hash(script)}; img-src data:"
    return page.replace(POLICY_PLACEHOLDER, f"{policy}; style-src {' '.join(hashed)}", 1)


def _policy_hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def report_as_html_page(report: Report, percent: bool = False) -> str:
    """An html page with all plots of a report, followed by its messages and signature."""
    title = next((plot.title for plot in report.plots if plot.title), "passk")
    plots = enumerate(report.plots)
    figures = "\n".join(_html_figure(plot, percent, "h2" if at else "h1") for at, plot in plots)
    texts = [f"{message.severity}: {printable(message.text)}" for message in report.messages]
    texts += [options_signature_line(report)] if report.signature else []
    below = "\n".join(f"<p>{html.escape(text)}</p>" for text in texts)
    style = _PAGE_CSS % {"font": FONT, **{name: colour_variables(name) for name in THEMES}}
    page = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY_PLACEHOLDER}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{html.escape(title)}</title>
<style>{style}</style>
</head>
<body>
<main>
{figures}
</main>
<footer>
{below}
</footer>
<div id="tip" role="tooltip" hidden></div>
<script>{hover_script()}</script>
</body>
</html>
"""
    return add_security_policy(page, hover_script())


def _html_figure(plot: Plot, percent: bool, heading: str) -> str:
    below = f"<p>{html.escape(plot.subtitle)}</p>" if plot.subtitle else ""
    title = html.escape(plot.title or plot.kind)
    caption = f"<figcaption><{heading}>{title}</{heading}>{below}</figcaption>"
    elements = inline_chart(plot, percent)
    return f'<figure>{caption}<div role="group" aria-label="{title}">{elements}</div></figure>'
