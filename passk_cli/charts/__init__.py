"""Plots as pictures, pages and characters on a terminal.

`layout` decides what stands where in a `Plot`; two drawers follow it: `svg` for files and pages,
and `terminal`.  Colours are in `theme`.  Nothing here reads a data file, computes a result, or
takes apart what a drawer made.
"""

# Suffixes of pictures.
PICTURES = (".png", ".svg", ".pdf", ".html")
