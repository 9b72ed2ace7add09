"""Plots → pictures: Vega-Lite and what is made of it, and characters in a terminal."""
