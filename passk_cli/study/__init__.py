"""The analysis that all commands share.  The analysis computes results from counts and options, and
makes reports from the results.

This folder contains `Analysis`, the values of a metric at each task (`TaskValues`), computed
numbers (`Result`), comparisons of two models, and shared sentences of reports.
"""
