"""Plots → the contents of a file: png, svg, pdf, html, or the Vega-Lite specification as json."""

from __future__ import annotations

from passk_cli.charts import page, vega
from passk_cli.report.model import Report
from passk_cli.text import strict_json


def picture(report: Report, suffix: str, theme: str = "light", percent: bool = False) -> bytes:
    """The plots of a report, one under the other, as the contents of a file.

    suffix : one of `passk_cli.charts.PICTURES`.  theme : "light" or "dark"; html follows its
        reader instead.  percent : shares as percentages.
    """
    if suffix == ".html":
        return page.document(report, percent).encode()
    spec = vega.stack(report.plots, theme, percent, hover=suffix == ".json")
    if suffix == ".json":
        return (strict_json(spec, indent=2) + "\n").encode()
    import vl_convert

    if suffix == ".png":
        return bytes(vl_convert.vegalite_to_png(spec, scale=2, allowed_base_urls=[]))
    if suffix == ".pdf":
        return bytes(vl_convert.vegalite_to_pdf(spec, allowed_base_urls=[]))
    return vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]).encode()
