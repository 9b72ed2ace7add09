"""One task's outcomes → a value: arrays in, arrays out, accurate in both tails.

This folder contains the estimators and their registry. It has no randomness, intervals, files or
printing: uncertainty belongs to `inference`, and models beyond the attempts made belong to
`distributions`.
"""
