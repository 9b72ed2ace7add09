"""Attempts as arrays: Counts, Attempts, and the facts about how they were read.

This package does not read files, compute statistics or write text for people.
"""
