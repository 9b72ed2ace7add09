"""Draws plots as pictures and as parts of html pages.

`layout` computes the positions of all parts of a `Plot`, `svg` draws them, and `theme` contains the
colours.  No module here reads a data file or computes a result.
"""

# File suffixes of pictures.
PICTURES = (".png", ".svg", ".pdf", ".html")
