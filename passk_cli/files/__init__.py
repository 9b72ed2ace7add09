"""The only place that knows files: paths in, counts out."""
