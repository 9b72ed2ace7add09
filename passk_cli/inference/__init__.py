"""Uncertainty: weights and laws of weighted means, combined with task values."""
