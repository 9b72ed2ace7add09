"""Counting on a Spark cluster, for `passk convert --counts`.

The cluster returns only groups of equal rows.
session : the Spark session, and errors of Spark.  rows : the rows of files as columns of text.
counting : `Counts` from a map and one aggregation.
"""
