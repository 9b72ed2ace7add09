"""The analysis that all commands share: from counts and options to results and reports.

It contains `Analysis`, the values per task behind every number (`TaskValues`), the numbers
(`Result`), pairs of models, the words that commands share, and the signature.  It contains nothing
about a single command, no reading of files and no rendering.
"""
