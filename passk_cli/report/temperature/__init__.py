"""Temperature: which is best for which k, from data and in the toy model."""
