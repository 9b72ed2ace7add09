"""Plots as pictures and pages.

`layout` decides what is placed where in a `Plot`, and `svg` draws it.  Colours are in `theme`.
Nothing here reads a data file, computes a result, or takes apart what `svg` drew.
"""

# Suffixes of pictures.
PICTURES = (".png", ".svg", ".pdf", ".html")
