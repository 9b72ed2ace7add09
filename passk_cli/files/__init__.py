"""The only place that knows files: paths, frames and arguments in, Counts out.

Here live the request, finding files, recognising their layout, the one SQL statement, the policies
for what is missing or repeated, and the words for what is wrong; `formats/` holds one file per
harness.  DuckDB lives here and nowhere else.  No statistics.
"""
