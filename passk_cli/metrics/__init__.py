"""Metrics of one task: from counts or attempts to a value, accurate for tiny probabilities.

This folder contains the estimators of metrics and a registry of their names. The functions take and
return arrays. Intervals and random numbers are in `inference`.
"""
