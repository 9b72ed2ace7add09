"""The only place that knows files: paths, frames and arguments in, Counts out.

From the ground up, nothing imports what stands after it: `sql`, `connection`; where bytes come from
(`source`, and `arguments`, which finds the files); `records`, `formats/` (one file per harness) and
`layout`, which say how a file is read; `faults` and `head`, which look at one file; `roles`,
`columns` and the one SQL `statement`; `explain`, only on failure; `policies` for what is missing
or repeated; `reading`.  The `request` says what is asked of them.  DuckDB lives here and nowhere
else.  No statistics.
"""
