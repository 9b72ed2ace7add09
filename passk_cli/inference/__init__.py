"""Statistical inference: functions that take arrays and return arrays.

This folder contains intervals, exact distributions of weighted means, weights, paired tests,
adjustment for many tests, bands, extrapolation and designs. Each random stream is named by its
purpose. The folder contains no names of models, options or words of reports, and it reads no files.
"""
