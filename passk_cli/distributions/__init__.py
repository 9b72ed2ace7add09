"""Models of pass@k over temperature, and their fits. The functions take and return arrays."""
