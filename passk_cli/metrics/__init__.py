"""Metrics of one task, computed from counts or attempts, and accurate for tiny probabilities.

This folder contains the estimators of metrics and a registry of their names. The functions take and
return arrays. The code for intervals and random numbers is in `inference`.
"""
