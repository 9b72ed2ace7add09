"""Read files and tables into Counts. DuckDB is used only in this folder.

`load` runs all steps. `sources` turns arguments, web addresses, archives and data frames into
sources. `reading` finds the layout of files and the roles of columns. `checks` looks for
contradictions in the data. `counting` counts passes with one SQL statement. `attempts` adds further
facts about attempts, for example costs. `formats` contains one module per harness, and `spark`
counts on a Spark cluster.
"""
