"""Results as plain data at full precision: Report, Table, Column, Estimate, Note, Plot.

What a command found, before anybody renders it.  Nothing here computes, rounds or prints.
"""
