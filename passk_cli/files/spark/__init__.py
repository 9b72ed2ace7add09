"""Counting on a Spark cluster, for `passk convert --counts`: only groups of equal rows are
returned.

session : the Spark session, and its errors.  rows : the rows of files as columns of text.
counting : a map and one aggregation → Counts.
"""
