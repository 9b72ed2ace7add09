"""Attempts as arrays: Counts, Attempts, and the account of reading (provenance).

No files, no statistics, no words for people.
"""
