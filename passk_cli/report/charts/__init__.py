"""Charts as Vega-Lite specifications: `curves`, `forest`, `densities`."""

from passk_cli.report.charts.curves import curves
from passk_cli.report.charts.parts import Rule
from passk_cli.report.charts.rows import densities, forest

__all__ = ["Rule", "curves", "densities", "forest"]
