"""Plots → the contents of a file: svg and what is made from it (png, pdf), or a page (html)."""

from __future__ import annotations

from passk_cli.charts import page, svg
from passk_cli.charts.theme import THEMES
from passk_cli.report.model import Report


def picture(report: Report, suffix: str, theme: str = "light", percent: bool = False) -> bytes:
    """The plots of a report, one under the other, as the contents of a file.

    suffix : one of `passk_cli.charts.PICTURES`.  theme : "light" or "dark"; html follows its
        reader instead.  percent : shares as percentages.
    """
    if suffix == ".html":
        return page.document(report, percent).encode()
    drawing = svg.picture(report.plots, THEMES[theme], percent)
    if suffix == ".svg":
        return drawing.encode()
    import vl_convert

    if suffix == ".png":
        return bytes(vl_convert.svg_to_png(drawing, scale=2))
    return bytes(vl_convert.svg_to_pdf(drawing))
