"""Read files and tables, and count the attempts and passes per model and task. DuckDB is used only
in this folder.

The module `load` runs all steps of reading. The folder `sources` finds the data in files, archives,
web addresses and data frames. The folder `reading` finds the layout of files and the roles of
columns. The folder `checks` looks for contradictions in the data. The folder `counting` counts
passes with one SQL statement. The folder `attempts` adds further facts about attempts, for example
costs. The folder `formats` contains one module per harness, and the folder `spark` counts attempts
on a Spark cluster.
"""
