"""Metrics of one task: from counts or attempts to a value, accurate for tiny probabilities.

This folder contains the estimators and their registry. They take and return arrays. Intervals and
randomness are in `inference`, and models beyond the attempts made are in `distributions`.
"""
