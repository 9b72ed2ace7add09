"""Code that only the Python API needs: results as DataFrames and charts, and options as
keywords."""
