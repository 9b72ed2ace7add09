"""Files and tables in, Counts out: the only folder that knows files, and where DuckDB lives.

`load` is the way of a row.  sources : arguments, addresses, archives, frames → Sources.
reading : Sources → how their rows are laid out and what their columns mean.  checks : what
contradicts that.  counting : one statement → Counts.  attempts : what else is to be known of
attempts, as what they took.  formats : a file per harness.  spark : counting on a cluster.
"""
