"""The data that all commands analyse: counts, attempts, and facts about how files were read.

This package does not read files, compute statistics or write text for people.
"""
