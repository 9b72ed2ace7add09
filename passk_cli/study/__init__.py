"""The analysis that all commands share: it turns counts and options into results and reports.

The folder contains `Analysis`, the values of a metric at each task (`TaskValues`), computed numbers
(`Result`), comparisons of two models, and shared sentences of reports.
"""
