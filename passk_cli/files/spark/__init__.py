"""Counting on a Spark cluster, for `passk convert --counts`: groups of equal rows return.

session : which session, and its errors.  rows : the rows of files as columns of text.
counting : a map and one aggregation → Counts.
"""
