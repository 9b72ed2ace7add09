"""Results as plain data at full precision: Report, Table, Column, Estimate, Plot.

What a command found, before anybody renders it.  Words that every sentence shares
are here too.  Nothing here computes a statistic, rounds, prints, or knows how it will be shown.
"""
