"""Reading on a Spark cluster: rows are grouped there, and the groups come home.

What a cluster does is small: it takes the columns that play a role out of each row, groups equal
rows and counts them.  What the values mean is decided here, by the statement that reads files on
one machine, so that both engines give the same numbers.
"""
