"""Readings of records whose meaning nothing states; made on failure alone."""
