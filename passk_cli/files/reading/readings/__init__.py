"""What records may mean where nothing says it: on failure alone."""
