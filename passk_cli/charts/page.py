"""Plots → one html file that needs no network: drawings inside, hover values, light and dark."""

from __future__ import annotations

import html
from importlib.resources import files

from passk_cli.charts.inline import drawing, variables
from passk_cli.charts.layout import subtitle
from passk_cli.charts.theme import FONT
from passk_cli.report.model import Report, signature_line
from passk_cli.report.plot import Plot
from passk_cli.text import printable

# The browser is told to load nothing.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
_STYLE = """
:root { color-scheme: light dark; %(light)s }
@media (prefers-color-scheme: dark) { :root { %(dark)s } }
body { margin: 0 auto; padding: 16px; max-width: 1000px; font: 13px/1.5 %(font)s;
  background: var(--paper); color: var(--text); }
figure { margin: 0 0 32px; }
figcaption { font-size: 15px; font-weight: bold; }
figcaption span { display: block; font-size: 11px; font-weight: normal; color: var(--faint); }
svg { display: block; flex: none; height: auto; }
.legend, .panels { display: flex; flex-wrap: wrap; gap: 2px 20px; margin: 8px 0 0; }
.panels { gap: 20px 28px; }
footer { color: var(--faint); overflow-wrap: anywhere; }
footer p { margin: 4px 0; }
#tip { position: fixed; padding: 4px 8px; border: 1px solid var(--grid); border-radius: 4px;
  background: var(--paper); white-space: pre; pointer-events: none; }
#tip[hidden] { display: none; }
"""


def hover() -> str:
    """The script that shows what a mark says, in the element #tip."""
    return files("passk_cli.charts").joinpath("hover.js").read_text(encoding="utf-8")


def document(report: Report, percent: bool = False) -> str:
    """A document of all plots, with the messages, in words, and the signature below."""
    title = next((plot.title for plot in report.plots if plot.title), "passk")
    figures = "\n".join(_figure(plot, percent) for plot in report.plots)
    texts = [f"{said.severity}: {printable(said.text)}" for said in report.messages]
    texts += [signature_line(report)] if report.signature else []
    below = "\n".join(f"<p>{html.escape(text)}</p>" for text in texts)
    style = _STYLE % {"font": FONT, "light": variables("light"), "dark": variables("dark")}
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{html.escape(title)}</title>
<style>{style}</style>
</head>
<body>
{figures}
<footer>
{below}
</footer>
<div id="tip" role="tooltip" hidden></div>
<script>{hover()}</script>
</body>
</html>
"""


def _figure(plot: Plot, percent: bool) -> str:
    """A plot under its title; a reader who cannot see it is told what it is."""
    lines = "".join(f"<span>{html.escape(line)}</span>" for line in subtitle(plot))
    caption = f"<figcaption>{html.escape(plot.title)}{lines}</figcaption>"
    name = html.escape(", ".join(filter(None, [plot.title, *subtitle(plot)])))
    drawn = drawing(plot, percent)
    return f'<figure>{caption}<div role="img" aria-label="{name}">{drawn}</div></figure>'
