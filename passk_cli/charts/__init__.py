"""Plots → pictures and pages.

`layout` decides the places of all parts of a `Plot`, `svg` draws them, and `theme` contains the
colours.  Nothing here reads a data file, computes a result, or parses the output of `svg`.
"""

# The suffixes of pictures.
PICTURES = (".png", ".svg", ".pdf", ".html")
