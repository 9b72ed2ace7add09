"""Uncertainty: arrays in, arrays out.

Here live intervals, exact distributions of weighted means, weights, paired tests, adjustment for
many tests, bands, extrapolation and designs.  Randomness comes from streams named by their purpose.
 It knows no model's name, no option, no word for people, and reads no file.
"""
