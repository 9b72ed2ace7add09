"""Models of how pass@k depends on the temperature, and fits of these models to arrays."""
