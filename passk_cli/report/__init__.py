"""Results as plain data at full precision: Report, Table, Column, Estimate, Plot.

A report contains what a command found, before a renderer turns it into text.  Words that many
sentences share are here too.  Nothing here computes a statistic, rounds or prints.
"""
