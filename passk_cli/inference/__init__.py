"""Statistical inference: functions that take arrays and return arrays.

This folder contains intervals, exact distributions of weighted means, weights, paired tests,
adjustments of p-values for many tests, bands, extrapolation, and designs of evaluations. Each
random stream is named by its purpose. The functions do not use names of models, options or texts of
reports, and they read no files.
"""
