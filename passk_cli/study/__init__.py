"""The analysis that all commands share: it turns counts and options into results and reports.

The folder contains `Analysis`, the metric of each task (`TaskValues`), computed numbers (`Result`),
comparisons of two models, sentences that several commands print, and the signature of a report.
"""
