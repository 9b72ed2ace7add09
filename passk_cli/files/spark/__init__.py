"""Count attempts and passes on a Spark cluster, for `passk convert --counts`.

The cluster groups equal rows, and returns only the groups. The module `session` opens the Spark
session and converts Spark errors. The module `rows` reads files as columns of strings. The module
`counting` builds `Counts` from a map and one aggregation.
"""
