"""Code only for the Python API: results as DataFrames and charts, and options as keywords."""
