"""How pass@k goes on beyond the attempts made, and over temperature: models and their fits.

Arrays in, arrays out.  No data of users' files, no intervals: which law to believe, and how far, is
`inference`'s.
"""
