"""Results as plain data at full precision: reports, tables, estimates and charts.

A report contains the results of a command before a renderer rounds the numbers and writes text.
"""
