"""Statistical inference: functions that take arrays and return arrays.

The modules compute intervals, exact distributions of weighted means, bootstrap weights, paired
tests, adjusted p-values, bands, extrapolations, and designs of evaluations. The name of each random
stream is the purpose of the stream. The functions do not use model names, options or report texts,
and they do not read files.
"""
