"""Uncertainty: arrays in, arrays out.

This folder contains intervals, exact distributions of weighted means, weights, paired tests,
adjustment for many tests, bands, extrapolation and designs. Randomness comes from streams that are
named by their purpose. The folder does not know names of models, options or words of reports, and
it reads no files.
"""
