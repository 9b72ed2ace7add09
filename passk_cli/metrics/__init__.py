"""One task's outcomes → a value: arrays in, arrays out, exact in both tails.

Here live the estimators and their registry.  No randomness, no intervals, no files, no printing:
uncertainty is `inference`'s, what holds beyond the attempts made is `distributions`'.
"""
