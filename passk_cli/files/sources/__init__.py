"""Sources: files that arguments, folders, archives and addresses mean, and rows in memory."""
