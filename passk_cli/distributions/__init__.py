"""The models of pass@k over temperature, and their fits.

Arrays in, arrays out.  No data of users' files, no intervals.
"""
