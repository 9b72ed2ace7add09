"""Read files and tables into Counts. Only this folder uses DuckDB.

`load` connects the steps. `sources` turns arguments, addresses, archives and data frames into
sources. `reading` finds the layout of files and the roles of columns. `checks` looks for
contradictions in the data. `counting` runs one SQL statement. `attempts` adds further facts, for
example costs. `formats` contains one file per harness, and `spark` counts on a cluster.
"""
