"""Counts of files that stay from run to run: a folder of entries, and the statement that uses them.

What an entry is of stands in its name: the file, its size and time, the statement, the versions.
So an entry is never wrong, it is only not there.
"""
