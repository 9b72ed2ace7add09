"""The only place that knows files: paths, frames and arguments in, Counts out.

From the ground up, nothing imports what stands after it: `sql`, `connection`; where bytes come from
(`source`, and `arguments`, which finds the files); `records`, `formats/` (one file per harness);
`roles`, `layout`, `columns` and the one SQL `statement`; `explain`, only on failure; `look`, which
says how a file is read; `checks` after it, `policies` for what is missing or repeated; `reading`.
The `request` says what is asked of them.  DuckDB lives here and nowhere else.  No statistics.
"""
