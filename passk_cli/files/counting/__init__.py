"""Rows → Counts: one SQL statement, what is wrong with rows, and the policies."""
