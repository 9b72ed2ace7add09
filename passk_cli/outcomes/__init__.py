"""What attempts are, as arrays: Counts, Attempts, and what reading found out (provenance).

No files, no statistics, no words for people.
"""
