"""Models of pass@k over temperature, and their fits. They take and return arrays."""
