"""Read files and tables into Counts. Only this folder reads files and uses DuckDB.

`load` connects the steps. sources turns arguments, addresses, archives and frames into Sources.
reading finds the layout of their rows and the meaning of their columns, and checks looks for
contradictions. counting runs one statement and makes Counts. attempts adds facts of attempts, for
example their costs. formats has one file per harness, and spark counts on a cluster.
"""
