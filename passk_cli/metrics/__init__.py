"""The estimators: arrays in, arrays out; no files, no printing, no randomness of their own."""
