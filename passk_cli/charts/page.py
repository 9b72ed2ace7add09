"""Plots → one html file that needs no network: scripts inside, hover values, light and dark."""

from __future__ import annotations

import html
import json
from functools import cache
from typing import Any

from passk_cli.charts.layout import subtitle
from passk_cli.charts.theme import FONT, THEMES
from passk_cli.charts.vega import config, spec
from passk_cli.report.model import Report, signature_line
from passk_cli.report.plot import Plot
from passk_cli.text import printable

# The browser is told to load nothing; vega compiles its expressions, hence 'unsafe-eval'.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline';"
    " img-src data: blob:"
)
_STYLE = """
:root { color-scheme: light dark; }
body { margin: 0 auto; padding: 16px; max-width: 1000px; font: 13px/1.5 %(font)s;
  background: %(light_paper)s; color: %(light_text)s; }
figure { margin: 0 0 24px; overflow: visible; }
figure svg { display: block; max-width: 100%%; height: auto; }
footer { opacity: 0.75; overflow-wrap: anywhere; }
footer p { margin: 4px 0; }
@media (prefers-color-scheme: dark) {
  body { background: %(dark_paper)s; color: %(dark_text)s; }
}
"""
# Each chart is drawn as wide as the page allows, again when the page or the reader's theme changes.
_SCRIPT = """
const read = (id) => JSON.parse(document.getElementById(id).textContent);
const charts = read("charts"), themes = read("themes");
const dark = matchMedia("(prefers-color-scheme: dark)");
const widest = 640;
let drawing = Promise.resolve(), views = [];

async function draw() {
  views.forEach((view) => view.finalize());
  views = [];
  const theme = dark.matches ? "dark" : "light", config = themes[theme];
  for (const [place, spec] of charts.entries()) {
    const figure = document.getElementById("chart-" + place);
    const room = figure.clientWidth;
    const columns = Math.max(1, Math.min(spec.columns || 1, Math.floor(room / 300)));
    const fits = spec.columns ? { columns } : {};
    const looks = { config, tooltip: { theme } };
    const options = { mode: "vega-lite", renderer: "svg", actions: false, ...looks };
    const { view } = await vegaEmbed(figure, { ...spec, ...fits }, options);
    const signal = spec.spec ? "child_width" : "width";
    const spare = room - figure.querySelector("svg").width.baseVal.value;
    const width = Math.floor(view.signal(signal) + spare / columns);
    await view.signal(signal, Math.max(140, Math.min(width, widest))).resize().runAsync();
    views.push(view);
  }
}

const again = () => { drawing = drawing.then(draw); };
let waiting, seen = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === seen) return;
  seen = innerWidth;
  clearTimeout(waiting);
  waiting = setTimeout(again, 150);
});
dark.addEventListener("change", again);
again();
"""


def document(report: Report, percent: bool = False) -> str:
    """A document of all plots, with the messages, in words, and the signature below."""
    specs = [spec(plot, percent) | {"description": _name(plot)} for plot in report.plots]
    colours = {
        f"{name}_{part}": getattr(theme, part)
        for name, theme in THEMES.items()
        for part in ("paper", "text")
    }
    title = next((plot.title for plot in report.plots if plot.title), "passk")
    figures = "\n".join(f'<figure id="chart-{place}"></figure>' for place in range(len(specs)))
    texts = [f"{said.severity}: {printable(said.text)}" for said in report.messages]
    texts += [signature_line(report)] if report.signature else []
    below = "\n".join(f"<p>{html.escape(text)}</p>" for text in texts)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{html.escape(title)}</title>
<style>{_STYLE % {"font": FONT, **colours}}</style>
</head>
<body>
{figures}
<footer>
{below}
</footer>
{_data("charts", specs)}
{_data("themes", {name: config(name) for name in THEMES})}
<script>{_library()}</script>
</body>
</html>
"""


@cache
def _library() -> str:
    """The script with the libraries that it uses."""
    import vl_convert

    return vl_convert.javascript_bundle(_SCRIPT).replace("</script", "<\\/script")


def _data(name: str, value: Any) -> str:
    """A value for the script to read; `<` escaped so that no name can end the element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'


def _name(plot: Plot) -> str:
    """What a reader who cannot see the chart is told it is."""
    return ", ".join(filter(None, [plot.title, *subtitle(plot)]))
