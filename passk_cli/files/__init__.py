"""The only place that knows files: paths, frames and arguments in, Counts out.

`reading` is the way of a row.  `arguments` finds files, `source` has the bytes and records of one,
`formats/` recognise those of harnesses, `look` says how a table is laid out (`layout`) and what its
columns mean (`roles`), `statement` is the one SQL statement that counts, `policies` decide what is
missing or repeated, `checks` see what no statement does, and `explain` replays a file on failure.
The `request` says what is asked.  DuckDB lives here (`database`) and nowhere else.  No statistics.
"""
