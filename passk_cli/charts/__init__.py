"""Draws plots as pictures and as parts of html pages.

`layout` computes the positions of the parts of a `Plot`, `svg` draws these parts, and `theme`
contains the colours.  No module of this package reads a data file or computes a result.
"""

PICTURE_SUFFIXES = (".png", ".svg", ".pdf", ".html")
