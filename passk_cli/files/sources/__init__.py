"""Find the data to read: files, folders, archives, web addresses, and rows in memory."""
