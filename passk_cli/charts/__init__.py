"""Plots as pictures, pages and characters on a terminal.

`layout` decides what stands where in a `Plot`; two drawers follow it, `vega` for files and
`terminal`.  Colours are in `theme`.  Nothing here reads a data file, computes a result, or takes
apart what a drawer made.
"""

# Suffix of a picture → the module that draws it, None when none is needed.
PICTURES: dict[str, str | None] = {
    ".png": "vl_convert",
    ".svg": "vl_convert",
    ".pdf": "vl_convert",
    ".html": "vl_convert",
    ".json": None,
}
