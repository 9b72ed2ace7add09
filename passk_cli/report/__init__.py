"""Results as plain data at full precision; nothing here rounds or prints."""
