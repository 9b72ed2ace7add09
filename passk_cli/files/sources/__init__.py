"""Sources of data: files from arguments, folders, archives and addresses, and rows in memory."""
